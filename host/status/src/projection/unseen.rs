//! Resources of which the report has no object, and that are listed all the same.

use std::sync::Arc;

use kindsight_model::{Gvk, Object, Phase, Rejected, Verdict, host_reason};

use crate::moment::moment;
use crate::resource_view::{ResourceView, Role};

/// The last that was known of an object that the report does not have.
#[derive(Debug, Clone)]
pub struct LastKnown {
    /// Group, version and Kind.
    pub gvk: Gvk,
    /// Its namespace; may be empty.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The object; none of what is known from before the start, of which objects are not kept.
    pub object: Option<Object>,
}

impl LastKnown {
    /// The last that was known of a resource of a view.
    pub fn of(resource: &ResourceView) -> Self {
        Self {
            gvk: resource.gvk.clone(),
            namespace: Arc::clone(&resource.namespace),
            name: Arc::clone(&resource.name),
            object: resource.object.clone(),
        }
    }
}

impl From<Object> for LastKnown {
    fn from(object: Object) -> Self {
        Self {
            gvk: object.gvk.clone(),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
            object: Some(object),
        }
    }
}

/// A resource that was not sent and of which the report has no object, with the host's own verdict.
#[derive(Debug, Clone)]
pub struct Unseen {
    gvk: Gvk,
    namespace: Arc<str>,
    name: Arc<str>,
    /// The last that was known of it.
    last: Option<Object>,
    verdict: Verdict,
    role: Role,
}

impl Unseen {
    /// An object that was there until then, in Unix milliseconds, and that the cluster has no more.
    pub fn gone(last: impl Into<LastKnown>, since_ms: i64) -> Self {
        let message = format!("it is no more in the cluster{}", since(since_ms));
        let verdict = Verdict::host(Phase::NotPresent, host_reason::GONE, message);
        Self::of(last.into(), verdict, since_ms, Role::Gone)
    }

    /// What was known before the start and is not reported, until it is known whether its Kind is covered.
    pub fn unconfirmed(last: LastKnown, verdict: Verdict) -> Self {
        Self {
            gvk: last.gvk,
            namespace: last.namespace,
            name: last.name,
            last: last.object,
            verdict,
            role: Role::Unsent,
        }
    }

    /// An object that was there until then, in Unix milliseconds, when the cluster ceased to report on its
    /// Kind.
    pub fn not_covered(last: impl Into<LastKnown>, since_ms: i64) -> Self {
        let last = last.into();
        let message = format!(
            "the cluster does not report on objects of Kind {} any more{}",
            last.gvk.kind,
            since(since_ms)
        );
        let verdict = Verdict::unknown(host_reason::NOT_REPORTED, message);
        Self::of(last, verdict, since_ms, Role::Unsent)
    }

    /// An object that could not be read; none where nobody knows which.
    pub fn unreadable(rejected: &Rejected) -> Option<Self> {
        let identity = rejected.identity.as_ref()?;
        let message = format!("{}: {}", rejected.pointer, rejected.error);
        Some(Self {
            gvk: identity.gvk.clone(),
            namespace: Arc::clone(&identity.namespace),
            name: Arc::clone(&identity.name),
            last: None,
            verdict: Verdict::unknown(host_reason::UNREADABLE, message),
            role: Role::Unsent,
        })
    }

    fn of(last: LastKnown, verdict: Verdict, since_ms: i64, role: Role) -> Self {
        Self {
            gvk: last.gvk,
            namespace: last.namespace,
            name: last.name,
            last: last.object,
            verdict: Verdict {
                since_ms: Some(since_ms),
                ..verdict
            },
            role,
        }
    }

    pub(super) fn into_resource(self) -> ResourceView {
        ResourceView {
            gvk: self.gvk,
            namespace: self.namespace,
            name: self.name,
            manifest: None,
            rsync: None,
            object: self.last,
            verdict: self.verdict,
            since_ms: None,
            role: self.role,
            owner: None,
        }
    }
}

/// ` since` and the time; nothing for one that cannot be written.
fn since(unix_ms: i64) -> String {
    moment(unix_ms).map_or_else(String::new, |it| format!(" since {it:.0}"))
}
