//! The lifecycle of groups and of network intents: the answers of the REST API, and the task that does the work.

mod answers;
mod contexts;
mod controllers;
mod deployer;
mod readiness;
mod sender;
mod worker;

use std::sync::Arc;

use jiff::Timestamp;
use kindsight_api::lifecycle as wire;
use kindsight_api::lifecycle::{GroupIntent, GroupRefusal, GroupState};
use kindsight_appcontext::{AppContexts, Records};
use kindsight_clusters::Needs;
use kindsight_lifecycle::{
    Command, ContentCondition, Error, Groups, Job, Readiness, Sender, Sequence, Stored,
};
use kindsight_model::RecordSubject;
use kindsight_read_model::ReadModel;
use kindsight_rest::{GroupCommand, GroupLifecycle};
use tokio::runtime::Handle;

use crate::clock::now_ms;
use crate::settings::Settings;
use crate::tasks::Tasks;

use answers::{actions, draft, dry_run, problem, refusal, shown, state};
use controllers::CalledControllers;
pub use deployer::{DeployError, Deployer};
use readiness::ObservedStates;
pub(crate) use sender::ConfiguredClusters;
use worker::{Pending, Worker};

/// The groups and the network intents of a server.
pub(crate) struct ServedGroups {
    groups: Groups,
    contexts: AppContexts,
    records: Records,
    sender: Arc<dyn Sender>,
    readiness: Arc<dyn Readiness>,
    pending: Pending,
    read_model: ReadModel,
    /// False if the contexts are in a store that is only observed.
    owns_contexts: bool,
}

/// The sender to the configured clusters. A server has one sender, so that the wait which an API server asks for applies to
/// all parts of the server. The sources of the clusters have these `needs`.
pub(crate) fn sender(tasks: &Tasks, settings: &Settings, needs: &Needs) -> Arc<dyn Sender> {
    Arc::new(ConfiguredClusters::of(settings, needs, tasks.shutdown()))
}

/// Begins the work on groups, if the settings enable the lifecycle. Resources go through `sender`. Returns the groups
/// for the REST API.
pub(crate) fn begin(
    tasks: &Tasks,
    settings: &Settings,
    read_model: &ReadModel,
    sender: &Arc<dyn Sender>,
) -> Option<Arc<ServedGroups>> {
    if !settings.lifecycle {
        return None;
    }
    let contexts = AppContexts::new(Arc::clone(&settings.contexts));
    let records = Records::new(Arc::clone(&settings.store));
    let readiness: Arc<dyn Readiness> = Arc::new(ObservedStates::new(read_model));
    let served = ServedGroups {
        groups: Groups::new(contexts.clone(), records.clone()),
        contexts: contexts.clone(),
        records: records.clone(),
        sender: Arc::clone(sender),
        readiness: Arc::clone(&readiness),
        pending: Pending::default(),
        read_model: read_model.clone(),
        owns_contexts: Arc::ptr_eq(&settings.contexts, &settings.store),
    };
    if served.owns_contexts {
        let worker = Worker {
            groups: served.groups.clone(),
            sequence: prepared(
                settings,
                Sequence::new(contexts, records, Arc::clone(sender)),
            )
            .observing(readiness)
            .keeping(settings.lifecycle_instances_kept)
            .giving_up_after(settings.lifecycle_retries_max),
            pending: served.pending.clone(),
            store: Arc::clone(&settings.store),
        };
        tasks.spawn("worker of groups", worker.run(tasks.shutdown()));
    }
    Some(Arc::new(served))
}

/// The sequence with the controllers of the settings.
fn prepared(settings: &Settings, sequence: Sequence) -> Sequence {
    sequence.prepared_by(Arc::new(CalledControllers {
        controllers: settings.controllers.clone(),
        records: Records::new(Arc::clone(&settings.store)),
        runtime: Handle::current(),
    }))
}

fn command_of(command: GroupCommand) -> Command {
    match command {
        GroupCommand::Apply => Command::Apply,
        GroupCommand::Approve => Command::Approve,
        GroupCommand::Instantiate => Command::Instantiate,
        GroupCommand::Update => Command::Update,
        GroupCommand::Rollback(revision) => Command::Rollback(revision),
        GroupCommand::Terminate => Command::Terminate,
        GroupCommand::Stop => Command::Stop,
    }
}

