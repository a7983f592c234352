//! The image of kindsight: packed by `deploy/image/pack`, verified, and unpacked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Names a static executable of kindsight, which the tests then pack and start in place of the executable of the build.
const EXECUTABLE: &str = "KINDSIGHT_EXECUTABLE";

/// A packed and unpacked image.
#[derive(Debug)]
pub struct Image {
    /// The configuration of the image.
    pub config: Value,
    /// The folder with the files of the image. A [`Container`](crate::Container) adds mount points to it.
    pub files: PathBuf,
    /// The paths in the layer of the image, sorted.
    pub paths: Vec<String>,
    /// Whether the executable is static, so that the image has no libraries.
    pub is_static: bool,
}

impl Image {
    /// Packs the static executable that the environment variable `KINDSIGHT_EXECUTABLE` names, and unpacks the image
    /// into `folder`. `None` without this variable. `folder` is replaced.
    ///
    /// # Panics
    /// With the message of `deploy/image/pack`, if it refuses the executable.
    pub fn of_environment(folder: &Path) -> Option<Self> {
        let executable = std::env::var(EXECUTABLE).ok()?;
        Some(Self::unpacked(folder, Path::new(&executable), &[]))
    }

    /// Packs a dynamic executable with the libraries of this machine, and unpacks the image into `folder`, which is
    /// replaced.
    ///
    /// # Panics
    /// With the message of `deploy/image/pack`, if it refuses the executable.
    pub fn with_libraries(folder: &Path, executable: &Path) -> Self {
        let options = ["--uncompressed", "--with-libraries"];
        Self::unpacked(folder, executable, &options)
    }

    fn unpacked(folder: &Path, executable: &Path, options: &[&str]) -> Self {
        // The folder is left over from an earlier run, or does not exist.
        let _ = fs::remove_dir_all(folder);
        let (layout, files) = (folder.join("layout"), folder.join("files"));
        fs::create_dir_all(&files).expect("a folder");
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&files, open).expect("permissions of a root folder");
        let text = |path: &Path| path.to_str().expect("a UTF-8 path").to_owned();
        let (target, executable) = (text(&layout), text(executable));
        let packed = Self::pack(&[options, &[&target, &executable]].concat());
        assert!(packed.status.success(), "{packed:?}");
        let index = json(&layout.join("index.json"));
        let manifest = json(&blob(&layout, &index["manifests"][0]));
        let config = json(&blob(&layout, &manifest["config"]));
        let layer = blob(&layout, &manifest["layers"][0]);
        tar(&["--extract", "--directory", &text(&files)], &layer);
        let listed = tar(&["--list"], &layer);
        let mut paths: Vec<String> = listed.lines().map(str::to_owned).collect();
        paths.sort();
        Self {
            config,
            files,
            paths,
            is_static: options.is_empty(),
        }
    }

    /// Runs `deploy/image/pack` with these arguments.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn pack(arguments: &[&str]) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/image/pack");
        let mut command = Command::new(script);
        command.args(arguments).output().expect("pack")
    }
}

fn tar(arguments: &[&str], layer: &Path) -> String {
    let mut command = Command::new("tar");
    let output = command.args(arguments).arg("--file").arg(layer).output();
    let output = output.expect("tar");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("a file of the layout");
    serde_json::from_str(&text).expect("JSON")
}

/// The file of a descriptor, with the size and the digest that the descriptor says.
fn blob(layout: &Path, descriptor: &Value) -> PathBuf {
    let digest = descriptor["digest"].as_str().expect("a digest");
    let digest = digest.strip_prefix("sha256:").expect("SHA-256");
    let file = layout.join("blobs/sha256").join(digest);
    let size = fs::metadata(&file).expect("a blob").len();
    assert_eq!(descriptor["size"], size);
    let sum = Command::new("sha256sum").arg(&file).output();
    let sum = String::from_utf8(sum.expect("sha256sum").stdout).expect("UTF-8");
    assert!(sum.starts_with(digest), "{sum}");
    file
}
