//! Events of a cluster.

use kindsight_model::{Bundle, ClusterName, DeploymentId};

/// A change in what one cluster reports.
///
/// Every source of clusters keeps this contract:
///
/// - The events of one cluster come in the order in which it was seen to change; between clusters
///   there is no order. Of changes that follow each other quickly only the last may be reported.
/// - Nothing is reported twice while it stays the same, but for a report after
///   [`ClusterEvent::Unreadable`].
/// - Only [`ClusterEvent::Gone`] takes a report away. An unreadable report, or a cluster that cannot
///   be reached, leaves the one before as it is.
/// - A source waits while nobody takes its events, and is tried again for as long as it runs.
#[derive(Debug, Clone)]
pub enum ClusterEvent {
    /// The cluster reports on an app: this replaces its report on the same deployment before, and
    /// whatever was unreadable of it.
    Bundle {
        /// The cluster.
        cluster: ClusterName,
        /// All of the report.
        bundle: Bundle,
    },
    /// The cluster does not report on an app any more.
    Gone {
        /// The cluster.
        cluster: ClusterName,
        /// The app.
        deployment: DeploymentId,
    },
    /// A report cannot be used; the one before stays. Reported once for each content.
    Unreadable {
        /// The cluster.
        cluster: ClusterName,
        /// The app it is about, where that is known.
        deployment: Option<DeploymentId>,
        /// The place it comes from, as text for people: a path, a URL.
        origin: String,
        /// The reason, as text for people.
        error: String,
    },
    /// Every report that the cluster has was reported before this event.
    ///
    /// Comes once after the start, and once after each [`ClusterEvent::Stale`].
    Synced {
        /// The cluster.
        cluster: ClusterName,
    },
    /// The cluster cannot be reached. Its reports stay, and may be out of date until the next
    /// [`ClusterEvent::Synced`]. Reported once for each reason.
    Stale {
        /// The cluster.
        cluster: ClusterName,
        /// The reason, as text for people.
        reason: String,
    },
}
