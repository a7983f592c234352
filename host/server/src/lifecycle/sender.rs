//! The configured clusters as receivers of resources. Only a folder can receive resources.

use std::io::{self, ErrorKind};

use kindsight_clusters::{ClusterSource, FolderCluster, ManifestFile};
use kindsight_lifecycle::{
    Applied, CannotSend, Change, Deletion, Preview, SendError, Sender, SentResource, Target,
    differences,
};
use kindsight_model::ClusterName;

use crate::settings::ClusterChanges;

/// The clusters of the configuration, as it is at the time of each call.
pub(super) enum ConfiguredClusters {
    /// A configuration that does not change.
    Fixed(Vec<ClusterSource>),
    /// A configuration that may change.
    Changing(ClusterChanges),
}

impl ConfiguredClusters {
    fn folder(&self, name: &ClusterName) -> Result<FolderCluster, CannotSend> {
        let of = |clusters: &[ClusterSource]| {
            let mut clusters = clusters.iter();
            match clusters.find(|cluster| cluster.name() == name) {
                None => Err(CannotSend::Unknown(name.clone())),
                Some(ClusterSource::Folder(folder)) => Ok(folder.clone()),
                Some(ClusterSource::Kubernetes(_)) => Err(CannotSend::Unsupported {
                    cluster: name.clone(),
                    reason: "this release sends resources only to clusters that are folders (`--cluster PROVIDER+NAME=DIR`)",
                }),
            }
        };
        match self {
            Self::Fixed(clusters) => of(clusters),
            Self::Changing(clusters) => of(&clusters.borrow()),
        }
    }

    /// Calls `write` with the folder of a target, and logs a failure.
    fn with_folder<T>(
        &self,
        target: &Target,
        resource: Option<&SentResource<'_>>,
        write: impl FnOnce(&FolderCluster) -> io::Result<T>,
    ) -> Result<T, SendError> {
        let folder = self.folder(&target.cluster);
        let folder = folder.map_err(|error| SendError::Unreachable(error.to_string()));
        let done = folder.and_then(|folder| write(&folder).map_err(|error| failed(&error)));
        if let Err(error) = &done {
            let resource = resource.map(|it| format!("{} {}", it.kind, it.name));
            tracing::warn!(
                cluster = %target.cluster,
                deployment = %target.deployment,
                resource,
                %error,
                "a resource was not sent or removed"
            );
        }
        done
    }
}

/// The reaction to an error of the file system. A wrong type of file does not change by itself; any other cause may.
fn failed(error: &io::Error) -> SendError {
    match error.kind() {
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput => SendError::Refused(error.to_string()),
        _ => SendError::Unreachable(error.to_string()),
    }
}

fn file(resource: &SentResource<'_>) -> ManifestFile {
    ManifestFile::new(resource.position, resource.kind, resource.name)
}

impl Sender for ConfiguredClusters {
    fn check(&self, cluster: &ClusterName) -> Result<(), CannotSend> {
        self.folder(cluster).map(drop)
    }

    /// A folder has no owners and no rights: every resource is accepted.
    fn vet(&self, _: &Target, _: &SentResource<'_>) -> Result<(), SendError> {
        Ok(())
    }

    fn apply(&self, target: &Target, resource: &SentResource<'_>) -> Result<Applied, SendError> {
        self.with_folder(target, Some(resource), |folder| {
            folder.write_manifest(&target.deployment, &file(resource), resource.manifest)?;
            Ok(Applied::default())
        })
    }

    fn preview(&self, target: &Target, resource: &SentResource<'_>) -> Result<Preview, SendError> {
        self.with_folder(target, Some(resource), |folder| {
            let before = folder.read_manifest(&target.deployment, &file(resource))?;
            Ok(preview(before.as_deref(), resource.manifest))
        })
    }

    fn delete(&self, target: &Target, resource: &SentResource<'_>) -> Result<Deletion, SendError> {
        self.with_folder(target, Some(resource), |folder| {
            folder.remove_manifest(&target.deployment, &file(resource))?;
            Ok(Deletion::Deleted)
        })
    }

    /// The monitor of a folder writes its reports without being asked.
    fn announce(&self, _: &Target) -> Result<(), SendError> {
        Ok(())
    }

    fn removed(&self, target: &Target) -> Result<(), SendError> {
        self.with_folder(target, None, |folder| {
            folder.remove_manifests(&target.deployment)
        })
    }
}

fn preview(before: Option<&str>, after: &str) -> Preview {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let (change, differences) = match before {
        None => (Change::Create, Vec::new()),
        Some(before) if before == after => (Change::Unchanged, Vec::new()),
        Some(before) => (Change::Update, differences(&value(before), &value(after))),
    };
    Preview {
        change,
        differences,
    }
}
