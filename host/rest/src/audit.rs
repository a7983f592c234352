//! The audit log: one line for each command that changes something.

use std::fmt::Display;

use kindsight_api::interpreters::{CommandAnswer, LiveCondition, Outcome, Refusal, RemovedNames};
use kindsight_api::lifecycle::GroupRefusal;
use kindsight_api::notify::{NotifyRefusal, NotifyResend, NotifyTest};
use kindsight_api::registration::RegistrationRefusal;
use kindsight_model::{ClusterName, Digest, InterpreterName, RecordSubject};
use serde_json::Value;

use crate::AppState;
use crate::caller::Sender;
use crate::catalog::{Command, Upload};

/// Carries out commands of one sender, and logs each with its outcome.
///
/// Lines have the target `audit`, so that a log filter can select them. Only an operator can cause them, and the slots
/// for commands limit their number.
pub(crate) struct Audited<'a> {
    pub(crate) app: &'a AppState,
    pub(crate) sender: &'a Sender,
}

/// The line about one command. A client can disconnect before the outcome is known, or the command may take too long, so
/// the line is written on drop.
struct Entry<'a> {
    user: &'a str,
    action: &'static str,
    /// The name of the interpreter, or the names that were removed.
    interpreter: String,
    /// The live version before the command, or the settings before a command about settings.
    from: Option<Digest>,
    /// The live version or the settings after the command.
    to: Option<Digest>,
    /// The component that the command concerned: the live version, or a candidate.
    component: Option<Digest>,
    outcome: String,
}

impl Audited<'_> {
    /// Carries out a command on an interpreter. A shadow run changes nothing and is not logged.
    ///
    /// # Errors
    /// See [`InterpreterCatalog::run`](crate::InterpreterCatalog::run).
    pub(crate) async fn run(
        &self,
        name: InterpreterName,
        command: Command,
        condition: LiveCondition,
    ) -> Result<CommandAnswer, Refusal> {
        let (catalog, visible) = (&self.app.catalog, self.sender.visible());
        let Some(action) = action(&command) else {
            return catalog.run(name, command, condition, visible).await;
        };
        let is_about_settings = matches!(command, Command::Settings(_));
        let version = || {
            if is_about_settings {
                self.settings(&name)
            } else {
                self.live(&name)
            }
        };
        let mut entry = self.entry(action, name.to_string());
        entry.from = version();
        let answer = catalog.run(name.clone(), command, condition, visible);
        let answer = answer.await;
        entry.to = version();
        entry.answered(&answer);
        answer
    }

    /// Loads a component under its declared name.
    ///
    /// # Errors
    /// See [`InterpreterCatalog::load`](crate::InterpreterCatalog::load).
    pub(crate) async fn load(&self, upload: Upload) -> Result<CommandAnswer, Refusal> {
        let mut entry = self.entry("load", String::new());
        // The name is not known before the load.
        let before = self.app.catalog.list().interpreters;
        let answer = self.app.catalog.load(upload).await;
        if let Ok(CommandAnswer::Outcome(Outcome { name, .. })) = &answer {
            let replaced = before
                .into_iter()
                .find(|interpreter| interpreter.name == name.as_str());
            entry.from = replaced.and_then(|it| it.digest);
            entry.interpreter = name.to_string();
            entry.to = self.live(name);
        }
        entry.answered(&answer);
        answer
    }

    /// Removes every unused name.
    ///
    /// # Errors
    /// See [`InterpreterCatalog::remove_unused`](crate::InterpreterCatalog::remove_unused).
    pub(crate) async fn remove_unused(&self) -> Result<RemovedNames, Refusal> {
        let mut entry = self.entry("remove-unused", String::new());
        let answer = self.app.catalog.remove_unused().await;
        entry.outcome = match &answer {
            Ok(RemovedNames { removed }) => {
                let names: Vec<&str> = removed.iter().map(InterpreterName::as_str).collect();
                entry.interpreter = names.join(", ");
                format!("{} names removed", names.len())
            }
            Err(refusal) => refused(refusal),
        };
        answer
    }

    fn entry(&self, action: &'static str, interpreter: String) -> Entry<'_> {
        Entry {
            user: self.sender.user_name(),
            action,
            interpreter,
            from: None,
            to: None,
            component: None,
            outcome: "unknown: the request ended before the command".to_owned(),
        }
    }

    fn live(&self, name: &InterpreterName) -> Option<Digest> {
        self.app.catalog.inspect(name)?.digest
    }

    /// The digest of the settings of an interpreter as JSON with sorted members.
    fn settings(&self, name: &InterpreterName) -> Option<Digest> {
        let settings = self.app.catalog.inspect(name)?.settings?;
        Some(Digest::of(Value::Object(settings).to_string().as_bytes()))
    }
}

