//! Groups and network intents in the words of the REST API.

use kindsight_api::lifecycle as wire;
use kindsight_api::lifecycle::{DependencyStatus, GroupIntent, GroupRefusal, GroupState};
use kindsight_api::problem::PartialProblem;
use kindsight_appcontext::{Intent, IntentCondition, IntentDependency, Record, ResourceDependsOn};
use kindsight_lifecycle::{
    Draft, DraftApp, DraftDependency, DraftResourceDependency, DryRun, Error, Group, PlannedChange,
    ResourceProblem, Situation,
};
use kindsight_model::{ClusterName, ShownText, without_secrets};
use kindsight_store::chain;

/// The content of a request, unchecked.
pub(super) fn draft(intent: GroupIntent) -> Draft {
    let apps = intent.apps.into_iter().map(|app| {
        let depends_on = app
            .depends_on
            .into_iter()
            .map(|dependency| DraftDependency {
                app: dependency.app,
                condition: condition(dependency.status),
                wait_seconds: dependency.wait_seconds,
            });
        let waiting = app.resource_dependencies.into_iter();
        let waiting = waiting.map(|wait| DraftResourceDependency {
            resource: wait.resource,
            on: wait.on,
            condition: condition(wait.status),
            wait_seconds: wait.wait_seconds,
        });
        DraftApp {
            name: app.name,
            clusters: app.clusters,
            any_of: app.any_of,
            manifests: app.manifests,
            depends_on: depends_on.collect(),
            resource_dependencies: waiting.collect(),
        }
    });
    let controllers = intent.controllers.into_iter();
    Draft {
        apps: apps.collect(),
        controllers: controllers
            .map(|controller| (controller.name, controller.intent))
            .collect(),
    }
}

fn condition(status: DependencyStatus) -> IntentCondition {
    match status {
        DependencyStatus::Applied => IntentCondition::Applied,
        DependencyStatus::Ready => IntentCondition::Ready,
    }
}

fn status(condition: IntentCondition) -> DependencyStatus {
    match condition {
        IntentCondition::Applied => DependencyStatus::Applied,
        IntentCondition::Ready => DependencyStatus::Ready,
    }
}

fn app_dependency(of: &IntentDependency) -> wire::AppDependency {
    wire::AppDependency {
        app: of.app.clone(),
        status: status(of.condition),
        wait_seconds: of.wait_seconds,
    }
}

fn resource_dependency(of: &ResourceDependsOn) -> wire::ResourceDependency {
    wire::ResourceDependency {
        resource: kind_and_name(&of.resource),
        on: kind_and_name(&of.on),
        status: status(of.condition),
        wait_seconds: of.wait_seconds,
    }
}

/// A resource `<name>+<Kind>` as `Kind/name`.
fn kind_and_name(resource: &str) -> String {
    match resource.rsplit_once('+') {
        Some((name, kind)) => format!("{kind}/{name}"),
        None => resource.to_owned(),
    }
}

fn names(clusters: &[ClusterName]) -> Vec<String> {
    clusters.iter().map(ToString::to_string).collect()
}

pub(super) fn problem(of: ResourceProblem) -> wire::ResourceProblem {
    wire::ResourceProblem {
        app: of.app,
        cluster: of.cluster.to_string(),
        resource: kind_and_name(&of.resource),
        status: of.status.to_string(),
        detail: of.why,
    }
}

pub(super) fn dry_run(of: DryRun) -> wire::DryRun {
    let resources = of.resources.into_iter().map(|resource| {
        let (change, detail) = match resource.change {
            PlannedChange::Create => (wire::PlannedChange::Create, None),
            PlannedChange::CreateUnchecked(why) => (wire::PlannedChange::Create, Some(why)),
            PlannedChange::Update => (wire::PlannedChange::Update, None),
            PlannedChange::Unchanged => (wire::PlannedChange::Unchanged, None),
            PlannedChange::Delete => (wire::PlannedChange::Delete, None),
            PlannedChange::Refused(why) => (wire::PlannedChange::Refused, Some(why)),
            PlannedChange::Unknown(why) => (wire::PlannedChange::Unknown, Some(why)),
        };
        wire::PlannedResource {
            app: resource.app,
            cluster: resource.cluster.to_string(),
            resource: kind_and_name(&resource.resource.to_string()),
            change,
            differences: resource.differences,
            detail,
        }
    });
    wire::DryRun {
        resources: resources.collect(),
        left_off: of.left_off,
    }
}

pub(super) fn state(group: Group) -> GroupState {
    let content = group.content_tag().map(str::to_owned);
    GroupState {
        state: group.situation.state,
        instance: group.instance.map(|id| id.to_string()),
        instance_status: group.status.map(|status| status.to_string()),
        running: group.situation.is_running,
        revision: Some(group.revision).filter(|revision| *revision != 0),
        unapproved: group.situation.is_unapproved,
        content,
        allowed_actions: words(group.situation),
    }
}

fn words(situation: Situation) -> Vec<String> {
    let allowed = situation.allowed().into_iter();
    allowed.map(|action| action.as_str().to_owned()).collect()
}

pub(super) fn actions(record: &Record) -> Vec<wire::GroupAction> {
    let actions = record.actions.iter().map(|action| wire::GroupAction {
        state: action.state,
        instance: action.instance.as_ref().map(ToString::to_string),
        time: action.time.clone(),
        revision: Some(action.revision).filter(|revision| *revision != 0),
    });
    actions.collect()
}

/// The content of a group without the content of Secrets.
pub(super) fn shown(record: &Record, intent: Option<&Intent>) -> GroupIntent {
    let apps = intent.into_iter().flat_map(|intent| &intent.apps);
    let apps = apps.map(|app| wire::AppIntent {
        name: app.name.clone(),
        clusters: names(&app.clusters),
        any_of: app.any_of.iter().map(|group| names(group)).collect(),
        depends_on: app.depends_on.iter().map(app_dependency).collect(),
        resource_dependencies: app
            .resource_dependencies
            .iter()
            .map(resource_dependency)
            .collect(),
        manifests: app
            .manifests
            .iter()
            .map(|text| shown_manifest(text))
            .collect(),
    });
    let controllers = intent.into_iter().flat_map(|intent| &intent.controllers);
    let controllers = controllers.map(|(name, intent)| wire::ControllerIntent {
        name: name.clone(),
        intent: intent.clone(),
    });
    GroupIntent {
        profile: record.profile.clone(),
        apps: apps.collect(),
        controllers: controllers.collect(),
    }
}

fn shown_manifest(text: &str) -> String {
    match without_secrets(text) {
        ShownText::AsItIs => text.to_owned(),
        ShownText::Redacted(redacted) => redacted,
        ShownText::Withheld => "REDACTED".to_owned(),
    }
}

pub(super) fn refusal(error: Error) -> GroupRefusal {
    let text = error.to_string();
    match error {
        Error::Invalid(problems) => {
            let problems = problems.into_iter();
            let problems = problems
                .map(|problem| PartialProblem::new(problem.path, problem.detail, problem.expected));
            GroupRefusal::Invalid(problems.collect())
        }
        Error::NotFound(_) | Error::NoContext(_) => GroupRefusal::NotFound(text),
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
            let text = "the resources cannot be sent; nothing was sent".to_owned();
            GroupRefusal::Conflict(text, problems)
        }
        Error::NoRevision { known, .. } => {
            let known = kindsight_status::one_of(known.iter().map(ToString::to_string));
            let problem = PartialProblem::new("revision", text.clone(), known);
            GroupRefusal::Conflict(text, vec![problem])
        }
        Error::OtherContent(_) => GroupRefusal::OtherContent(text),
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
