//! Sources of clusters.

use std::fmt;
use std::str::FromStr;

use kindsight_model::{ClusterName, NameError};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    ClusterEvent, ConfiguredApplication, FolderCluster, KubernetesCluster, Needs, PushedCluster,
};

/// A cluster, by the source of its reports. Another kind of source is another variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterSource {
    /// A folder of report files.
    Folder(FolderCluster),
    /// An API server.
    Kubernetes(Box<KubernetesCluster>),
    /// An agent that pushes its reports.
    Pushed(PushedCluster),
}

/// An invalid cluster source; the message gives the valid form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseClusterError {
    /// The text has no `=`, or no folder after it.
    #[error("`{0}` names no folder: write `provider+name=DIR`")]
    NoFolder(String),
    /// The text before the `=` is not a cluster.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl ClusterSource {
    /// Name of the cluster.
    pub fn name(&self) -> &ClusterName {
        match self {
            Self::Folder(cluster) => cluster.name(),
            Self::Kubernetes(cluster) => cluster.name(),
            Self::Pushed(cluster) => cluster.name(),
        }
    }

    /// The same source, which also finds those of these applications that are in its cluster. A folder has no
    /// labels, so it finds none.
    #[must_use]
    pub fn with_applications(self, applications: &[ConfiguredApplication]) -> Self {
        match self {
            Self::Folder(_) => self,
            Self::Kubernetes(cluster) => {
                Self::Kubernetes(Box::new(cluster.with_applications(applications)))
            }
            Self::Pushed(cluster) => Self::Pushed(cluster.with_applications(applications)),
        }
    }

    /// Returns whether a running source can continue with the configuration `other` and keep its reports.
    pub fn can_become(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Kubernetes(this), Self::Kubernetes(other)) => this.name() == other.name(),
            (Self::Pushed(this), Self::Pushed(other)) => this.name() == other.name(),
            _ => self == other,
        }
    }

    /// Sends the cluster's events, until `shutdown` is cancelled or `events` is closed.
    ///
    /// Called once for each cluster. A folder ignores `needs`. Waits while `events` is full, and holds a bounded
    /// number of reports in that time. Cancellation is prompt. `configured` has the configurations that the source
    /// [can become](Self::can_become), as they change.
    pub async fn run<E: From<ClusterEvent>>(
        self,
        configured: watch::Receiver<Self>,
        events: Sender<E>,
        needs: Needs,
        shutdown: CancellationToken,
    ) {
        match self {
            Self::Folder(cluster) => {
                let _always = needs.confirmations.always(cluster.name());
                cluster.run(events, shutdown).await;
            }
            Self::Kubernetes(cluster) => cluster.run(configured, events, needs, shutdown).await,
            Self::Pushed(cluster) => cluster.run(configured, events, needs, shutdown).await,
        }
    }
}

impl fmt::Display for ClusterSource {
    /// Origin of its reports, for the person who configured it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(cluster) => cluster.path().display().fmt(f),
            Self::Kubernetes(cluster) => write!(f, "context {}", cluster.origin()),
            Self::Pushed(_) => f.write_str("an agent that pushes"),
        }
    }
}

impl FromStr for ClusterSource {
    type Err = ParseClusterError;

    /// Parses `provider+name=DIR`, as on the command line.
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
        let ClusterSource::Folder(cluster) = source else {
            panic!("a folder: {source:?}");
        };
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
            "`edge01` is not a cluster: write `provider+name` (in a URL, `provider%2Bname`), each of them 1 to 128 letters, digits, `-`, `_` or `.`, not `-` alone or only dots",
        );
    }
}
