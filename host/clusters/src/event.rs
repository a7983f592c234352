//! Events of a cluster.

use kindsight_model::{Bundle, ClusterName, DeploymentId};

/// A change in the reports of one cluster.
///
/// Every source of clusters keeps this contract:
///
/// - The events of one cluster are in the order in which its changes were observed; events of different
///   clusters are not ordered. Of changes in quick succession only the last may be reported.
/// - An unchanged report is not repeated, except after [`ClusterEvent::Unreadable`].
/// - No text names a path of this host: texts are shown to whoever asks for a status.
/// - Only [`ClusterEvent::Gone`] removes a report. An unreadable report, or a cluster that cannot be
///   reached, leaves the previous report in place.
/// - A source waits while its events are not received, and retries after failures for as long as it runs.
#[derive(Debug, Clone)]
pub enum ClusterEvent {
    /// The cluster reports on an app. Replaces its previous report on the same deployment, and clears an
    /// earlier [`ClusterEvent::Unreadable`].
    Bundle {
        /// The cluster.
        cluster: ClusterName,
        /// The whole report.
        bundle: Bundle,
    },
    /// The cluster no longer reports on an app.
    Gone {
        /// The cluster.
        cluster: ClusterName,
        /// The app.
        deployment: DeploymentId,
    },
    /// A report cannot be used; the previous one stays. Reported once for each content, and once more after
    /// a [`ClusterEvent::Bundle`] on the same app that did not resolve it.
    Unreadable {
        /// The cluster.
        cluster: ClusterName,
        /// The app it is about, where that is known or its name suggests one. Where it never was readable,
        /// it is also among the [`ClusterEvent::Faults`].
        deployment: Option<DeploymentId>,
        /// True if it may be newer than the previous report, which may be out of date then. False if the
        /// previous one would be used anyway.
        may_be_newer: bool,
        /// Its origin, as text for people: the name of a file, a URL.
        origin: String,
        /// The reason, as text for people.
        error: String,
    },
    /// The faults that concern nobody knows which app, such as a report that was never readable. They
    /// replace the previous ones. Reported when they change; none at the start.
    Faults {
        /// The cluster.
        cluster: ClusterName,
        /// The faults, as text for people; at most some tens.
        faults: Vec<String>,
    },
    /// All reports of the cluster were sent before this event.
    ///
    /// Sent once after the start, and once after each [`ClusterEvent::Stale`].
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
