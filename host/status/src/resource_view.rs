//! Views of single resources, and the state of their report.

use std::sync::Arc;

use kindsight_model::{Claims, Gvk, Identity, Object, RsyncStatus, Verdict};

/// Start and reason of a report's staleness.
///
/// Ordered by time, because answers show the earliest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Staleness {
    /// Start, in Unix milliseconds.
    pub since_ms: i64,
    /// The reason, as text for users. It contains no path of the server.
    pub reason: Arc<str>,
}

/// State of a cluster's report on an app.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Report {
    /// No report was received.
    #[default]
    NotYet,
    /// A report was received.
    Received {
        /// Staleness; `None` if the report is current. A stale report is kept, and answers mark it.
        stale: Option<Staleness>,
    },
}

impl Report {
    /// Staleness of the report; `None` if it is current.
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
    /// It was not sent: a Deployment's Pod, or an object that was found by its labels.
    Unsent,
    /// It was sent to run once, for an installation or a removal. Like [`Role::Hook`], but it is expected at
    /// its moment.
    SentHook,
    /// It ran once, for an installation or an upgrade. It is listed and counted by state, but does not count
    /// in the roll-up.
    Hook,
    /// It was not sent, an inventory in the cluster lists it, and the cluster does not have it. It counts like a
    /// resource that exists.
    Missing,
    /// It no longer exists. It is listed and counted by state for a while, so that users notice the deletion.
    Gone,
}

/// One resource of an app in a cluster.
#[derive(Debug, Clone)]
pub struct ResourceView {
    /// Group, version and Kind of the manifest; without a manifest, of the object.
    pub gvk: Gvk,
    /// Namespace of the object; if it has none, of the manifest. Empty if neither has one.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The manifest that was sent; `None` if it could not be read, or the resource was not sent.
    pub manifest: Option<Object>,
    /// Result of sending it; `None` if it was not sent.
    pub rsync: Option<RsyncStatus>,
    /// The reported object, if any; the last one for a resource that no longer exists.
    pub object: Option<Object>,
    /// The verdict on the object, or the host's own verdict on its absence.
    pub verdict: Verdict,
    /// Start of its state, in Unix milliseconds: the time in its verdict, unless the previous view
    /// contradicts it; else the time when the host first saw the state.
    pub since_ms: Option<i64>,
    /// Its role in its app.
    pub role: Role,
    /// Position of its owner among the resources of the same view, if it is a child. A child is listed and
    /// counted by state, but only its owner counts in the roll-up. `None` for a resource that was sent.
    pub owner: Option<usize>,
    /// The claims of several applications on the object; `None` if one application claims it.
    pub claims: Option<Arc<Claims>>,
}

impl ResourceView {
    /// Returns whether it was sent.
    pub fn is_sent(&self) -> bool {
        matches!(self.role, Role::Sent | Role::SentHook)
    }

    /// Returns whether it was sent, or is missing although an inventory lists it.
    pub(crate) fn is_expected(&self) -> bool {
        self.is_sent() || self.role == Role::Missing
    }

    /// Returns whether its interpreter received the spec of the manifest, because the report has none.
    pub fn has_manifest_spec(&self) -> bool {
        let is_applied = self.rsync == Some(RsyncStatus::Applied);
        let object = self.object.as_ref().filter(|_| is_applied);
        object.is_some_and(Object::lacks_spec)
            && self.manifest.as_ref().is_some_and(Object::has_spec)
    }

    /// The same resource with a newer object and its verdict. `None` if it is a different object, or its
    /// owners changed.
    pub(crate) fn with_object(
        &self,
        object: &Object,
        verdict: &Verdict,
        now_ms: i64,
    ) -> Option<Self> {
        let before = self.object.as_ref()?;
        let is_same_object = before.gvk == object.gvk
            && before.namespace == object.namespace
            && before.name == object.name
            && before.uid == object.uid
            && before.owners == object.owners;
        is_same_object.then(|| Self {
            object: Some(object.clone()),
            verdict: verdict.clone(),
            since_ms: Some(self.since_of(verdict, now_ms)),
            ..self.clone()
        })
    }

    /// The start of the state in a newer verdict, in Unix milliseconds: the time of the object, unless this
    /// view contradicts it.
    pub(crate) fn since_of(&self, newer: &Verdict, now_ms: i64) -> i64 {
        let earliest_ms = self.earliest_ms(newer);
        let is_possible =
            |own_ms: &i64| earliest_ms.is_none_or(|earliest_ms| *own_ms >= earliest_ms);
        let own_ms = newer.since_ms.filter(is_possible);
        let seen_ms = self.since_ms.filter(|_| self.verdict.is_same_state(newer));
        own_ms.or(seen_ms).unwrap_or(now_ms)
    }

    /// The earliest possible start of the state in a newer verdict, according to this view.
    ///
    /// If one interpreter gave both states, the newer state cannot have begun before the older state. The
    /// time of the object can be that early: the condition `Available` remains true during a rollout that
    /// fails and is repaired.
    fn earliest_ms(&self, newer: &Verdict) -> Option<i64> {
        let shown_ms = self.since_ms?;
        let is_known = if self.verdict.is_same_state(newer) {
            // The time of the object was rejected before, so it is still too early.
            let own_ms = self.verdict.since_ms;
            own_ms.is_some_and(|own_ms| own_ms < shown_ms)
        } else {
            newer.by.is_some() && newer.by == self.verdict.by
        };
        is_known.then_some(shown_ms)
    }

    /// Group, Kind, namespace and name.
    pub fn identity(&self) -> Identity {
        Identity {
            group: Arc::clone(&self.gvk.group),
            kind: Arc::clone(&self.gvk.kind),
            namespace: Arc::clone(&self.namespace),
            name: Arc::clone(&self.name),
        }
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

/// Identity of a resource among the resources of its app and cluster, and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ResourceKey<'a> {
    kind: &'a str,
    group: &'a str,
    namespace: &'a str,
    name: &'a str,
    version: &'a str,
}
