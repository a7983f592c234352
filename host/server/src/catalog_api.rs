//! The catalog API: answers and commands about interpreters.

mod answers;
mod recording;
mod shadowing;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kindsight_api::interpreters::{
    CommandAnswer, InterpreterDetail, InterpreterList, LiveCondition, MissingRules, Outcome,
    RecordRefusal, Recorded, RecordedObject, Refusal, RemovedNames, ShadowBase, ShadowReport,
};
use kindsight_catalog::{Catalog, Conditional, IncomingComponent, Promote};
use kindsight_interpreter::{Limits, ReportedGroup};
use kindsight_model::{ClusterName, InterpreterName, Source, SubjectSet};
use kindsight_pipeline::{Progress, ReportedObjects, ReportedRequests};
use kindsight_read_model::ReadModel;
use kindsight_rest::{Command, InterpreterCatalog, Upload};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::missing_rules;
use shadowing::Tried;

/// Maximum number of concurrent loads, including loads whose client has disconnected: each may compile, in a
/// process of up to 2 GiB. Further loads wait.
const LOADS_MAX: usize = 2;

/// Maximum number of concurrent shadow runs: each keeps a processor busy. Further ones wait.
const SHADOWS_MAX: usize = 1;

/// Maximum number of concurrent trials of settings and of promotions: each takes a processor for two or ten seconds at
/// most. Further ones wait.
const TRIALS_MAX: usize = 1;

/// Maximum number of requests that count the Kinds without a rule at a time: each reads all rows of the read model.
/// Further ones wait, and delay no command.
const COUNTS_MAX: usize = 1;

/// Maximum number of concurrent other commands, including commands whose client has disconnected. They do not wait for
/// loads and shadow runs. Each takes one of the 64 threads for blocking steps.
const QUICK_COMMANDS_MAX: usize = 16;

/// Maximum time that a command waits for its effect on the read model.
const FOLLOWED_MAX: Duration = Duration::from_secs(2);

/// Answers requests about interpreters.
pub(crate) struct CatalogApi {
    catalog: Arc<Catalog>,
    limits: Limits,
    reported: ReportedRequests,
    read_model: ReadModel,
    progress: Arc<Progress>,
    loads: Arc<Semaphore>,
    shadows: Arc<Semaphore>,
    trials: Arc<Semaphore>,
    counts: Arc<Semaphore>,
    quick: Arc<Semaphore>,
    shutdown: CancellationToken,
}

