//! The scopes of one cluster, and the writes that their status needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_read_model::{ChangedSubjects, ReadModel};
use kindsight_status::{ApplicationKey, ChangedSubject, ConnectionState};

use crate::SCOPES_MAX;
use crate::body::{body, forms, set_times};
use crate::health::ScopeStatus;
use crate::scope::{HealthScope, ScopePlace, digest};

/// Time after which a status that another client changed is written again, in milliseconds. Two writers with different
/// results write once in this time, not without end.
const REPAIR_AFTER_MS: i64 = 60_000;
/// Time after which a failed write is tried again, in milliseconds.
const RETRY_AFTER_MS: i64 = 30_000;
/// Time for which a stale report, or a missing one, does not change the status, in milliseconds. A restart of this process
/// must not change the status of every scope twice.
const SETTLE_MS: i64 = 60_000;
/// The same for a scope without workloads in a cluster that has reported, in milliseconds. The watch of scopes is often
/// faster than the watch of the workloads.
const EMPTY_MS: i64 = 5_000;

/// The scopes of one cluster.
#[derive(Debug)]
pub struct ScopeBook {
    cluster: ClusterName,
    scopes: BTreeMap<ScopePlace, Followed>,
}

/// A scope and its last write.
#[derive(Debug)]
struct Followed {
    scope: Arc<HealthScope>,
    /// The time of its first appearance, in Unix milliseconds.
    seen_ms: i64,
    /// True if its status must be compared again.
    is_changed: bool,
    status: Option<ScopeStatus>,
    written: Option<Written>,
}

/// The last write of a status.
#[derive(Debug)]
struct Written {
    at_ms: i64,
    /// Digests of the forms of the status.
    forms: [u64; 2],
    /// False if the write failed.
    is_done: bool,
}

/// The write that an object needs.
enum Needed {
    /// The object has the status.
    Nothing,
    /// The last write was too short a time ago.
    Later,
    Now(StatusUpdate),
}

/// A status to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusUpdate {
    /// The scope.
    pub place: ScopePlace,
    /// The bodies in the order of the attempts. The next body is for an API server whose schema of the Kind does not declare
    /// members of the previous body.
    pub bodies: [String; 2],
    forms: [u64; 2],
}

impl ScopeBook {
    /// The book of a cluster, without scopes.
    pub fn new(cluster: ClusterName) -> Self {
        Self {
            cluster,
            scopes: BTreeMap::new(),
        }
    }

    /// Takes all scopes of the cluster. Returns whether some are left out because of [`SCOPES_MAX`].
    pub fn set_scopes(&mut self, scopes: &[Arc<HealthScope>], now_ms: i64) -> bool {
        let mut after: BTreeMap<ScopePlace, Arc<HealthScope>> = BTreeMap::new();
        after.extend(scopes.iter().map(|it| (it.place.clone(), Arc::clone(it))));
        let is_over = after.len() > SCOPES_MAX;
        let after: BTreeMap<_, _> = after.into_iter().take(SCOPES_MAX).collect();
        self.scopes.retain(|place, followed| {
            after
                .get(place)
                .is_some_and(|scope| scope.uid == followed.scope.uid)
        });
        for (place, scope) in after {
            let followed = self.scopes.entry(place).or_insert_with(|| Followed {
                scope: Arc::clone(&scope),
                seen_ms: now_ms,
                is_changed: true,
                status: None,
                written: None,
            });
            followed.is_changed |= followed.scope != scope;
            followed.scope = scope;
        }
        is_over
    }

    /// Notes which subjects of the read model changed. Returns whether a scope is among them.
    pub fn note_changed(&mut self, changed: &ChangedSubjects) -> bool {
        let mut is_any = false;
        for followed in self.scopes.values_mut() {
            let name = followed.scope.application();
            let is_in = name.is_some_and(|name| {
                let key = ApplicationKey::Found(name.clone());
                changed.contains(&ChangedSubject::Application(key))
            });
            followed.is_changed |= is_in;
            is_any |= is_in;
        }
        is_any
    }

    /// Computes the status of each changed scope, and returns the writes for objects with another status.
    ///
    /// The caller sends them, and calls [`written`](Self::written) with each result. It calls this method after each
    /// change, and every few seconds.
    pub fn updates(&mut self, model: &ReadModel, now_ms: i64) -> Vec<StatusUpdate> {
        let is_connected = model.inspect(|snapshot| {
            let mut connections = snapshot.connections();
            let connection = connections.find(|(name, _)| **name == self.cluster);
            connection.is_some_and(|(_, it)| it.state == ConnectionState::Connected)
        });
        let mut updates = Vec::new();
        for followed in self.scopes.values_mut().filter(|it| it.is_changed) {
            let name = followed.scope.application();
            let view = name.and_then(|name| model.application(&ApplicationKey::Found(name)));
            let status = ScopeStatus::of(&followed.scope, &self.cluster, view.as_deref());
            let settled_ms = followed.settled_ms(&status, is_connected);
            if now_ms >= settled_ms {
                match followed.needed(&status, now_ms) {
                    Needed::Nothing => followed.is_changed = false,
                    Needed::Later => {}
                    Needed::Now(update) => updates.push(update),
                }
            }
            followed.status = Some(status);
        }
        updates
    }

    /// Notes the result of a write.
    pub fn written(&mut self, update: &StatusUpdate, is_done: bool, now_ms: i64) {
        if let Some(followed) = self.scopes.get_mut(&update.place) {
            // The event of the own write compares the status again.
            followed.is_changed = !is_done;
            followed.written = Some(Written {
                at_ms: now_ms,
                forms: update.forms,
                is_done,
            });
        }
    }

    /// The last computed status of each scope.
    pub fn statuses(&self) -> impl Iterator<Item = (&ScopePlace, &ScopeStatus)> {
        let scopes = self.scopes.iter();
        scopes.filter_map(|(place, followed)| Some((place, followed.status.as_ref()?)))
    }
}

impl Followed {
    /// The earliest time for a write of a status, in Unix milliseconds.
    fn settled_ms(&self, status: &ScopeStatus, is_connected: bool) -> i64 {
        match (status.stale_since_ms, status.is_reported) {
            (Some(since_ms), _) => since_ms.max(self.seen_ms).saturating_add(SETTLE_MS),
            (None, true) => 0,
            (None, false) if is_connected => self.seen_ms.saturating_add(EMPTY_MS),
            (None, false) => self.seen_ms.saturating_add(SETTLE_MS),
        }
    }

    /// The write that the object needs.
    fn needed(&self, status: &ScopeStatus, now_ms: i64) -> Needed {
        let forms = forms(&self.scope, status);
        let digests = forms.each_ref().map(digest);
        if digests.contains(&self.scope.status_digest) {
            return Needed::Nothing;
        }
        if let Some(written) = self.written.as_ref().filter(|it| it.forms == digests) {
            let wait_ms = if written.is_done {
                REPAIR_AFTER_MS
            } else {
                RETRY_AFTER_MS
            };
            if now_ms < written.at_ms.saturating_add(wait_ms) {
                return Needed::Later;
            }
        }
        let bodies = forms.map(|mut form| {
            set_times(&self.scope, &mut form, now_ms);
            body(&self.scope, &form)
        });
        Needed::Now(StatusUpdate {
            place: self.scope.place.clone(),
            bodies,
            forms: digests,
        })
    }
}

#[cfg(test)]
mod tests;
