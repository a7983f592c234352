//! The one way through the house: what clusters report becomes verdicts becomes what queries see.
//!
//! ```text
//! ClusterEvent ─▶ appcontext (kept) ─▶ interpreters (judged) ─▶ status::project ─▶ Board
//! ```
//!
//! One thread at a time walks it, so a place is never judged twice at once; the workers of the
//! interpreter room share the judging itself. Queries never wait for it: they read the board.

mod affected;
mod again;
mod known;
mod place;
mod records;
mod swap;
mod walk;

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context as _;
use kindsight_appcontext::{AppContexts, Recorded, Records};
use kindsight_clusters::ClusterEvent;
use kindsight_interpreter::Interpreters;
use kindsight_model::{Bundle, ClusterName, ContextId, DeploymentId};
use kindsight_status::Board;
use kindsight_store::Store;

use crate::road::known::{By, Known};
use crate::road::place::Place;
use crate::road::swap::Swap;

pub(crate) use known::Held;
pub(crate) use swap::Progress;
pub(crate) use walk::{Unsynced, walk};

/// Everything the road needs to keep between two events.
pub(crate) struct Road {
    contexts: AppContexts,
    records: Records,
    interpreters: Arc<Interpreters>,
    board: Arc<Board>,
    known: HashMap<ContextId, Known>,
    /// Reports that were taken in so far.
    reports: u64,
    swap: Swap,
}

