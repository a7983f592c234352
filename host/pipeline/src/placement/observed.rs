//! Objects of an application that was found, which existed or which an inventory lists, and which are not in its last
//! report.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{
    Absence, Coverage, Identity, KindCoverage, KindState, MissingResource, Report, Scope, Verdict,
    host_reason,
};
use kindsight_status::{ClusterView, LastKnown, ResourceView, Role, Unseen, Why};

use super::held_report::HeldReport;

mod listed;

/// Maximum number of objects of one placement that are listed although they do not exist. Above it, the placement
/// forgets the objects that have been gone longest.
const GONE_MAX: usize = 1000;

/// Time after which an object does not exist whose Kind the server does not serve, in milliseconds.
const KIND_REMOVED_AFTER_MS: i64 = 10 * 60 * 1000;

type Identities = HashSet<Identity, foldhash::quality::RandomState>;

/// Objects that existed or that an inventory lists, and that the last report does not have.
#[derive(Default)]
pub(super) struct Observed {
    absent: BTreeMap<Identity, Absent>,
    /// The resources that inventories list and that the cluster does not have.
    listed: BTreeMap<Identity, MissingResource>,
}

/// An object that the last report does not have.
struct Absent {
    last: LastKnown,
    /// Its last verdict.
    verdict: Verdict,
    /// Its owner in the application.
    owner: Option<Identity>,
    is_hook: bool,
    /// True if the object was decoded, so that its deletion is news.
    is_known: bool,
    /// True if the source knows that it does not exist.
    is_removed: bool,
    /// When the report first lacked it, in Unix milliseconds; none before that is settled.
    missing_ms: Option<i64>,
    /// When its Kind counts as removed, in Unix milliseconds; none while the server serves the Kind.
    kind_removed_ms: Option<i64>,
    /// Since when it does not exist, in Unix milliseconds.
    gone_ms: Option<i64>,
    /// The inventory that lists it, as text for readers.
    inventory: Option<Arc<str>>,
}

/// Fate of an object that the report does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It does not exist.
    Gone,
    /// It is outside the selector, or does not exist.
    Left,
    /// It may exist.
    Uncertain,
}

impl Absent {
    fn of(resource: &ResourceView, view: &ClusterView, is_last_known: bool) -> Self {
        let owner = resource.owner.and_then(|owner| view.resources().get(owner));
        Self {
            last: LastKnown::of(resource),
            verdict: resource.verdict.clone(),
            owner: owner.map(ResourceView::identity),
            is_hook: resource.role == Role::Hook,
            is_known: resource.object.is_some() || is_last_known,
            is_removed: false,
            missing_ms: None,
            kind_removed_ms: None,
            gone_ms: None,
            inventory: None,
        }
    }

    /// A resource that an inventory lists and that was never seen.
    fn never_seen(resource: &MissingResource) -> Self {
        let message = format!(
            "{} lists it, and whether it exists is not known yet",
            resource.inventory
        );
        Self {
            last: LastKnown {
                gvk: resource.gvk.clone(),
                namespace: Arc::clone(&resource.namespace),
                name: Arc::clone(&resource.name),
                object: None,
            },
            verdict: Verdict::unknown(host_reason::NOT_REPORTED, message),
            owner: None,
            is_hook: false,
            is_known: false,
            is_removed: false,
            missing_ms: None,
            kind_removed_ms: None,
            gone_ms: None,
            inventory: Some(Arc::clone(&resource.inventory)),
        }
    }

    fn found_in(&self, coverage: &Coverage) -> KindCoverage {
        let gvk = &self.last.gvk;
        let scope = Scope::of(&self.last.namespace);
        coverage.of(Some(&gvk.group), &gvk.kind, scope)
    }

    /// Returns whether it is still wanted, or its deletion is listed for a while. The deletion of a child is a part of
    /// the deletion of its owner, and tools delete a hook after its run.
    fn is_news(&self) -> bool {
        let is_deletion_listed = self.is_known && self.owner.is_none() && !self.is_hook;
        self.inventory.is_some() || is_deletion_listed
    }

    fn settle(&mut self, coverage: &Coverage, now_ms: i64) -> Fate {
        let missing_ms = *self.missing_ms.get_or_insert(now_ms);
        let found = self.found_in(coverage);
        let is_unserved = found.state == KindState::Unserved;
        let kind_removed_ms = missing_ms.saturating_add(KIND_REMOVED_AFTER_MS);
        self.kind_removed_ms = is_unserved.then_some(kind_removed_ms);
        if self.is_removed {
            return Fate::Gone;
        }
        match found.state.absence() {
            Absence::Conclusive => Fate::Gone,
            Absence::Unselected => Fate::Left,
            Absence::Awaited if is_unserved && kind_removed_ms <= now_ms => Fate::Gone,
            Absence::Awaited | Absence::Inconclusive | Absence::Unreported => Fate::Uncertain,
        }
    }

    fn unseen(&self) -> Unseen {
        Unseen {
            last: self.last.clone(),
            why: match (self.gone_ms, &self.inventory) {
                (Some(since_ms), Some(inventory)) => Why::Missing {
                    inventory: Arc::clone(inventory),
                    since_ms,
                },
                (Some(since_ms), None) => Why::Gone(since_ms),
                (None, _) => Why::Uncertain(self.verdict.clone()),
            },
            owner: self.owner.clone(),
            is_hook: self.is_hook,
        }
    }
}