impl CatalogApi {
    /// Cancelling `shutdown` aborts every command.
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        limits: Limits,
        reported: ReportedRequests,
        read_model: ReadModel,
        progress: Arc<Progress>,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            catalog,
            limits,
            reported,
            read_model,
            progress,
            loads: Arc::new(Semaphore::new(LOADS_MAX)),
            shadows: Arc::new(Semaphore::new(SHADOWS_MAX)),
            trials: Arc::new(Semaphore::new(TRIALS_MAX)),
            counts: Arc::new(Semaphore::new(COUNTS_MAX)),
            quick: Arc::new(Semaphore::new(QUICK_COMMANDS_MAX)),
            shutdown,
        }
    }

    async fn carry_out(
        &self,
        name: InterpreterName,
        command: Command,
        condition: LiveCondition,
        visible: SubjectSet,
    ) -> Result<CommandAnswer, Refusal> {
        if let Command::Shadow(run) = command {
            let tried = Tried::Candidate {
                name,
                run,
                condition,
            };
            return self.shadow(tried, visible).await.map(CommandAnswer::Shadow);
        }
        let permits = match command {
            Command::Load(_) => &self.loads,
            _ => &self.quick,
        };
        // New settings are tried on what the clusters reported.
        let (trial, reported) = match command {
            Command::Settings(Some(_)) => {
                let trial = self.permit(&self.trials).await?;
                (Some(trial), self.objects(&visible).await?)
            }
            // The catalog tries the candidate.
            Command::Promote(_) => (Some(self.permit(&self.trials).await?), Vec::new()),
            _ => (None, Vec::new()),
        };
        let catalog = Arc::clone(&self.catalog);
        let step = move || {
            let _trial = trial;
            execute(&catalog.when(condition), &name, command, &reported)
        };
        self.outcome(permits, step).await
    }

    /// Runs a command that blocks, and waits for its effect.
    async fn outcome(
        &self,
        permits: &Arc<Semaphore>,
        step: impl FnOnce() -> Result<Outcome, Refusal> + Send + 'static,
    ) -> Result<CommandAnswer, Refusal> {
        let outcome = self.blocking(permits, step).await?;
        self.followed().await;
        Ok(CommandAnswer::Outcome(outcome))
    }

    /// Runs a blocking step as soon as a permit is free. If the server stops first, this function returns, and the step
    /// ends on its own thread.
    async fn blocking<T: Send + 'static>(
        &self,
        permits: &Arc<Semaphore>,
        step: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let permit = self.permit(permits).await?;
        let step = move || {
            // Held until the step ends, even if its client has gone.
            let _permit = permit;
            step()
        };
        let done = kindsight_rest::spawn_blocking(step);
        let done = self.shutdown.run_until_cancelled(done).await;
        let panicked = |_| Refusal::Failed("the command panicked".to_owned());
        done.ok_or_else(stopping)?.map_err(panicked)?
    }

    async fn permit(&self, permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Refusal> {
        let permit = Arc::clone(permits).acquire_owned();
        let permit = self.shutdown.run_until_cancelled(permit).await;
        permit.and_then(Result::ok).ok_or_else(stopping)
    }

    /// Waits until the read model follows the published set, so that a status query after a command sees its
    /// effect. At most [`FOLLOWED_MAX`]: if many objects are judged again, the answer comes first.
    async fn followed(&self) {
        let published = self.catalog.interpreters().published().generation();
        // A timeout is fine as well.
        let _ = tokio::time::timeout(FOLLOWED_MAX, self.progress.reached(published)).await;
    }

    /// Everything that the clusters reported.
    async fn reported_objects(&self) -> Result<Vec<ReportedObjects>, Refusal> {
        let gone = || {
            Refusal::Failed(
                "the pipeline has stopped; the reported objects cannot be read".to_owned(),
            )
        };
        let (reply, reported) = oneshot::channel();
        self.reported.send(reply).await.map_err(|_| gone())?;
        reported.await.map_err(|_| gone())
    }

    /// Makes a fixture of a reported object.
    async fn recorded(
        &self,
        cluster: ClusterName,
        object: RecordedObject,
    ) -> Result<Recorded, RecordRefusal> {
        let busy = |refusal: Refusal| RecordRefusal::Busy(refusal.to_string());
        let reported = self.reported_objects().await.map_err(busy)?;
        let set = self.catalog.interpreters().published();
        let limits = self.limits.clone();
        let step = move || {
            let recorded = recording::record(&limits, &set, reported, &cluster, &object);
            Ok(recorded)
        };
        self.blocking(&self.quick, step).await.map_err(busy)?
    }

    /// All objects that the clusters reported. Objects of subjects outside `visible` have no label.
    async fn objects(&self, visible: &SubjectSet) -> Result<Vec<ReportedGroup>, Refusal> {
        let reported = self.reported_objects().await?.into_iter();
        let visible = self.read_model.visible_to(visible).application_names();
        let reported = reported.map(|group| {
            let application = visible.get(&group.application);
            ReportedGroup {
                label: application.map(|_| group.placement.into()),
                application: application.map(|name| name.as_str().into()),
                objects: group.objects,
                related: group.related,
                covered: group.covered,
            }
        });
        Ok(reported.collect())
    }
}

impl InterpreterCatalog for CatalogApi {
    fn list(&self) -> InterpreterList {
        answers::list(&self.catalog)
    }