fn now() -> String {
    let now = Timestamp::from_millisecond(now_ms());
    now.unwrap_or_default().to_string()
}

impl ServedGroups {
    /// Refuses a change of a subject that another orchestrator recorded.
    fn check_writable(&self, subject: &RecordSubject) -> Result<(), GroupRefusal> {
        if let RecordSubject::Group(name) = subject
            && name.is_found()
        {
            let why = format!("{name} is the name of an application that was found in clusters");
            return Err(GroupRefusal::Conflict(why, Vec::new()));
        }
        let is_own = !matches!(self.groups.get(subject), Err(Error::NotFound(_)));
        let is_recorded = self
            .read_model
            .inspect(|snapshot| snapshot.is_recorded(subject));
        if is_recorded && !is_own {
            let why = format!("the {subject} is read-only: another orchestrator recorded it");
            return Err(GroupRefusal::Conflict(why, Vec::new()));
        }
        if !self.owns_contexts {
            let why = "this server only observes the store of AppContexts (`--observe`), so nothing can be created or changed";
            return Err(GroupRefusal::Conflict(why.to_owned(), Vec::new()));
        }
        Ok(())
    }

    fn state(&self, subject: &RecordSubject) -> Result<GroupState, GroupRefusal> {
        self.groups.get(subject).map(state).map_err(refusal)
    }
}

impl GroupLifecycle for ServedGroups {
    fn get(&self, subject: &RecordSubject) -> Result<wire::Group, GroupRefusal> {
        let group = self.groups.get(subject).map_err(refusal)?;
        let (problems, further) = self.groups.problems(subject).map_err(refusal)?;
        Ok(wire::Group {
            intent: shown(&group.record, group.intent.as_ref()),
            actions: actions(&group.record),
            revisions: self.groups.revisions(subject).map_err(refusal)?,
            problems: problems.into_iter().map(problem).collect(),
            problems_left_off: further,
            lifecycle: state(group),
        })
    }

    fn put(
        &self,
        subject: &RecordSubject,
        intent: GroupIntent,
    ) -> Result<(bool, GroupState), GroupRefusal> {
        self.check_writable(subject)?;
        let profile = intent.profile.clone();
        let draft = draft(intent);
        let stored = self.groups.put(subject, profile.as_deref(), draft, &now());
        let is_new = stored.map_err(refusal)? == Stored::Created;
        Ok((is_new, self.state(subject)?))
    }

    fn approve(
        &self,
        subject: &RecordSubject,
        tags: Option<Vec<String>>,
    ) -> Result<GroupState, GroupRefusal> {
        self.check_writable(subject)?;
        let condition = tags.map_or(ContentCondition::Any, ContentCondition::OneOf);
        let approved = self
            .groups
            .approve(subject, &condition, &*self.sender, &now());
        approved.map(state).map_err(refusal)
    }

    fn act(
        &self,
        subject: &RecordSubject,
        command: GroupCommand,
        force: bool,
    ) -> Result<GroupState, GroupRefusal> {
        self.check_writable(subject)?;
        let command = (command_of(command), force);
        let group = self.groups.act(subject, command, &*self.sender, &now());
        let group = group.map_err(refusal)?;
        self.pending.add(Job::Subject(subject.clone()));
        Ok(state(group))
    }

    fn dry_run(
        &self,
        subject: &RecordSubject,
        intent: Option<GroupIntent>,
    ) -> Result<wire::DryRun, GroupRefusal> {
        self.check_writable(subject)?;
        let (sender, readiness) = (&*self.sender, &*self.readiness);
        let shown = self
            .groups
            .dry_run(subject, intent.map(draft), sender, readiness);
        shown.map(dry_run).map_err(refusal)
    }

    fn delete(&self, subject: &RecordSubject) -> Result<(), GroupRefusal> {
        self.check_writable(subject)?;
        self.groups.delete(subject).map_err(refusal)
    }
}
