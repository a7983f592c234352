//! The lifecycle of groups: the answers of the REST API, and the task that does the work.

mod sender;
mod worker;

use std::sync::Arc;

use jiff::Timestamp;
use kindsight_api::lifecycle as wire;
use kindsight_api::lifecycle::{GroupIntent, GroupRefusal, GroupState};
use kindsight_api::problem::PartialProblem;
use kindsight_appcontext::{AppContexts, DigRecord, Intent, Records};
use kindsight_lifecycle::{
    Action, Draft, DraftApp, Error, Group, Groups, Sender, Sequence, Situation, Stored,
};
use kindsight_model::{DigName, ShownText, without_secrets};
use kindsight_read_model::ReadModel;
use kindsight_rest::{GroupCommand, GroupLifecycle};
use kindsight_store::chain;

use crate::clock::now_ms;
use crate::settings::Settings;
use crate::tasks::Tasks;

use sender::ConfiguredClusters;
use worker::{Pending, Worker};

/// The groups of a server.
struct ServedGroups {
    groups: Groups,
    sender: Arc<dyn Sender>,
    pending: Pending,
    read_model: ReadModel,
    /// False if the contexts are in a store that is only observed.
    owns_contexts: bool,
}

/// Begins the work on groups, if the settings enable the lifecycle. Returns the groups for the REST API.
pub(crate) fn begin(
    tasks: &Tasks,
    settings: &Settings,
    read_model: &ReadModel,
) -> Option<Arc<dyn GroupLifecycle>> {
    if !settings.lifecycle {
        return None;
    }
    let contexts = AppContexts::new(Arc::clone(&settings.contexts));
    let records = Records::new(Arc::clone(&settings.store));
    let sender: Arc<dyn Sender> = Arc::new(match &settings.cluster_changes {
        Some(changes) => ConfiguredClusters::Changing(changes.clone()),
        None => ConfiguredClusters::Fixed(settings.clusters.clone()),
    });
    let served = ServedGroups {
        groups: Groups::new(contexts.clone(), records.clone()),
        sender: Arc::clone(&sender),
        pending: Pending::default(),
        read_model: read_model.clone(),
        owns_contexts: Arc::ptr_eq(&settings.contexts, &settings.store),
    };
    if served.owns_contexts {
        let worker = Worker {
            groups: served.groups.clone(),
            sequence: Sequence::new(contexts, records, sender),
            pending: served.pending.clone(),
        };
        tasks.spawn("worker of groups", worker.run(tasks.shutdown()));
    }
    Some(Arc::new(served))
}

fn now() -> String {
    let now = Timestamp::from_millisecond(now_ms());
    now.unwrap_or_default().to_string()
}

impl ServedGroups {
    /// Refuses a change of a group that another orchestrator recorded.
    fn check_writable(&self, name: &DigName) -> Result<(), GroupRefusal> {
        if name.is_found() {
            let why = format!("{name} is the name of an application that was found in clusters");
            return Err(GroupRefusal::Conflict(why, Vec::new()));
        }
        let is_own = !matches!(self.groups.get(name), Err(Error::NotFound(_)));
        let is_recorded = self
            .read_model
            .inspect(|snapshot| snapshot.is_recorded(name));
        if is_recorded && !is_own {
            let why = format!(
                "the deployment intent group {name} is read-only: another orchestrator recorded it"
            );
            return Err(GroupRefusal::Conflict(why, Vec::new()));
        }
        if !self.owns_contexts {
            let why = "this server only observes the store of AppContexts (`--observe`), so groups cannot be created or changed";
            return Err(GroupRefusal::Conflict(why.to_owned(), Vec::new()));
        }
        Ok(())
    }

    fn state(&self, name: &DigName) -> Result<GroupState, GroupRefusal> {
        self.groups.get(name).map(state).map_err(refusal)
    }
}

impl GroupLifecycle for ServedGroups {
    fn get(&self, name: &DigName) -> Result<wire::Group, GroupRefusal> {
        let group = self.groups.get(name).map_err(refusal)?;
        Ok(wire::Group {
            intent: shown(&group.record, group.intent.as_ref()),
            actions: actions(&group.record),
            lifecycle: state(group),
        })
    }

