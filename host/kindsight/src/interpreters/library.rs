//! The catalog, for the REST room, which knows nothing of interpreters.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use kindsight_catalog::{self as catalog, Catalog, IncomingComponent, Shadow};
use kindsight_interpreter::{Comparison, Limits, Place, compare, lower_priority};
use kindsight_model::{Digest, InterpreterName, NameError, Source};
use kindsight_rest::{Answer, Command, InterpreterDetail, InterpreterList, Refusal};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::answers;
use crate::judge::now_ms;
use crate::road::{Held, Progress};

/// Commands that go on at a time, also those whose client has gone. Further ones wait.
const COMMANDS_MAX: usize = 4;

/// The longest a command waits until its effect is shown.
const FOLLOWED_MAX: Duration = Duration::from_secs(2);
/// How often it looks meanwhile.
const FOLLOWED_LOOK: Duration = Duration::from_millis(2);

/// Who answers for everything that is known, when it is to be judged by a candidate.
pub(crate) type Inventory = mpsc::Sender<oneshot::Sender<Vec<Held>>>;

/// Answers requests about interpreters.
pub(crate) struct Library {
    catalog: Arc<Catalog>,
    limits: Limits,
    inventory: Inventory,
    progress: Arc<Progress>,
    commands: Arc<Semaphore>,
}

impl Library {
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

    async fn carry_out(&self, name: String, command: Command) -> Result<Answer, Refusal> {
        let failed = |what: &str| Refusal::Failed(what.to_owned());
        let slot = Arc::clone(&self.commands).acquire_owned().await;
        let slot = slot.map_err(|_| failed("the host is stopping"))?;
        let objects = match command {
            Command::Shadow => self.objects().await?,
            _ => Vec::new(),
        };
        let (catalog, limits) = (Arc::clone(&self.catalog), self.limits.clone());
        let task = tokio::task::spawn_blocking(move || {
            // Held to the end, whether or not anybody waits for it.
            let _slot = slot;
            execute(&catalog, &limits, &name, command, &objects)
        });
        let outcome = task.await.map_err(|_| failed("the command broke"))?;
        let answer = outcome.map_err(answers::refusal)?;
        self.followed().await;
        Ok(answer)
    }

    /// Waits until what is shown follows what is published: who asks for the status after a command
    /// expects to see it. Not for long: where much is judged again the answer comes first.
    async fn followed(&self) {
        let published = self.catalog.interpreters().published().generation();
        let shown = async {
            while self.progress.generation() < published {
                tokio::time::sleep(FOLLOWED_LOOK).await;
            }
        };
        // Either is fine.
        let _ = tokio::time::timeout(FOLLOWED_MAX, shown).await;
    }

    /// Everything the host knows.
    async fn objects(&self) -> Result<Vec<Place>, Refusal> {
        let gone = || Refusal::Failed("nobody answers for what is known".to_owned());
        let (reply, held) = oneshot::channel();
        self.inventory.send(reply).await.map_err(|_| gone())?;
        let held = held.await.map_err(|_| gone())?.into_iter();
        Ok(held
            .map(|it| Place {
                label: it.place.into(),
                objects: it.objects,
            })
            .collect())
    }
}

impl kindsight_rest::Catalog for Library {
    fn list(&self) -> InterpreterList {
        answers::list(&self.catalog)
    }

    fn inspect(&self, name: &str) -> Option<InterpreterDetail> {
        answers::detail(&self.catalog, &self.limits, &name.parse().ok()?)
    }

    fn run(
        &self,
        name: String,
        command: Command,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send + '_>> {
        Box::pin(self.carry_out(name, command))
    }
}

/// Judges everything the host knows twice: on a thread behind those who ask.
fn compare_aside(
    limits: &Limits,
    shadow: &Shadow,
    objects: &[Place],
) -> Result<Comparison, catalog::Refusal> {
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
    let broke = || catalog::Refusal::Failed("the thread that compared broke".to_owned());
    thread::scope(|scope| scope.spawn(judging).join()).map_err(|_| broke())
}

/// The REST crate checks names and digests; what it does not check is refused here.
fn invalid(error: NameError) -> catalog::Refusal {
    catalog::Refusal::Conflict(error.to_string())
}

fn execute(
    catalog: &Catalog,
    limits: &Limits,
    name: &str,
    command: Command,
    objects: &[Place],
) -> Result<Answer, catalog::Refusal> {
    let name: InterpreterName = name.parse().map_err(invalid)?;
    let digest_of = |digest: &str| digest.parse::<Digest>().map_err(invalid);
    let report = match command {
        Command::Shadow => {
            let shadow = catalog.shadow(&name)?;
            let comparison = compare_aside(limits, &shadow, objects)?;
            return Ok(Answer::Shadow(answers::shadow(&name, &shadow, comparison)));
        }
        Command::Load {
            bytes,
            digest,
            is_candidate,
        } => catalog.admit(&IncomingComponent {
            source: Source::Upload,
            name,
            file: None,
            gone: BTreeSet::new(),
            expected: digest.map(|it| digest_of(&it)).transpose()?,
            is_candidate,
            bytes,
        }),
        Command::Remove => catalog.remove(&name, Source::Upload),
        Command::Promote { digest } => {
            let digest = digest.map(|it| digest_of(&it)).transpose()?;
            catalog.promote(&name, digest.as_ref())
        }
        Command::Rollback => catalog.rollback(&name),
        Command::Disable => catalog.set_disabled(&name, true),
        Command::Enable => catalog.set_disabled(&name, false),
        Command::Settings(settings) => {
            let settings = settings.map(|value| match value {
                serde_json::Value::Object(members) => Ok(members),
                _ => Err(catalog::Refusal::Conflict(
                    "settings are a JSON object".to_owned(),
                )),
            });
            catalog.set_settings(&name, settings.transpose()?)
        }
    };
    report.map(|report| Answer::Outcome(answers::outcome(report)))
}
