//! Views of single resources, and of the report that they come from.

use std::sync::Arc;

use kindsight_model::{Gvk, Object, RsyncStatus, Verdict};

/// Since when a report may be out of date, and why.
///
/// Ordered by time: of several the earliest is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Staleness {
    /// In Unix milliseconds.
    pub since_ms: i64,
    /// The reason, as text for people. It names no path of the server.
    pub reason: Arc<str>,
}

/// The report of a cluster on an app: none yet, or one that may be out of date.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Report {
    /// No bundle has come.
    #[default]
    NotYet,
    /// A bundle came.
    Received {
        /// Since when and why it may be out of date; none while it is current. It is kept, and marked as
        /// stale in answers.
        stale: Option<Staleness>,
    },
}

impl Report {
    /// Since when and why the report may be out of date.
    pub fn stale(&self) -> Option<&Staleness> {
        match self {
            Self::NotYet => None,
            Self::Received { stale } => stale.as_ref(),
        }
    }
}

/// Role of a resource in its app. Decides whether it counts in the roll-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It was sent, so it is expected.
    Sent,
    /// Only the cluster has it, such as a Deployment's Pods or what was found by its labels.
    Unsent,
    /// It was sent to run once, for an installation or a removal: as [`Role::Hook`], and expected at its moment.
    SentHook,
    /// It ran once for an installation or an upgrade: listed and counted by state, and what became of it is
    /// not how the app fares.
    Hook,
    /// It was there and is no more: listed and counted by state for a while, since a deletion is news.
    Gone,
}

/// One resource of an app in a cluster.
#[derive(Debug, Clone)]
pub struct ResourceView {
    /// Group, version and Kind: of the manifest if there is one, else of the object.
    pub gvk: Gvk,
    /// Namespace: of the object if it has one, else of the manifest. Empty if neither names one.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The manifest that was sent; none if it could not be read or the resource was not sent.
    pub manifest: Option<Object>,
    /// Result of sending it; none if only the cluster has it.
    pub rsync: Option<RsyncStatus>,
    /// The object that the cluster reported, if any; of one that is gone the last.
    pub object: Option<Object>,
    /// The verdict on the object, or the host's own verdict on its absence.
    pub verdict: Verdict,
    /// Time of its last change of state, in Unix milliseconds: by the object itself where its verdict tells,
    /// else when the host first saw it.
    pub since_ms: Option<i64>,
    /// Its role in its app.
    pub role: Role,
    /// Position of its owner among the resources of the same view, if it is a child: it is listed and
    /// counted by state, and its owner answers for it in the roll-up. None for what was sent.
    pub owner: Option<usize>,
}

impl ResourceView {
    /// Returns whether it was sent.
    pub fn is_sent(&self) -> bool {
        matches!(self.role, Role::Sent | Role::SentHook)
    }

    /// Its identity among the resources of its app and cluster.
    pub(crate) fn key(&self) -> ResourceKey<'_> {
        ResourceKey {
            kind: &self.gvk.kind,
            group: &self.gvk.group,
            namespace: &self.namespace,
            name: &self.name,
            version: &self.gvk.version,
        }
    }
}

/// Identity of a resource among those of its app and cluster; orders them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ResourceKey<'a> {
    kind: &'a str,
    group: &'a str,
    namespace: &'a str,
    name: &'a str,
    version: &'a str,
}
