//! Reports: the information from one source about one app in one cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::bundle::header::{self, Header};
use crate::bundle::lists;
use crate::{ClaimsByPosition, Coverage, DeploymentId, DigName, Identity, ObjectList, Rejected};

/// The app that a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// One app of an application that no `AppContext` records.
    Application {
        /// The application: found by its labels, or configured.
        application: DigName,
        /// The app.
        app: Arc<str>,
    },
    /// One app that an `AppContext` sends to the cluster.
    Deployment(DeploymentId),
}

impl Subject {
    /// Returns whether both are apps of one application.
    pub fn is_same_application(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Deployment(left), Self::Deployment(right)) => left.context == right.context,
            (
                Self::Application {
                    application: left, ..
                },
                Self::Application {
                    application: right, ..
                },
            ) => left == right,
            (Self::Deployment(_), Self::Application { .. })
            | (Self::Application { .. }, Self::Deployment(_)) => false,
        }
    }
}

/// The source of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A watched API server, about an app of an `AppContext`.
    Direct,
    /// A watched API server, about an app that no `AppContext` records.
    Found,
    /// A monitor in the cluster.
    Monitor,
    /// The report of a monitor that an `AppContext` stores.
    Stored,
    /// The file of last-known state.
    LastKnown,
}

/// The reason why an object of the previous report is not in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// The cluster deleted it: the source sends `Delete`, or a pass ends without the object.
    Deleted,
    /// It belongs to another application now, or does not match the selector of the watch any more.
    LeftApplication,
    /// The configuration excludes its Kind or its namespace.
    OutOfScope,
    /// The cluster removed its Kind: requests return 404 for ten minutes, and discovery of the group omits the Kind.
    KindRemoved,
}

impl Removal {
    /// Returns whether the object does not exist any more.
    pub fn is_gone(self) -> bool {
        match self {
            Self::Deleted | Self::KindRemoved => true,
            Self::LeftApplication | Self::OutOfScope => false,
        }
    }
}

/// The information from one source about one app in one cluster. Replaces the previous report of that source.
#[derive(Debug, Clone)]
pub struct Report {
    /// The source.
    pub origin: Origin,
    /// The objects of the app, in the order of the source.
    pub objects: ObjectList,
    /// Positions of the objects that are hooks: they ran once for an installation or an upgrade, and do not
    /// count in the roll-up.
    pub hooks: BTreeSet<usize>,
    /// The claims of several applications on objects of this app.
    pub claims: ClaimsByPosition,
    /// Items that could not be decoded.
    pub rejected: Vec<Rejected>,
    /// Objects of other apps that objects of this app name by a relation. Interpreters receive them; they are
    /// never listed or counted.
    pub related: ObjectList,
    /// Coverage of the objects that objects of this app may name by a relation.
    pub related_coverage: Coverage,
    /// Coverage of the objects of this app at the moment of the report.
    pub coverage: Coverage,
    /// Faults of the report, as text for readers: the reasons why the report of a monitor was not used instead, or what
    /// a monitor's report lost in its cluster.
    pub faults: Vec<Arc<str>>,
    /// Objects of the previous report that are not in this one, as far as the source knows the reason.
    pub removed: Vec<(Identity, Removal)>,
    /// The `status` that a monitor wrote, without the content of Secrets: the part that an `AppContext` stores.
    pub status_json: Option<Arc<str>>,
}

impl Report {
    /// A report without objects.
    pub fn empty(origin: Origin) -> Self {
        Self {
            origin,
            objects: ObjectList::default(),
            hooks: BTreeSet::new(),
            claims: ClaimsByPosition::default(),
            rejected: Vec::new(),
            related: ObjectList::default(),
            related_coverage: Coverage::partial(),
            coverage: Coverage::default(),
            faults: Vec::new(),
            removed: Vec::new(),
            status_json: None,
        }
    }

    /// Records that the monitor reports every Kind although this status has no `resourceStatuses`, because
    /// the monitor omits empty lists. The stored status receives the empty list, so that it has the same
    /// coverage. The report of a monitor that states its coverage does not change.
    pub fn cover_every_kind(&mut self) {
        if self.coverage.is_every_kind() || self.states_coverage() {
            return;
        }
        self.coverage = lists::covering_every_kind(&self.coverage, &self.rejected);
        self.related_coverage = lists::for_relations(&self.coverage, &self.objects, &self.rejected);
        // Inserted first, so that a `resourceStatuses` of the status itself takes precedence. That member
        // is not an array.
        self.store("resourceStatuses", "[]");
    }

    /// Returns whether the monitor states its coverage, instead of leaving it to the lists of the status.
    fn states_coverage(&self) -> bool {
        self.status_json.as_deref().is_some_and(Header::is_in)
    }

    /// Adds the header of the report to the stored status.
    pub(crate) fn store_header(&mut self, json: &str) {
        self.store(header::MEMBER, json);
    }

    /// Inserts a member into the stored status, before all others.
    fn store(&mut self, name: &str, json: &str) {
        if let Some(status) = &self.status_json
            && let Some(members) = status.trim_start().strip_prefix('{')
        {
            let is_empty = members.trim_start().starts_with('}');
            let separator = if is_empty { "" } else { "," };
            self.status_json = Some(format!("{{\"{name}\":{json}{separator}{members}").into());
        }
    }

    /// Returns whether the report has no item, decoded or not.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.rejected.is_empty()
    }
}
