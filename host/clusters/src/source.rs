//! Sources of clusters.

use std::str::FromStr;

use kindsight_model::{ClusterName, NameError};
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use crate::{ClusterEvent, FolderCluster};

/// A cluster, by the way in which its reports are had.
///
/// Whoever takes the events does not know the source: another one is another variant here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterSource {
    /// A folder of report files.
    Folder(FolderCluster),
}

/// The reason why a text names no source of a cluster, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseClusterError {
    /// No `=`, or nothing after it.
    #[error("`{0}` names no folder: write `provider+name=DIR`")]
    NoFolder(String),
    /// The text before the `=` is not a cluster.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl ClusterSource {
    /// The cluster.
    pub fn name(&self) -> &ClusterName {
        match self {
            Self::Folder(cluster) => cluster.name(),
        }
    }

    /// Sends the cluster's events, until `shutdown` is cancelled or nobody listens to `events`.
    ///
    /// Called once for each cluster. Waits while `events` is full, and holds a bounded number of
    /// reports meanwhile. Cancelling is prompt.
    pub async fn run<E: From<ClusterEvent>>(self, events: Sender<E>, shutdown: CancellationToken) {
        match self {
            Self::Folder(cluster) => cluster.run(events, shutdown).await,
        }
    }
}

impl FromStr for ClusterSource {
    type Err = ParseClusterError;

    /// Reads `provider+name=DIR`, as the command line has it.
    fn from_str(text: &str) -> Result<Self, ParseClusterError> {
        match text.split_once('=') {
            Some((cluster, path)) if !path.is_empty() => {
                Ok(Self::Folder(FolderCluster::new(cluster.parse()?, path)))
            }
            _ => Err(ParseClusterError::NoFolder(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_folder_is_read_from_the_command_line() {
        let source: ClusterSource = "prov+edge01=/var/lib/a=b".parse().unwrap();
        assert_eq!(source.name().to_string(), "prov+edge01");
        let ClusterSource::Folder(cluster) = source;
        assert_eq!(cluster.path(), Path::new("/var/lib/a=b"));
        let check = |text: &str, message: &str| {
            let error = text.parse::<ClusterSource>().unwrap_err();
            assert_eq!(error.to_string(), message);
        };
        check(
            "prov+edge01",
            "`prov+edge01` names no folder: write `provider+name=DIR`",
        );
        check("p+e=", "`p+e=` names no folder: write `provider+name=DIR`");
        check(
            "edge01=/x",
            "`edge01` is not a cluster: write `provider+name` (in a URL, `provider%2Bname`)",
        );
    }
}
