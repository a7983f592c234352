//! Resources that are listed although the report has no object for them.

use std::sync::Arc;

use kindsight_model::{
    Coverage, Gvk, Identity, Object, Phase, Rejected, Scope, Verdict, host_reason,
};

use super::absence;
use crate::moment::moment;
use crate::resource_view::{ResourceView, Role};

/// The last known state of an object that is not in the report.
#[derive(Debug, Clone)]
pub struct LastKnown {
    /// Group, version and Kind.
    pub gvk: Gvk,
    /// Its namespace; may be empty.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The object; `None` after a restart, because objects are not stored.
    pub object: Option<Object>,
}

impl LastKnown {
    /// The last known state from a resource of a view.
    pub fn of(resource: &ResourceView) -> Self {
        Self {
            gvk: resource.gvk.clone(),
            namespace: Arc::clone(&resource.namespace),
            name: Arc::clone(&resource.name),
            object: resource.object.clone(),
        }
    }
}

/// A resource that was not sent and has no object in the report.
#[derive(Debug, Clone)]
pub struct Unseen {
    /// The last known state of the object.
    pub last: LastKnown,
    /// The reason why it is not in the report.
    pub why: Why,
    /// Its owner, for a resource without an object.
    pub owner: Option<Identity>,
    /// True if it is a hook.
    pub is_hook: bool,
}

/// The reason why an object is not in a report.
#[derive(Debug, Clone)]
pub enum Why {
    /// It no longer exists. The time is when this was first known, in Unix milliseconds.
    Gone(i64),
    /// An inventory lists it, and the cluster does not have it.
    Missing {
        /// The inventory, as text for readers.
        inventory: Arc<str>,
        /// When this was first known, in Unix milliseconds.
        since_ms: i64,
    },
    /// The coverage of its Kind decides. Holds its last verdict.
    Uncertain(Verdict),
    /// Its item could not be decoded.
    Unreadable(Arc<str>),
}

impl Unseen {
    /// An object whose item could not be decoded; `None` without an identity.
    pub fn unreadable(rejected: &Rejected) -> Option<Self> {
        let identity = rejected.identity.as_ref()?;
        let message = format!("{}: {}", rejected.pointer, rejected.error);
        Some(Self {
            last: LastKnown {
                gvk: identity.gvk.clone(),
                namespace: Arc::clone(&identity.namespace),
                name: Arc::clone(&identity.name),
                object: None,
            },
            why: Why::Unreadable(message.into()),
            owner: None,
            is_hook: false,
        })
    }

    pub(super) fn into_resource(self, coverage: &Coverage) -> ResourceView {
        let (verdict, role) = self.verdict_and_role(coverage);
        ResourceView {
            gvk: self.last.gvk,
            namespace: self.last.namespace,
            name: self.last.name,
            manifest: None,
            rsync: None,
            object: self.last.object,
            verdict,
            since_ms: None,
            role,
            owner: None,
            claims: None,
        }
    }

    fn verdict_and_role(&self, coverage: &Coverage) -> (Verdict, Role) {
        let role = if self.is_hook {
            Role::Hook
        } else {
            Role::Unsent
        };
        match &self.why {
            Why::Gone(since_ms) => (gone(*since_ms), Role::Gone),
            Why::Missing {
                inventory,
                since_ms,
            } => (missing(inventory, *since_ms), Role::Missing),
            Why::Unreadable(message) => {
                let unreadable = Verdict::unknown(host_reason::UNREADABLE, Arc::clone(message));
                (unreadable, role)
            }
            Why::Uncertain(last) => {
                let gvk = &self.last.gvk;
                let scope = Scope::of(&self.last.namespace);
                let found = coverage.of(Some(&gvk.group), &gvk.kind, scope);
                let verdict = absence::of_observed(&found, &gvk.kind, last);
                (verdict, role)
            }
        }
    }
}

fn gone(since_ms: i64) -> Verdict {
    let message = format!("it no longer exists in the cluster{}", since(since_ms));
    Verdict {
        since_ms: Some(since_ms),
        ..Verdict::host(Phase::NotPresent, host_reason::GONE, message)
    }
}

fn missing(inventory: &str, since_ms: i64) -> Verdict {
    Verdict {
        message: format!("{inventory} lists it, and the cluster does not have it").into(),
        since_ms: Some(since_ms),
        ..Verdict::not_present()
    }
}

/// ` (since TIME)`; empty if the time cannot be formatted.
fn since(unix_ms: i64) -> String {
    moment(unix_ms).map_or_else(String::new, |time| format!(" (since {time:.0})"))
}
