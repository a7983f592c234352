//! Answers in EMCO's newer dialect.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kindsight_api::emco::{
    AppStatus, ClusterStatus, EmcoAnswer, EmcoCompositeApp, GroupStatus, LogicalCloudStatus,
    NO_TIME, PlacementStatus, StateAction, States, StatusResult,
};
use kindsight_api::status::{self as api, Output, QueryType};
use kindsight_model::{Connectivity, ContextId};

use super::resources::{EmcoResources, Form};
use super::{EmcoError, EmcoQuery, EmcoSubject, of_rollup};
use crate::answer::{ListedNames, Resources, Selection, named};
use crate::record::ActionView;
use crate::subject::Subject;
use crate::view::{ClusterView, ContextView};

type Placement<'a> = PlacementStatus<'a, EmcoResources<'a>>;
type App<'a> = AppStatus<'a, EmcoResources<'a>>;

impl Subject {
    /// Answers `query` in EMCO's newer dialect. It must be the query that the subject was looked up with. The
    /// cost is the same as for [`Subject::answer`].
    ///
    /// # Errors
    /// As for [`Subject::emco_check`].
    pub fn emco_answer(
        &self,
        query: &EmcoQuery,
    ) -> Result<EmcoAnswer<'_, EmcoResources<'_>, ListedNames<'_>>, EmcoError> {
        self.emco_check(query)?;
        if let Some(listing) = query.selection.listing {
            return Ok(EmcoAnswer::Names(self.emco_names(listing, query)));
        }
        let mut result = self.emco_result();
        let mut apps = Vec::new();
        if let Some(context) = &self.context {
            apps = self.fill(&mut result, context, query);
        }
        Ok(self.assembled(query.subject, result, apps))
    }

    /// The context that stores the statuses.
    fn status_context(&self) -> Option<&ContextId> {
        let of_context = || self.context.as_deref()?.status_context.as_ref();
        self.record.status_context.as_ref().or_else(of_context)
    }

    /// A result with the members that do not depend on the context.
    fn emco_result(&self) -> StatusResult<'_> {
        StatusResult {
            name: self.name(),
            states: States {
                status_context: self.status_context().map_or("", ContextId::as_str).into(),
                actions: self.record.actions.iter().map(action).collect(),
            },
            status: None,
            deployed_status: None,
            ready_status: None,
            rsync_status: BTreeMap::new(),
            cluster_status: BTreeMap::new(),
            deployed_counts: BTreeMap::new(),
            ready_counts: BTreeMap::new(),
        }
    }

    /// Sets the members that depend on the context, and returns the apps with selected resources.
    fn fill<'a>(
        &self,
        result: &mut StatusResult<'a>,
        context: &'a ContextView,
        query: &EmcoQuery,
    ) -> Vec<App<'a>> {
        let kind = query.selection.kind.unwrap_or(self.default_kind());
        let selection = Selection::of(&query.selection, kind, context);
        let form = Form {
            kind,
            asks_status: query.asks_status,
            is_detail: query.selection.output == Output::Detail,
        };
        let (apps, count) = selection.apps(context);
        let apps = apps.into_iter().map(|app| app_status(app, form));
        // For a cluster's own resources, EMCO sends `readyStatus` only in answers to `status`.
        if kind != QueryType::Rsync && (form.asks_status || query.subject != EmcoSubject::Cluster) {
            let rolled_up = count.rollup().result(selection.desired);
            result.ready_status = Some(of_rollup(rolled_up.phase));
        }
        let ready = count.ready.iter();
        let ready = ready
            .map(|(word, count)| (word.as_str().into(), *count))
            .collect();
        match (kind, form.asks_status) {
            (QueryType::Rsync, false) => result.rsync_status = named(count.rsync),
            (QueryType::Rsync, true) => result.deployed_counts = named(count.rsync),
            (QueryType::Cluster, false) => result.cluster_status = ready,
            (QueryType::Cluster, true) => result.ready_counts = ready,
            (QueryType::All, false) => {
                result.rsync_status = named(count.rsync);
                result.cluster_status = ready;
            }
            (QueryType::All, true) => {
                result.deployed_counts = named(count.rsync);
                result.ready_counts = ready;
            }
        }
        if form.asks_status {
            result.deployed_status.clone_from(&context.status);
        } else {
            result.status.clone_from(&context.status);
        }
        apps.collect()
    }

    /// The answer about this kind of subject.
    fn assembled<'a>(
        &'a self,
        subject: EmcoSubject,
        result: StatusResult<'a>,
        apps: Vec<App<'a>>,
    ) -> EmcoAnswer<'a, EmcoResources<'a>, ListedNames<'a>> {
        let mut placements = apps.into_iter();
        match subject {
            EmcoSubject::Group => EmcoAnswer::Group(Box::new(GroupStatus {
                app: self.emco_app(),
                result,
                apps: placements.collect(),
                child_context_ids: self.children(),
            })),
            EmcoSubject::Cluster => {
                let placements = placements.by_ref().flat_map(|app| app.clusters);
                let cluster = placements.reduce(joined).unwrap_or_default();
                EmcoAnswer::Cluster(Box::new(ClusterStatus { result, cluster }))
            }
            EmcoSubject::LogicalCloud => EmcoAnswer::LogicalCloud(Box::new(LogicalCloudStatus {
                project: self.composite_app().project.unwrap_or_default(),
                result,
                child_context_ids: self.children(),
                clusters: placements.flat_map(|app| app.clusters).collect(),
            })),
        }
    }

    fn children(&self) -> Vec<Cow<'_, str>> {
        let context = self.context.iter();
        let children = context.flat_map(|context| &context.children);
        children.map(|id| id.as_str().into()).collect()
    }

    pub(super) fn emco_app(&self) -> EmcoCompositeApp<'_> {
        let app = self.composite_app();
        EmcoCompositeApp {
            project: app.project,
            composite_app: app.name,
            composite_app_version: app.version,
            composite_profile: app.profile,
        }
    }
}