impl Entry<'_> {
    fn answered(&mut self, answer: &Result<CommandAnswer, Refusal>) {
        self.outcome = match answer {
            Ok(CommandAnswer::Outcome(outcome)) => {
                self.component.clone_from(&outcome.digest);
                outcome.detail.clone()
            }
            Ok(CommandAnswer::Shadow(_)) => String::new(),
            Err(refusal) => refused(refusal),
        };
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        tracing::info!(
            target: "audit",
            user = self.user,
            action = self.action,
            interpreter = self.interpreter,
            from = self.from.as_ref().map(Digest::as_str),
            to = self.to.as_ref().map(Digest::as_str),
            component = self.component.as_ref().map(Digest::as_str),
            outcome = self.outcome,
            "command"
        );
    }
}

/// The name of a command; `None` for a command that changes nothing.
fn action(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::Load(_) => "load",
        Command::Remove => "remove",
        Command::Shadow(_) => return None,
        Command::Promote(_) => "promote",
        Command::Rollback => "rollback",
        Command::Disable => "disable",
        Command::Enable => "enable",
        Command::Settings(Some(_)) => "set-settings",
        Command::Settings(None) => "clear-settings",
    })
}

/// Logs a change of a deployment intent group or of the network intents of a cluster, or its refusal.
pub(crate) fn log_subject(
    user: &str,
    action: &str,
    subject: &RecordSubject,
    refusal: Option<&GroupRefusal>,
) {
    let outcome = refusal.map_or_else(|| "done".to_owned(), |refusal| refused(text(refusal)));
    let name = subject.name();
    match subject {
        RecordSubject::Cluster(_) => {
            let action = format!("{action}-network-intents");
            tracing::info!(target: "audit", user, action, cluster = %name, outcome, "command");
        }
        RecordSubject::Group(_) | RecordSubject::LogicalCloud(_) => {
            tracing::info!(target: "audit", user, action, group = %name, outcome, "command");
        }
    }
}

/// Logs a change of the registration of a cluster, or its refusal.
pub(crate) fn log_cluster(
    user: &str,
    action: &str,
    name: &ClusterName,
    refusal: Option<&RegistrationRefusal>,
) {
    let outcome = match refusal {
        None => "done".to_owned(),
        Some(RegistrationRefusal::Invalid(_)) => refused("the registration is not valid"),
        Some(
            RegistrationRefusal::NotFound(why)
            | RegistrationRefusal::Conflict(why)
            | RegistrationRefusal::Unavailable(why)
            | RegistrationRefusal::Failed(why),
        ) => refused(why),
    };
    tracing::info!(target: "audit", user, action, cluster = %name, outcome, "command");
}

/// Logs a test of a receiver of notifications.
pub(crate) fn log_notify_test(
    user: &str,
    receiver: &str,
    tested: &Result<NotifyTest, NotifyRefusal>,
) {
    let outcome = match tested {
        Ok(NotifyTest { error: None, .. }) => "done".to_owned(),
        Ok(NotifyTest {
            error: Some(why), ..
        })
        | Err(
            NotifyRefusal::NotFound(why)
            | NotifyRefusal::NotSender(why)
            | NotifyRefusal::Unavailable(why),
        ) => refused(why),
    };
    tracing::info!(target: "audit", user, action = "test-receiver", receiver, outcome, "command");
}

/// Logs that dead letters of a receiver of notifications are sent again.
pub(crate) fn log_notify_resend(
    user: &str,
    receiver: &str,
    resent: &Result<NotifyResend, NotifyRefusal>,
) {
    let outcome = match resent {
        Ok(_) => "done".to_owned(),
        Err(
            NotifyRefusal::NotFound(why)
            | NotifyRefusal::NotSender(why)
            | NotifyRefusal::Unavailable(why),
        ) => refused(why),
    };
    tracing::info!(target: "audit", user, action = "resend-dead-letters", receiver, outcome, "command");
}

fn text(refusal: &GroupRefusal) -> &str {
    match refusal {
        GroupRefusal::Invalid(_) => "the content is not valid",
        GroupRefusal::NotFound(why)
        | GroupRefusal::Conflict(why, _)
        | GroupRefusal::OtherContent(why)
        | GroupRefusal::Unavailable(why)
        | GroupRefusal::Failed(why) => why,
    }
}

fn refused(refusal: &(impl Display + ?Sized)) -> String {
    format!("refused: {refusal}")
}
