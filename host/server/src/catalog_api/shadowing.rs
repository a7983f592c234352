//! Shadow runs: of candidates, and of components that are not stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use kindsight_api::interpreters::{LiveCondition, Refusal, ShadowBase, ShadowReport, ShadowRun};
use kindsight_catalog::{Catalog, Shadow};
use kindsight_interpreter::{
    Comparison, Interpreter, Limits, ReportedGroup, compare, lower_priority,
};
use kindsight_model::{InterpreterName, SubjectSet};
use tokio::sync::Semaphore;

use super::{CatalogApi, answers, stopping};
use crate::clock::now_ms;

/// The version that a shadow run tries.
pub(super) enum Tried {
    /// The candidate of the name.
    Candidate {
        name: InterpreterName,
        run: ShadowRun,
        condition: LiveCondition,
    },
    /// A component that is not stored.
    Component {
        interpreter: Arc<Interpreter>,
        base: ShadowBase,
    },
}

impl Tried {
    fn name(&self) -> &InterpreterName {
        match self {
            Self::Candidate { name, .. } => name,
            Self::Component { interpreter, .. } => &interpreter.by().name,
        }
    }

    /// The sets that are compared.
    fn sets(&self, catalog: &Catalog) -> Result<Shadow, Refusal> {
        match self {
            Self::Candidate {
                name,
                run,
                condition,
            } => {
                catalog.when(condition.clone()).check_name(name)?;
                catalog.shadow(name, run)
            }
            Self::Component { interpreter, base } => catalog.shadow_component(interpreter, *base),
        }
    }

    /// Records the faults of a candidate. A component that is not stored cannot be promoted.
    fn note(&self, catalog: &Catalog, sets: &Shadow, comparison: &Comparison) {
        let Self::Candidate { name, .. } = self else {
            return;
        };
        let faults = comparison.new.faults_total();
        if let Err(error) = catalog.note_shadow(name, &sets.candidate.digest, faults) {
            // A promotion then lacks only the warning.
            tracing::warn!(%name, %error, "the result of a shadow run was not stored");
        }
    }
}

impl CatalogApi {
    /// Loads a component without storing it, and compares it with the base. It waits for a slot of a load, and then for
    /// one of a shadow run.
    pub(super) async fn compared(
        &self,
        component: Vec<u8>,
        base: ShadowBase,
        visible: SubjectSet,
    ) -> Result<ShadowReport, Refusal> {
        let catalog = Arc::clone(&self.catalog);
        let step = move || catalog.load_bytes(&component);
        let interpreter = self.blocking(&self.loads, step).await?;
        self.shadow(Tried::Component { interpreter, base }, visible)
            .await
    }

    /// Compares a version with the base. The comparison ends early if the client disconnects or the server stops.
    pub(super) async fn shadow(
        &self,
        tried: Tried,
        visible: SubjectSet,
    ) -> Result<ShadowReport, Refusal> {
        let client = ClientGone::default();
        let permit = self.permit(&self.shadows).await?;
        let mut objects = self.objects(&visible).await?;
        // Not even their number is shown.
        objects.retain(|group| group.label.is_some());
        let (catalog, limits) = (Arc::clone(&self.catalog), self.limits.clone());
        let (is_gone, shutdown) = (Arc::clone(&client.is_gone), self.shutdown.clone());
        let once = Arc::new(Semaphore::new(1));
        let report = self.blocking(&once, move || {
            let _permit = permit;
            let sets = tried.sets(&catalog)?;
            let should_stop = || is_gone.load(Ordering::Relaxed) || shutdown.is_cancelled();
            let comparison = compare_behind_queries(&limits, &sets, &objects, &should_stop)?;
            if !comparison.is_complete {
                return Err(stopping());
            }
            tried.note(&catalog, &sets, &comparison);
            Ok(answers::shadow(tried.name(), &sets, comparison))
        });
        report.await
    }
}

/// Sets its flag when it is dropped, because the client has disconnected.
#[derive(Default)]
struct ClientGone {
    is_gone: Arc<AtomicBool>,
}

impl Drop for ClientGone {
    fn drop(&mut self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }
}

/// Judges all reported objects by both sets, on a thread of lower priority than queries.
fn compare_behind_queries(
    limits: &Limits,
    shadow: &Shadow,
    objects: &[ReportedGroup],
    should_stop: &(dyn Fn() -> bool + Sync),
) -> Result<Comparison, Refusal> {
    let judging = || {
        lower_priority();
        let (before, after) = (&shadow.before, &shadow.after);
        compare(limits, before, after, objects, now_ms(), &should_stop)
    };
    let panicked = || Refusal::Failed("the thread that compared panicked".to_owned());
    thread::scope(|scope| scope.spawn(judging).join()).map_err(|_| panicked())
}
