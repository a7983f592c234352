//! The catalog API: answers and commands about interpreters.

mod answers;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use kindsight_api::interpreters::{CommandAnswer, InterpreterDetail, InterpreterList, Refusal};
use kindsight_catalog::{Catalog, IncomingComponent, Shadow};
use kindsight_interpreter::{Comparison, Limits, ReportedGroup, compare, lower_priority};
use kindsight_model::{InterpreterName, Source};
use kindsight_pipeline::{Inventory, Progress};
use kindsight_rest::{Command, InterpreterCatalog};
use tokio::sync::{Semaphore, oneshot};

use crate::clock::now_ms;

/// Maximum number of concurrent commands, including those whose client has gone. Further ones wait.
const COMMANDS_MAX: usize = 4;

/// Maximum time that a command waits for its effect on the read model.
const FOLLOWED_MAX: Duration = Duration::from_secs(2);

/// Answers requests about interpreters.
pub(crate) struct CatalogApi {
    catalog: Arc<Catalog>,
    limits: Limits,
    inventory: Inventory,
    progress: Arc<Progress>,
    commands: Arc<Semaphore>,
}

impl CatalogApi {
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        limits: Limits,
        inventory: Inventory,
        progress: Arc<Progress>,
    ) -> Self {
        Self {
            catalog,
            limits,
            inventory,
            progress,
            commands: Arc::new(Semaphore::new(COMMANDS_MAX)),
        }
    }

    async fn carry_out(
        &self,
        name: InterpreterName,
        command: Command,
    ) -> Result<CommandAnswer, Refusal> {
        let failed = |what: &str| Refusal::Failed(what.to_owned());
        let permit = Arc::clone(&self.commands).acquire_owned().await;
        let permit = permit.map_err(|_| failed("the host is stopping"))?;
        let objects = match command {
            Command::Shadow => self.objects().await?,
            _ => Vec::new(),
        };
        let (catalog, limits) = (Arc::clone(&self.catalog), self.limits.clone());
        let task = tokio::task::spawn_blocking(move || {
            // Held until the command ends, even if its client has gone.
            let _permit = permit;
            execute(&catalog, &limits, &name, command, &objects)
        });
        let answer = task.await.map_err(|_| failed("the command panicked"))??;
        self.followed().await;
        Ok(answer)
    }

    /// Waits until the read model follows the published set, so that a status query after a command sees its
    /// effect. At most [`FOLLOWED_MAX`]: if many objects are judged again, the answer comes first.
    async fn followed(&self) {
        let published = self.catalog.interpreters().published().generation();
        // A timeout is fine as well.
        let _ = tokio::time::timeout(FOLLOWED_MAX, self.progress.reached(published)).await;
    }

    /// All objects that the clusters reported.
    async fn objects(&self) -> Result<Vec<ReportedGroup>, Refusal> {
        let gone = || {
            Refusal::Failed(
                "the pipeline has stopped; the reported objects cannot be read".to_owned(),
            )
        };
        let (reply, reported) = oneshot::channel();
        self.inventory.send(reply).await.map_err(|_| gone())?;
        let reported = reported.await.map_err(|_| gone())?.into_iter();
        Ok(reported
            .map(|it| ReportedGroup {
                label: it.placement.into(),
                objects: it.objects,
            })
            .collect())
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
    ) -> Pin<Box<dyn Future<Output = Result<CommandAnswer, Refusal>> + Send + '_>> {
        Box::pin(self.carry_out(name, command))
    }
}

/// Judges all reported objects by both sets, on a thread of lower priority than queries.
fn compare_behind_queries(
    limits: &Limits,
    shadow: &Shadow,
    objects: &[ReportedGroup],
) -> Result<Comparison, Refusal> {
    let judging = || {
        lower_priority();
        compare(
            limits,
            &shadow.before,
            &shadow.after,
            objects,
            now_ms(),
            &|| false,
        )
    };
    let panicked = || Refusal::Failed("the thread that compared panicked".to_owned());
    thread::scope(|scope| scope.spawn(judging).join()).map_err(|_| panicked())
}

fn execute(
    catalog: &Catalog,
    limits: &Limits,
    name: &InterpreterName,
    command: Command,
    objects: &[ReportedGroup],
) -> Result<CommandAnswer, Refusal> {
    let outcome = match command {
        Command::Shadow => {
            let run = catalog.shadow(name)?;
            let comparison = compare_behind_queries(limits, &run, objects)?;
            let report = answers::shadow(name, &run, comparison);
            return Ok(CommandAnswer::Shadow(report));
        }
        Command::Load {
            bytes,
            digest,
            is_candidate,
        } => catalog.admit(&IncomingComponent {
            source: Source::Upload,
            name: name.clone(),
            file: None,
            gone: BTreeSet::new(),
            expected: digest,
            is_candidate,
            bytes,
        }),
        Command::Remove => catalog.remove(name, Source::Upload),
        Command::Promote { digest } => catalog.promote(name, digest.as_ref()),
        Command::Rollback => catalog.rollback(name),
        Command::Disable => catalog.set_disabled(name, true),
        Command::Enable => catalog.set_disabled(name, false),
        Command::Settings(settings) => catalog.set_settings(name, settings),
    };
    outcome.map(CommandAnswer::Outcome)
}