fn action(action: &ActionView) -> StateAction<'_> {
    let instance = action.instance.as_ref();
    StateAction {
        state: action.state,
        instance: instance.map_or("", ContextId::as_str).into(),
        time: if action.time.is_empty() {
            NO_TIME
        } else {
            &action.time
        }
        .into(),
        revision: action.revision,
    }
}

fn app_status<'a>(app: api::App<'a, Resources<'a>>, form: Form) -> App<'a> {
    let clusters = app.clusters.into_iter();
    AppStatus {
        name: app.name,
        clusters: clusters.map(|cluster| placement(cluster, form)).collect(),
    }
}

fn placement<'a>(cluster: api::Cluster<'a, Resources<'a>>, form: Form) -> Placement<'a> {
    let connectivity = Some(connectivity(cluster.resources.view()));
    let (connectivity, ready_status) = if form.asks_status {
        (connectivity, None)
    } else {
        (None, connectivity)
    };
    PlacementStatus {
        cluster_provider: Some(cluster.cluster_provider),
        cluster: Some(cluster.cluster),
        ready_status,
        connectivity,
        resources: Some(EmcoResources::new(cluster.resources, form)),
    }
}

/// Joins the resources of both placements under the cluster of the first. The context of a cluster normally
/// has one app in one cluster; if it has more, no resource is lost.
fn joined<'a>(mut first: Placement<'a>, second: Placement<'a>) -> Placement<'a> {
    if let (Some(resources), Some(more)) = (&mut first.resources, second.resources) {
        resources.append(more);
    }
    first
}

/// The word for the connection to a cluster. If the report is stale, the word is never better than
/// `Retrying`.
fn connectivity(view: &ClusterView) -> Connectivity {
    match view.report().stale() {
        Some(_) => Connectivity::Retrying,
        None => view.connectivity(),
    }
}