impl Road {
    /// A road that knows nothing yet.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        interpreters: Arc<Interpreters>,
        board: Arc<Board>,
    ) -> Self {
        Self {
            contexts: AppContexts::new(Arc::clone(&store)),
            records: Records::new(store),
            swap: Swap::new(interpreters.published()),
            interpreters,
            board,
            known: HashMap::new(),
            reports: 0,
        }
    }

    /// Shows everything the store holds: after it, queries are answered with what was last known.
    pub(crate) fn load(&mut self, now_ms: i64) -> anyhow::Result<()> {
        records::show(&self.records, &self.board)?;
        let by = By {
            interpreters: &self.interpreters,
            // A set that is published meanwhile is followed slice by slice.
            set: self.swap.goal(),
        };
        for id in self.contexts.list().context("list the AppContexts")?.ids {
            let snapshot = self
                .contexts
                .read(&id)
                .with_context(|| format!("read AppContext {id}"))?;
            if let Some(snapshot) = snapshot {
                let known = Known::new(snapshot, by, now_ms);
                show(&self.board, &id, &known);
                self.known.insert(id, known);
            }
        }
        Ok(())
    }

    /// Takes in one event. What cannot be used is said and costs nothing else.
    pub(crate) fn take(&mut self, event: ClusterEvent, now_ms: i64) {
        match event {
            ClusterEvent::Bundle { cluster, bundle } => self.bundle(&cluster, bundle, now_ms),
            ClusterEvent::Gone {
                cluster,
                deployment,
            } => {
                tracing::info!(%cluster, %deployment, "cluster no longer reports on this app");
                self.change(&deployment, &cluster, |place, _| place.gone(now_ms));
            }
            ClusterEvent::Unreadable {
                cluster,
                deployment,
                origin,
                error,
            } => {
                tracing::warn!(%cluster, origin, error, "report not readable");
                if let Some(deployment) = deployment {
                    self.change(&deployment, &cluster, |place, _| {
                        place.fault(&error, now_ms)
                    });
                }
            }
            ClusterEvent::Stale { cluster, reason } => {
                tracing::warn!(%cluster, reason, "cluster cannot be reached");
                self.change_all(&cluster, |place| place.unreachable(now_ms));
            }
            ClusterEvent::Synced { cluster } => {
                self.change_all(&cluster, |place| place.synced(now_ms));
            }
        }
    }

    /// Keeps a bundle, and judges it where it says something new.
    fn bundle(&mut self, cluster: &ClusterName, bundle: Bundle, now_ms: i64) {
        let DeploymentId { context, app } = &bundle.deployment;
        match self
            .contexts
            .record_bundle(context, app, cluster, &bundle.status_json)
        {
            Ok(Recorded::Written(_) | Recorded::Unchanged) => {}
            Ok(Recorded::NotFound) => {
                tracing::warn!(%cluster, deployment = %bundle.deployment, "report on an app that no AppContext sends to this cluster");
                return;
            }
            Err(error) => {
                // Not kept, and shown all the same: what is true now matters more than what a
                // restart would remember, and the next report tries again.
                tracing::error!(%cluster, deployment = %bundle.deployment, %error, "report not kept");
            }
        }
        let deployment = bundle.deployment.clone();
        let mut is_set_back = false;
        self.change(&deployment, cluster, |place, by| {
            is_set_back = place.report(bundle, by, now_ms);
            true
        });
        self.note_report(&deployment.context, is_set_back);
    }

    /// Notes whose report was the last one: after a swap its turn comes first.
    fn note_report(&mut self, context: &ContextId, is_set_back: bool) {
        self.reports += 1;
        if let Some(known) = self.known.get_mut(context) {
            let before = std::mem::replace(&mut known.last_report, self.reports);
            let after = self.reports;
            self.swap.reported(context, before, after, is_set_back);
        }
    }

    /// Judges again what asked for it, by the set it is shown by. Answers when that will be next.
    pub(crate) fn look_again(&mut self, now_ms: i64) -> Option<i64> {
        let mut next: Option<i64> = None;
        for (id, known) in &mut self.known {
            if known.look_again(&self.interpreters, now_ms) {
                show(&self.board, id, known);
            }
            next = next.into_iter().chain(known.look_again_at_ms()).min();
        }
        next
    }

    /// Whether something is still shown by another set than the one that is published.
    pub(crate) fn swap_pending(&self) -> bool {
        self.swap.is_pending(&self.interpreters.published())
    }

    /// Judges again, after a swap, about [`swap::SLICE_OBJECTS`] objects of those it affects. Does nothing
    /// where nothing is pending. Call it, with events in between, until nothing is.
    pub(crate) fn follow_swap(&mut self, now_ms: i64) {
        let (known, interpreters) = (&mut self.known, &self.interpreters);
        for id in self.swap.slice(known, interpreters, now_ms) {
            if let Some(known) = self.known.get(&id) {
                show(&self.board, &id, known);
                std::thread::yield_now();
            }
        }
        self.swap.shown();
    }

    /// How what is shown follows what is published, for other threads to read.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        self.swap.progress()
    }

    /// Everything the clusters reported, in order of place. It is shared, not copied.
    pub(crate) fn inventory(&self) -> Vec<Held> {
        let known = self.known.iter();
        let mut held: Vec<Held> = known.flat_map(|(id, known)| known.held(id)).collect();
        held.sort_by(|a, b| a.place.cmp(&b.place));
        held
    }

    /// Changes one place, and shows it where `change` says that it did.
    fn change(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        change: impl FnOnce(&mut Place, By<'_>) -> bool,
    ) {
        let DeploymentId { context, app } = deployment;
        if let Some(known) = self.known.get_mut(context)
            && known.change(app, cluster, &self.interpreters, change)
        {
            show(&self.board, context, known);
        }
    }

    /// Changes every place in a cluster, and shows the contexts in which `change` says that it did.
    fn change_all(&mut self, cluster: &ClusterName, change: impl Fn(&mut Place) -> bool) {
        for (id, known) in &mut self.known {
            if known.change_all(cluster, &change) {
                show(&self.board, id, known);
            }
        }
    }
}

/// Shows a context as it stands now.
fn show(board: &Board, id: &ContextId, known: &Known) {
    let view = Arc::new(known.view(id));
    // The old view is dropped after queries may go on.
    drop(board.publish(|shown| shown.contexts.insert(id.clone(), view)));
}

#[cfg(test)]
mod tests;
