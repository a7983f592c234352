//! Manifests in the folder of a cluster: `manifests/<deployment>/<file>`, for a program that applies them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use kindsight_model::DeploymentId;

use super::FolderCluster;

/// Name of the folder of manifests in the folder of the cluster.
const MANIFESTS: &str = "manifests";
/// Maximum length of the name of a resource in the name of its file, in bytes. The position makes the file name unique.
const FILE_NAME_PART_MAX: usize = 100;

impl FolderCluster {
    /// Writes the manifest of a resource, as JSON. A reader sees the complete previous file or the complete new file.
    /// Only the owner of the process can read the file, because a manifest can be a Secret. An equal file is not
    /// written again.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the folder of the cluster does not exist, and other errors of the file system.
    pub fn write_manifest(
        &self,
        deployment: &DeploymentId,
        file: &ManifestFile,
        json: &str,
    ) -> io::Result<()> {
        let folder = self.manifests_of(deployment)?;
        for made in [&self.path.join(MANIFESTS), &folder] {
            match DirBuilder::new().mode(0o700).create(made) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                done => done?,
            }
        }
        let path = folder.join(&file.0);
        if fs::read(&path).is_ok_and(|present| present == json.as_bytes()) {
            return Ok(());
        }
        let unfinished = folder.join(file.unfinished());
        write_durably(&unfinished, json)?;
        fs::rename(&unfinished, &path)?;
        File::open(&folder)?.sync_all()
    }

    /// Reads the manifest of a resource; `None` if it was not written.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the folder of the cluster does not exist, and other errors of the file system.
    pub fn read_manifest(
        &self,
        deployment: &DeploymentId,
        file: &ManifestFile,
    ) -> io::Result<Option<String>> {
        match fs::read_to_string(self.manifests_of(deployment)?.join(&file.0)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Removes the manifest of a resource. An absent file is no error.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the folder of the cluster does not exist, and other errors of the file system.
    pub fn remove_manifest(
        &self,
        deployment: &DeploymentId,
        file: &ManifestFile,
    ) -> io::Result<()> {
        let folder = self.manifests_of(deployment)?;
        if_present(fs::remove_file(folder.join(&file.0)))?;
        if_present(File::open(&folder).and_then(|folder| folder.sync_all()))
    }

    /// Removes the folder of the manifests of a deployment, with all its files.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the folder of the cluster does not exist, and other errors of the file system.
    pub fn remove_manifests(&self, deployment: &DeploymentId) -> io::Result<()> {
        if_present(fs::remove_dir_all(self.manifests_of(deployment)?))
    }

    /// The folder of the manifests of a deployment. The folder of the cluster must exist, and no link may lead out of it.
    fn manifests_of(&self, deployment: &DeploymentId) -> io::Result<PathBuf> {
        fs::metadata(&self.path)?;
        let manifests = self.path.join(MANIFESTS);
        let folder = manifests.join(deployment.to_string());
        for path in [&manifests, &folder] {
            let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
            if is_link {
                let text = format!("{} is a link", path.display());
                return Err(io::Error::new(ErrorKind::NotADirectory, text));
            }
        }
        Ok(folder)
    }
}

/// Name of the file of a manifest: position, Kind and name of the resource. `kubectl apply -f` reads files in the order
/// of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile(String);

impl ManifestFile {
    /// The name of the file of the resource at a position.
    pub fn new(position: usize, kind: &str, name: &str) -> Self {
        let plain = |char: char| {
            if char.is_ascii_alphanumeric() || matches!(char, '-' | '.') {
                char
            } else {
                '_'
            }
        };
        let name: String = name.chars().take(FILE_NAME_PART_MAX).map(plain).collect();
        Self(format!("{position:05}-{kind}-{name}.json"))
    }

    /// The name while the file is written. `kubectl apply -f` reads files of a folder only if their names end with
    /// `.json`, `.yaml` or `.yml`, so it does not read an incomplete file.
    fn unfinished(&self) -> String {
        format!(".{}.tmp", self.0)
    }
}

fn write_durably(path: &Path, json: &str) -> io::Result<()> {
    // A file of an earlier attempt may have other permissions.
    if_present(fs::remove_file(path))?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(json.as_bytes())?;
    file.sync_all()
}

fn if_present(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn deployment() -> DeploymentId {
        "7-front".parse().unwrap()
    }

    fn cluster(path: &Path) -> FolderCluster {
        FolderCluster::new("lab+a".parse().unwrap(), path)
    }

    #[test]
    fn manifests_are_written_and_removed_with_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let cluster = cluster(folder.path());
        let file = ManifestFile::new(3, "Role", "system:a/b");
        let read = || cluster.read_manifest(&deployment(), &file).unwrap();
        assert_eq!(read(), None);
        for json in ["{}", "{\"a\":1}", "{\"a\":1}"] {
            cluster.write_manifest(&deployment(), &file, json).unwrap();
            assert_eq!(read().as_deref(), Some(json));
            let path = folder.path().join("manifests/7-front");
            let names: Vec<_> = fs::read_dir(&path).unwrap().map(Result::unwrap).collect();
            assert_eq!(names.len(), 1);
            assert_eq!(names[0].file_name(), "00003-Role-system_a_b.json");
            assert_eq!(fs::read_to_string(names[0].path()).unwrap(), json);
            assert_eq!(
                names[0].metadata().unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
        for _ in 0..2 {
            cluster.remove_manifest(&deployment(), &file).unwrap();
            cluster.remove_manifests(&deployment()).unwrap();
            assert!(!folder.path().join("manifests/7-front").exists());
            assert_eq!(read(), None);
        }
    }

    #[test]
    fn nothing_is_written_outside_the_folder_or_without_the_folder() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = ManifestFile::new(0, "Pod", "a");
        let missing = cluster(&folder.path().join("missing"));
        let error = missing.write_manifest(&deployment(), &file, "{}");
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
        symlink(other.path(), folder.path().join("manifests")).unwrap();
        let error = cluster(folder.path()).write_manifest(&deployment(), &file, "{}");
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotADirectory);
        assert!(
            cluster(folder.path())
                .remove_manifests(&deployment())
                .is_err()
        );
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }
}