    fn inspect(&self, name: &InterpreterName) -> Option<InterpreterDetail> {
        answers::detail(&self.catalog, &self.limits, name)
    }

    fn run(
        &self,
        name: InterpreterName,
        command: Command,
        condition: LiveCondition,
        visible: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<CommandAnswer, Refusal>> + Send + '_>> {
        Box::pin(self.carry_out(name, command, condition, visible.clone()))
    }

    fn load(
        &self,
        upload: Upload,
    ) -> Pin<Box<dyn Future<Output = Result<CommandAnswer, Refusal>> + Send + '_>> {
        let catalog = Arc::clone(&self.catalog);
        let step = move || catalog.admit(&incoming(None, upload));
        Box::pin(self.outcome(&self.loads, step))
    }

    fn compare(
        &self,
        component: Vec<u8>,
        base: ShadowBase,
        visible: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<ShadowReport, Refusal>> + Send + '_>> {
        Box::pin(self.compared(component, base, visible.clone()))
    }

    fn record(
        &self,
        cluster: ClusterName,
        object: RecordedObject,
    ) -> Pin<Box<dyn Future<Output = Result<Recorded, RecordRefusal>> + Send + '_>> {
        Box::pin(self.recorded(cluster, object))
    }

    fn missing_rules(
        &self,
        visible: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<MissingRules, Refusal>> + Send + '_>> {
        let set = self.catalog.interpreters().published();
        let model = self.read_model.clone();
        let visible = self.read_model.visible_to(visible);
        let step = move || Ok(missing_rules::in_clusters(set, &model, &visible));
        Box::pin(self.blocking(&self.counts, step))
    }

    fn note_too_large(&self, name: Option<InterpreterName>, bytes_max: usize) {
        let why = format!(
            "the component has more than {bytes_max} bytes: `kindsight serve --component-bytes-max` raises the limit"
        );
        self.catalog.refuse_unread_upload(name, &why);
    }

    fn remove_unused(
        &self,
    ) -> Pin<Box<dyn Future<Output = Result<RemovedNames, Refusal>> + Send + '_>> {
        Box::pin(async {
            let catalog = Arc::clone(&self.catalog);
            let removed = self.blocking(&self.quick, move || catalog.remove_unused());
            let removed = removed.await?;
            Ok(RemovedNames { removed })
        })
    }
}

fn stopping() -> Refusal {
    Refusal::Busy("the server is stopping".to_owned())
}

fn execute(
    catalog: &Conditional<'_>,
    name: &InterpreterName,
    command: Command,
    reported: &[ReportedGroup],
) -> Result<Outcome, Refusal> {
    match command {
        // A shadow run is not a change and is handled elsewhere.
        Command::Shadow(_) => Err(Refusal::Failed("a shadow run changes nothing".to_owned())),
        Command::Load(upload) => catalog.admit(&incoming(Some(name.clone()), upload)),
        Command::Remove => catalog.remove(name, Source::Upload),
        Command::Promote(promote) => catalog.promote(
            name,
            &Promote {
                digest: promote.digest,
                is_forced: promote.is_forced,
                settings: promote.settings,
            },
        ),
        Command::Rollback => catalog.rollback(name),
        Command::Disable => catalog.set_disabled(name, true),
        Command::Enable => catalog.set_disabled(name, false),
        Command::Settings(settings) => catalog.set_settings(name, settings, reported),
    }
}

/// The uploaded component, with the expected name if the client sent one.
fn incoming(name: Option<InterpreterName>, upload: Upload) -> IncomingComponent {
    IncomingComponent {
        source: Source::Upload,
        name,
        file: None,
        gone: BTreeSet::new(),
        settings: None,
        expected: upload.digest,
        is_candidate: upload.is_candidate,
        replaces_built_in: upload.replaces_built_in,
        bytes: upload.bytes,
    }
}
