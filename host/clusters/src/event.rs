//! Events of a cluster.

use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{
    ClusterFacts, ClusterName, Coverage, DeploymentId, MissingResources, Report, Subject,
};

/// A change in the reports of one cluster.
///
/// Every source of clusters keeps this contract:
///
/// - The events of one cluster have the order in which its changes were observed. Events of different clusters have
///   no order. If changes follow quickly, only the last one may be reported.
/// - An unchanged report is not repeated, except after [`ClusterEvent::Unreadable`].
/// - No text contains a path of this host, because every reader of a status sees the texts.
/// - Only [`ClusterEvent::Gone`] removes a report. An unreadable report, or a cluster that cannot be
///   reached, leaves the previous report in place.
/// - A source waits while its events are not received, and retries after failures for as long as it runs.
#[derive(Debug, Clone)]
pub enum ClusterEvent {
    /// Reports on apps, observed at one moment. Each replaces the previous report on the same subject, and
    /// clears an earlier [`ClusterEvent::Unreadable`]. Changed apps of one application are in one event, so that
    /// no view shows a mixture of two moments.
    Reports {
        /// The cluster.
        cluster: ClusterName,
        /// The reports, at most one for each subject.
        reports: Vec<(Subject, Report)>,
        /// The missing resources of applications without an `AppContext`, where they changed.
        missing: Vec<MissingResources>,
    },
    /// The coverage of a watched cluster. Sent when it changes. A source sends worse states before the reports of
    /// the same moment, and better states after them; see [`Coverage::worst_of`].
    Coverage {
        /// The cluster.
        cluster: ClusterName,
        /// The coverage of all Kinds.
        coverage: Coverage,
    },
    /// The cluster no longer reports on an app.
    Gone {
        /// The cluster.
        cluster: ClusterName,
        /// The app.
        deployment: DeploymentId,
    },
    /// A report cannot be used, and the previous report remains. Sent once for each content, and once more after a
    /// report on the same app that did not resolve the fault.
    Unreadable {
        /// The cluster.
        cluster: ClusterName,
        /// The app of the report, if the report or its name shows it. If no report of this origin was ever
        /// readable, the fault is also among the [`ClusterEvent::Faults`].
        deployment: Option<DeploymentId>,
        /// True if the report may be newer than the previous report, which may then be out of date. False if the
        /// previous report would be used in any case.
        may_be_newer: bool,
        /// Its origin, as text for people: the name of a file, a URL.
        origin: String,
        /// The reason, as text for people.
        error: String,
    },
    /// The cluster is configured, and has not answered yet.
    Added {
        /// The cluster.
        cluster: ClusterName,
    },
    /// The cluster is no longer configured: receivers forget all of its reports. This is its last event, unless the
    /// cluster is [added](ClusterEvent::Added) again.
    Removed {
        /// The cluster.
        cluster: ClusterName,
    },
    /// Facts about the cluster and its connection. Reported when they change, at most once in
    /// [`FACTS_EVERY`].
    Facts {
        /// The cluster.
        cluster: ClusterName,
        /// The facts.
        facts: Arc<ClusterFacts>,
    },
    /// Faults without a known app, such as a report that was never readable. They replace the previous faults. Sent
    /// when they change; there are none at the start.
    Faults {
        /// The cluster.
        cluster: ClusterName,
        /// The faults, as text for people; at most some tens.
        faults: Vec<String>,
    },
    /// The cluster answered a request, and everything that it sent earlier was reported before this event. Sent
    /// every few seconds by sources that send requests, while the cluster answers.
    Heard {
        /// The cluster.
        cluster: ClusterName,
    },
    /// All reports of the cluster were sent before this event.
    ///
    /// Sent once after the start, and once after each [`ClusterEvent::Stale`].
    Synced {
        /// The cluster.
        cluster: ClusterName,
    },
    /// Another host watches the cluster now, this host does, or none. Its reports remain, and may be out of date until
    /// the next [`ClusterEvent::Synced`]. Sent by the server that shares clusters with other hosts, not by a source.
    Owner {
        /// The cluster.
        cluster: ClusterName,
        /// The name of the host that watches it.
        owner: Option<Arc<str>>,
        /// The complete reason, as text for people.
        reason: String,
    },
    /// The cluster, or an important part of it, does not answer. Its reports remain, and may be out of date until
    /// the next [`ClusterEvent::Synced`]. Sent once for each reason.
    Stale {
        /// The cluster.
        cluster: ClusterName,
        /// The complete reason, as text for people, such as `the cluster cannot be reached: …`.
        reason: String,
    },
}

/// Shortest time between two [`ClusterEvent::Facts`] of one cluster.
pub const FACTS_EVERY: Duration = Duration::from_secs(1);

impl ClusterEvent {
    /// The cluster, if the event shows that the cluster answered.
    pub fn heard_from(&self) -> Option<&ClusterName> {
        match self {
            Self::Reports { cluster, .. }
            | Self::Gone { cluster, .. }
            | Self::Unreadable { cluster, .. }
            | Self::Coverage { cluster, .. }
            | Self::Faults { cluster, .. }
            | Self::Heard { cluster }
            | Self::Synced { cluster } => Some(cluster),
            Self::Added { .. }
            | Self::Removed { .. }
            | Self::Owner { .. }
            | Self::Facts { .. }
            | Self::Stale { .. } => None,
        }
    }

    /// The cluster, if its source sent the event. A host uses such an event only while it owns the cluster.
    pub fn of_source(&self) -> Option<&ClusterName> {
        match self {
            Self::Facts { cluster, .. } | Self::Stale { cluster, .. } => Some(cluster),
            Self::Added { .. } | Self::Removed { .. } | Self::Owner { .. } => None,
            Self::Reports { .. }
            | Self::Gone { .. }
            | Self::Unreadable { .. }
            | Self::Coverage { .. }
            | Self::Faults { .. }
            | Self::Heard { .. }
            | Self::Synced { .. } => self.heard_from(),
        }
    }
}