    fn put(&self, name: &DigName, intent: GroupIntent) -> Result<(bool, GroupState), GroupRefusal> {
        self.check_writable(name)?;
        let apps = intent.apps.into_iter().map(|app| DraftApp {
            name: app.name,
            clusters: app.clusters,
            manifests: app.manifests,
        });
        let draft = Draft {
            apps: apps.collect(),
        };
        let profile = intent.profile.as_deref();
        let stored = self.groups.put(name, profile, draft, &now());
        let is_new = stored.map_err(refusal)? == Stored::Created;
        Ok((is_new, self.state(name)?))
    }

    fn act(&self, name: &DigName, command: GroupCommand) -> Result<GroupState, GroupRefusal> {
        self.check_writable(name)?;
        let action = match command {
            GroupCommand::Approve => Action::Approve,
            GroupCommand::Instantiate => Action::Instantiate,
            GroupCommand::Terminate => Action::Terminate,
            GroupCommand::Stop => Action::Stop,
        };
        let group = self.groups.act(name, action, &*self.sender, &now());
        let group = group.map_err(refusal)?;
        self.pending.add(name.clone());
        Ok(state(group))
    }

    fn delete(&self, name: &DigName) -> Result<(), GroupRefusal> {
        self.check_writable(name)?;
        self.groups.delete(name).map_err(refusal)
    }
}

fn state(group: Group) -> GroupState {
    GroupState {
        state: group.situation.state,
        instance: group.instance.map(|id| id.to_string()),
        instance_status: group.status.map(|status| status.to_string()),
        running: group.situation.is_running,
        allowed_actions: words(group.situation),
    }
}

fn words(situation: Situation) -> Vec<String> {
    let allowed = situation.allowed().into_iter();
    allowed.map(|action| action.as_str().to_owned()).collect()
}

fn actions(record: &DigRecord) -> Vec<wire::GroupAction> {
    let actions = record.actions.iter().map(|action| wire::GroupAction {
        state: action.state,
        instance: action.instance.as_ref().map(ToString::to_string),
        time: action.time.clone(),
        revision: Some(action.revision).filter(|revision| *revision != 0),
    });
    actions.collect()
}

/// The content of a group without the content of Secrets.
fn shown(record: &DigRecord, intent: Option<&Intent>) -> GroupIntent {
    let apps = intent.into_iter().flat_map(|intent| &intent.apps);
    let apps = apps.map(|app| wire::AppIntent {
        name: app.name.clone(),
        clusters: app.clusters.iter().map(ToString::to_string).collect(),
        manifests: app
            .manifests
            .iter()
            .map(|text| shown_manifest(text))
            .collect(),
    });
    GroupIntent {
        profile: record.profile.clone(),
        apps: apps.collect(),
    }
}

fn shown_manifest(text: &str) -> String {
    match without_secrets(text) {
        ShownText::AsItIs => text.to_owned(),
        ShownText::Redacted(redacted) => redacted,
        ShownText::Withheld => "REDACTED".to_owned(),
    }
}

fn refusal(error: Error) -> GroupRefusal {
    let text = error.to_string();
    match error {
        Error::Invalid(problems) => {
            let problems = problems.into_iter();
            let problems = problems.map(|it| PartialProblem::new(it.path, it.detail, it.expected));
            GroupRefusal::Invalid(problems.collect())
        }
        Error::NotFound(_) => GroupRefusal::NotFound(text),
        Error::Refused(refused) => {
            let allowed = words(refused.situation);
            let expected = kindsight_status::one_of(allowed);
            let problem = PartialProblem::new("action", refused.reason, expected);
            GroupRefusal::Conflict(text, vec![problem])
        }
        Error::CannotSend(reasons) => {
            let problem = |reason: &kindsight_lifecycle::CannotSend| {
                PartialProblem::new("clusters", reason.to_string(), "")
            };
            let problems = reasons.iter().map(problem).collect();
            let text = "the resources of the group cannot be sent; nothing was sent".to_owned();
            GroupRefusal::Conflict(text, problems)
        }
        Error::ReadOnly(_) | Error::ActionsMax => GroupRefusal::Conflict(text, Vec::new()),
        Error::Contended(_) => GroupRefusal::Unavailable(text),
        Error::Store(error) if error.is_too_large() => {
            let problem = PartialProblem::new(".", chain(&error), "a smaller content");
            GroupRefusal::Invalid(vec![problem])
        }
        Error::Store(error) if error.is_unavailable() => GroupRefusal::Unavailable(chain(&error)),
        error => GroupRefusal::Failed(chain(&error)),
    }
}