impl Observed {
    /// The objects that were gone or missing when the last-known state was written. A missing resource counts again
    /// when an inventory lists it.
    pub(super) fn restored(view: &ClusterView, since_ms: i64) -> Self {
        let gone = view.resources().iter();
        let gone = gone.filter(|resource| matches!(resource.role, Role::Gone | Role::Missing));
        let gone = gone.map(|resource| {
            let gone_ms = resource.since_ms.or(Some(since_ms));
            let absent = Absent {
                gone_ms,
                ..Absent::of(resource, view, true)
            };
            (resource.identity(), absent)
        });
        Self {
            absent: gone.collect(),
            listed: BTreeMap::new(),
        }
    }

    /// Compares a new report with the last view: adds the objects that the report lacks, and removes the objects
    /// that it has. Returns the objects that left the application.
    pub(super) fn observe(
        &mut self,
        report: &Report,
        view: Option<&ClusterView>,
        is_last_known: bool,
    ) -> Vec<Identity> {
        let objects = report.objects.iter().map(Identity::from);
        let rejected = report.rejected.iter();
        let rejected = rejected.filter_map(|item| item.identity.as_ref().map(Identity::from));
        let present: Identities = objects.chain(rejected).collect();
        self.absent
            .retain(|identity, _| !present.contains(identity));
        for (view, resource) in view.iter().flat_map(|view| {
            view.resources()
                .iter()
                .map(move |resource| (view, resource))
        }) {
            let is_listed = matches!(resource.role, Role::Unsent | Role::Hook);
            let identity = resource.identity();
            if is_listed && !present.contains(&identity) {
                let inventory = self
                    .listed
                    .get(&identity)
                    .map(|listed| Arc::clone(&listed.inventory));
                let absent = || Absent {
                    inventory,
                    ..Absent::of(resource, view, is_last_known)
                };
                self.absent.entry(identity).or_insert_with(absent);
            }
        }
        self.remove(report)
    }

    /// Follows the removals that the source knows. Returns the objects that left the application.
    fn remove(&mut self, report: &Report) -> Vec<Identity> {
        let mut left = Vec::new();
        for (identity, removal) in &report.removed {
            if !removal.is_gone() {
                if self.absent.remove(identity).is_some() {
                    left.push(identity.clone());
                }
            } else if let Some(absent) = self.absent.get_mut(identity) {
                absent.is_removed = true;
            }
        }
        left
    }

    /// Decides the fate of each object by the coverage. Returns whether the view changes.
    pub(super) fn settle(
        &mut self,
        report: &HeldReport,
        left: &mut Vec<Identity>,
        now_ms: i64,
    ) -> bool {
        let coverage = &report.coverage;
        let mut is_changed = self.add_listed(report);
        let before = self.absent.len();
        self.absent.retain(|identity, absent| {
            if absent.gone_ms.is_some() {
                return true;
            }
            match absent.settle(coverage, now_ms) {
                Fate::Uncertain => true,
                Fate::Gone => {
                    absent.gone_ms = Some(now_ms);
                    is_changed = true;
                    absent.is_news()
                }
                Fate::Left => {
                    if absent.is_known {
                        left.push(identity.clone());
                    }
                    false
                }
            }
        });
        is_changed |= self.absent.len() < before;
        self.limit();
        is_changed
    }

    /// Forgets the objects that are gone for long enough. Returns whether there were any.
    pub(super) fn forget(&mut self, gone_for: Duration, now_ms: i64) -> bool {
        let before = self.absent.len();
        self.absent.retain(|_, absent| {
            absent
                .gone_ms
                .is_none_or(|at| absent.inventory.is_some() || forget_at(at, gone_for) > now_ms)
        });
        self.absent.len() < before
    }

    /// Forgets the objects that are gone longest, above [`GONE_MAX`].
    fn limit(&mut self) {
        let gone = self
            .absent
            .iter()
            .filter(|(_, absent)| absent.inventory.is_none())
            .filter_map(|(identity, absent)| Some((absent.gone_ms?, identity)));
        let mut gone: Vec<(i64, Identity)> =
            gone.map(|(at, identity)| (at, identity.clone())).collect();
        let Some(more) = gone.len().checked_sub(GONE_MAX).filter(|more| *more > 0) else {
            return;
        };
        gone.sort();
        for (_, identity) in gone.into_iter().take(more) {
            self.absent.remove(&identity);
        }
    }

    /// When the first object is forgotten or counts as gone, in Unix milliseconds.
    pub(super) fn due_ms(&self, gone_for: Duration) -> Option<i64> {
        let due = self
            .absent
            .values()
            .filter_map(|absent| match absent.gone_ms {
                Some(_) if absent.inventory.is_some() => None,
                Some(gone_ms) => Some(forget_at(gone_ms, gone_for)),
                None => absent.kind_removed_ms,
            });
        due.min()
    }

    /// Returns whether no object is missing, and no inventory lists one.
    pub(super) fn is_empty(&self) -> bool {
        self.absent.is_empty() && self.listed.is_empty()
    }

    /// The objects that may exist, each with the coverage of its Kind.
    pub(super) fn uncertain(
        &self,
        coverage: &Coverage,
    ) -> impl Iterator<Item = (&Identity, KindCoverage)> {
        let uncertain = self
            .absent
            .iter()
            .filter(|(_, absent)| absent.gone_ms.is_none());
        uncertain.map(|(identity, absent)| (identity, absent.found_in(coverage)))
    }

    pub(super) fn unseen(&self) -> impl Iterator<Item = Unseen> {
        self.absent.values().map(Absent::unseen)
    }
}

/// When an object is forgotten that is gone since then.
fn forget_at(gone_ms: i64, gone_for: Duration) -> i64 {
    let gone_for = i64::try_from(gone_for.as_millis()).unwrap_or(i64::MAX);
    gone_ms.saturating_add(gone_for)
}
