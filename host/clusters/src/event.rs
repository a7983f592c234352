//! What there is to say of a cluster.

use std::path::PathBuf;

use kindsight_model::{Bundle, ClusterName, DeploymentId};

/// Something new about one cluster. For one cluster, events come in the order in which they were
/// seen; between clusters there is no order.
#[derive(Debug, Clone)]
pub enum ClusterEvent {
    /// The cluster reports on an app: this replaces what it said of the same deployment before.
    Bundle {
        /// Who says it.
        cluster: ClusterName,
        /// All of what it says of the app.
        bundle: Bundle,
    },
    /// The cluster does not report on an app any more.
    Gone {
        /// Who fell silent.
        cluster: ClusterName,
        /// About what.
        deployment: DeploymentId,
    },
    /// A report cannot be used; what was said before stays true. Said once for each content.
    Unreadable {
        /// Where it came from.
        cluster: ClusterName,
        /// The file it stands in.
        file: PathBuf,
        /// Why, for people.
        error: String,
    },
    /// Everything the cluster has to say has been said: comes after the first listing, and again
    /// after each time the cluster was [`ClusterEvent::Stale`].
    Synced {
        /// Whose listing is complete.
        cluster: ClusterName,
    },
    /// The cluster cannot be reached. What it said last stays, and may be out of date until the
    /// next [`ClusterEvent::Synced`]. Said once for each reason.
    Stale {
        /// Who cannot be reached.
        cluster: ClusterName,
        /// Why, for people.
        reason: String,
    },
}
