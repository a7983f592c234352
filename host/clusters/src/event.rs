//! Events of a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{
    Bundle, ClusterName, Coverage, CoveredKinds, DeploymentId, DigName, Object, Rejected,
};

use crate::ReportMode;

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
    /// The cluster has this of an app that an `AppContext` sends to it, as it was seen there: no monitor
    /// reports on it. Replaces its previous report on the same deployment, as a bundle does.
    Deployment {
        /// The cluster.
        cluster: ClusterName,
        /// All that it has of the app.
        report: Box<DeploymentReport>,
    },
    /// The cluster has this of an application that nobody recorded. Replaces what it had before of the same
    /// apps of it.
    Application {
        /// The cluster.
        cluster: ClusterName,
        /// All that it has of each app that changed, at one moment: the apps of one application are shown
        /// together, so that no mixture of moments is.
        reports: Vec<ApplicationReport>,
    },
    /// The cluster is configured, and was not heard yet.
    Added {
        /// The cluster.
        cluster: ClusterName,
    },
    /// The cluster is no longer configured: all that it reported is to be forgotten. Its last event, unless
    /// it is [added](ClusterEvent::Added) again.
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
        facts: Box<ClusterFacts>,
    },
    /// The faults that concern nobody knows which app, such as a report that was never readable. They
    /// replace the previous ones. Reported when they change; none at the start.
    Faults {
        /// The cluster.
        cluster: ClusterName,
        /// The faults, as text for people; at most some tens.
        faults: Vec<String>,
    },
    /// The cluster was asked and answered: all that it said before was sent before this event. Sent every few
    /// seconds by sources that ask, while the cluster is heard.
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
    /// The cluster, or a part of it that matters, is not heard. Its reports stay, and may be out of date until
    /// the next [`ClusterEvent::Synced`]. Reported once for each reason.
    Stale {
        /// The cluster.
        cluster: ClusterName,
        /// The reason, as text for people: all of it, such as `the cluster cannot be reached: …`.
        reason: String,
    },
}

/// Shortest time between two [`ClusterEvent::Facts`] of one cluster.
pub const FACTS_EVERY: Duration = Duration::from_secs(1);

impl ClusterEvent {
    /// The cluster, where the event is something that it told; none of what was found out here.
    pub fn heard_from(&self) -> Option<&ClusterName> {
        match self {
            Self::Bundle { cluster, .. }
            | Self::Gone { cluster, .. }
            | Self::Unreadable { cluster, .. }
            | Self::Deployment { cluster, .. }
            | Self::Application { cluster, .. }
            | Self::Faults { cluster, .. }
            | Self::Heard { cluster }
            | Self::Synced { cluster } => Some(cluster),
            Self::Added { .. } | Self::Removed { .. } | Self::Facts { .. } | Self::Stale { .. } => {
                None
            }
        }
    }
}

/// All that a cluster has of one app that an `AppContext` sends to it.
#[derive(Debug, Clone)]
pub struct DeploymentReport {
    /// The app.
    pub deployment: DeploymentId,
    /// Its objects, in order of Kind, namespace and name.
    pub objects: Vec<Object>,
    /// Objects of it that could not be read.
    pub rejected: Vec<Rejected>,
    /// As in an [`ApplicationReport`].
    pub related: Vec<Object>,
    /// As in an [`ApplicationReport`].
    pub covered: CoveredKinds,
    /// The Kinds on which it says what there is.
    pub coverage: Coverage,
    /// The reasons why a monitor's report is not used instead, as text for people.
    pub faults: Vec<Arc<str>>,
}

/// All that a cluster has of one app of an application that nobody recorded.
#[derive(Debug, Clone)]
pub struct ApplicationReport {
    /// The application: one that was found by its labels, or one of the configuration.
    pub application: DigName,
    /// The app of it.
    pub app: Arc<str>,
    /// Its objects, in order of Kind, namespace and name. None where nothing of it is left.
    pub objects: Vec<Object>,
    /// Positions of the objects that are hooks: they ran once for an installation or an upgrade, and what
    /// became of them is not how the application fares.
    pub hooks: BTreeSet<usize>,
    /// Objects of it that could not be read.
    pub rejected: Vec<Rejected>,
    /// Objects that its own name by a relation and that belong to others, for those who judge: never listed,
    /// never counted.
    pub related: Vec<Object>,
    /// The Kinds of which everything was searched that its objects may name by a relation.
    pub covered: CoveredKinds,
    /// Objects that were of it and that an `AppContext` covers from now on. They are still there, so they
    /// are not told to be gone.
    pub taken: Vec<Object>,
    /// True if the applications of objects are told by other rules than at the last report, or some may not be
    /// seen any more: what was of it and is no more may be elsewhere, so it is not told to be gone.
    pub is_sorted_anew: bool,
}

/// Facts about a cluster and the connection to it, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterFacts {
    /// The name of the cluster where it was configured, such as a context of a kubeconfig.
    pub origin: Arc<str>,
    /// The view by which apps of `AppContext`s are reported.
    pub mode: ReportMode,
    /// The labels of the objects that belong to applications by themselves, as `kubectl --selector` takes them; none
    /// where all do.
    pub selector: Option<Arc<str>>,
    /// Version of its API server; none until it answered.
    pub server_version: Option<Arc<str>>,
    /// Kinds that are not watched, with the reason, as text for people.
    pub not_covered: Vec<Arc<str>>,
    /// Objects of applications that are held.
    pub objects: usize,
    /// Kinds that are watched.
    pub watches: usize,
}
