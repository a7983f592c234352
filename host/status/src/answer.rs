//! Answers to queries, each from one snapshot of the read model.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use kindsight_api::problem::PartialProblem;
use kindsight_api::status::{
    Action, CompositeApp, Instances, QueryType, Readiness, State, Status, StatusAnswer,
};
use kindsight_model::{ContextId, DigName, RecordSubject};

use crate::problem::{KNOWN_COUNTED_MAX, QueryError, first_of, known, not_found, unknown};
use crate::query::{Instance, StatusQuery};
use crate::record::ActionView;
use crate::store::StoreAway;
use crate::subject::Subject;
use crate::view::{ClusterView, ContextView};

mod faults;
mod involved;
mod listing;
mod past;
mod reason;
mod resources;
mod selection;
mod whole;

use faults::faults_of;

pub use faults::FAULTS_SHOWN_MAX;
pub use listing::ListedNames;
pub(crate) use listing::name_list;
pub(crate) use past::PastNames;
pub use resources::Resources;
pub(crate) use selection::{Selection, named, staleness};
pub(crate) use whole::whole;

/// Maximum number of wrong names of one parameter in an error. More names would not help the user, and each
/// name costs a lookup in every cluster.
pub const NAMES_WRONG_MAX: usize = 20;

/// The message of an answer with `type=rsync` about a found application.
const NOTHING_SENT: &str = "it was found in the clusters, and no orchestrator recorded it; ask for its state with `type=cluster`";

impl Subject {
    /// Answers `query`. It must be the query that the subject was looked up with.
    ///
    /// The cost grows with the size of the answer: counts are precomputed, resources requested by name are
    /// looked up in an index, and each resource is built when it is serialized.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for names that are not in the context, and for an instance that is no longer
    /// stored.
    pub fn answer(
        &self,
        query: &StatusQuery,
    ) -> Result<StatusAnswer<'_, Resources<'_>, ListedNames<'_>>, QueryError> {
        if query.instance == Instance::List {
            return Ok(StatusAnswer::Instances(self.instances()));
        }
        if let Some(listing) = query.listing {
            return Ok(StatusAnswer::Names(self.names(listing, query)?));
        }
        let mut status = self.status();
        match (&self.context, &self.instance) {
            (Some(context), _) => {
                check_names(context, query, &PastNames::default())?;
                let kind = query.kind.unwrap_or(self.default_kind());
                fill(&mut status, context, query, kind);
                if query.explain {
                    self.name_claims(&mut status);
                }
                if kind == QueryType::Rsync && self.is_found() {
                    status.message = Some(NOTHING_SENT.into());
                }
            }
            (None, Some(id)) if query.instance != Instance::Latest => {
                return Err(not_found(unknown("instance", id, not_stored(id))));
            }
            (None, _) => status.message = self.no_context().map(Cow::Owned),
        }
        Ok(StatusAnswer::Status(Box::new(status)))
    }

    /// The status for a query, as [`Self::answer`] has it. A name that does not exist selects nothing.
    ///
    /// For subscriptions: they may begin before a name exists, and continue after it is gone.
    pub fn selected(&self, query: &StatusQuery) -> Status<'_, Resources<'_>> {
        let mut status = self.status();
        match &self.context {
            Some(context) => {
                let kind = query.kind.unwrap_or(self.default_kind());
                fill(&mut status, context, query, kind);
            }
            None => status.message = self.no_context().map(Cow::Owned),
        }
        status
    }

    /// The reason why the subject has no context; `None` if it has one.
    pub(crate) fn no_context(&self) -> Option<String> {
        match (&self.context, &self.instance) {
            (Some(_), _) => None,
            (None, Some(id)) => Some(not_stored(id)),
            (None, None) => Some("it was never instantiated".to_owned()),
        }
    }

    fn instances(&self) -> Instances<'_> {
        let instances = self.record.instances();
        Instances {
            name: self.name(),
            logical_cloud: self.logical_cloud(),
            app: CompositeApp {
                profile: None,
                ..self.composite_app()
            },
            instances: instances.into_iter().map(|id| id.as_str().into()).collect(),
        }
    }

    /// Names the claims of applications that the reader may see.
    fn name_claims(&self, status: &mut Status<'_, Resources<'_>>) {
        let clusters = status.apps.iter_mut().flat_map(|app| &mut app.clusters);
        clusters.for_each(|cluster| cluster.resources.name_claims_of(&self.visible));
    }

    /// A status with only the members that do not depend on the context's resources.
    fn status(&self) -> Status<'_, Resources<'_>> {
        Status {
            app: self.composite_app(),
            logical_cloud: self.logical_cloud(),
            name: self.name(),
            state: State {
                actions: self.record.actions.iter().map(action).collect(),
            },
            status: None,
            message: None,
            store: self.store.as_deref().map(StoreAway::shown),
            state_store: self.state_store.as_deref().map(StoreAway::shown),
            rsync_status: BTreeMap::new(),
            cluster_status: BTreeMap::new(),
            readiness: Readiness::default(),
            faults: Cow::Borrowed(&[]),
            apps: Vec::new(),
        }
    }

    pub(crate) fn name(&self) -> Cow<'_, str> {
        match &self.name {
            RecordSubject::Group(asked) => (&*self.context_dig().unwrap_or(asked).dig).into(),
            RecordSubject::Cluster(cluster) => cluster.to_string().into(),
            RecordSubject::LogicalCloud(cloud) => (&*cloud.name).into(),
        }
    }

    /// The composite application from the context's metadata; without metadata, from the query.
    pub(crate) fn composite_app(&self) -> CompositeApp<'_> {
        let asked = match &self.name {
            RecordSubject::Group(asked) => asked,
            RecordSubject::Cluster(_) => return CompositeApp::default(),
            RecordSubject::LogicalCloud(cloud) => {
                return CompositeApp {
                    project: Some((&*cloud.project).into()),
                    ..CompositeApp::default()
                };
            }
        };
        let dig = self.context_dig().unwrap_or(asked);
        CompositeApp {
            project: Some((&*dig.project).into()),
            name: Some((&*dig.composite_app).into()),
            version: Some((&*dig.version).into()),
            profile: self.record.profile.as_deref().map(Cow::Borrowed),
        }
    }

    /// The name of the logical cloud, if the subject is one.
    fn logical_cloud(&self) -> Option<Cow<'_, str>> {
        match &self.name {
            RecordSubject::LogicalCloud(cloud) => Some((&*cloud.name).into()),
            RecordSubject::Group(_) | RecordSubject::Cluster(_) => None,
        }
    }

    fn context_dig(&self) -> Option<&DigName> {
        self.context
            .as_ref()
            .and_then(|context| context.meta.as_ref())
    }
}

fn not_stored(id: &ContextId) -> String {
    format!("the AppContext {id} is no longer stored")
}

fn action(action: &ActionView) -> Action<'_> {
    Action {
        state: action.state,
        context_id: action
            .instance
            .as_ref()
            .map_or("", ContextId::as_str)
            .into(),
        time_stamp: (&*action.time).into(),
        revision: action.revision,
    }
}

/// Checks that each name in the query exists or occurs in the history. It is not an error if existing names
/// together select no resource.
///
/// Each name costs a lookup in each cluster. The known names are listed once.
pub(crate) fn check_names(
    context: &ContextView,
    query: &StatusQuery,
    past: &PastNames,
) -> Result<(), QueryError> {
    let mut problems = Vec::new();
    if !query.apps.is_empty() {
        let apps: BTreeSet<&str> = context.apps.iter().map(|app| &**app.name()).collect();
        let wrong = query.apps.iter().filter(|app| !apps.contains(app.as_str()));
        let wrong = wrong.filter(|app| !past.apps.contains(*app));
        add_unknown(&mut problems, "app", wrong, || known(&apps));
    }
    if !query.clusters.is_empty() {
        let clusters: BTreeSet<_> = context.clusters().map(ClusterView::cluster).collect();
        let wrong = query
            .clusters
            .iter()
            .filter(|cluster| !clusters.contains(cluster))
            .filter(|cluster| !past.clusters.contains(cluster));
        add_unknown(&mut problems, "cluster", wrong, || known(&clusters));
    }
    let has = |name: &str| context.clusters().any(|cluster| cluster.has(name));
    let wrong = query.resources.iter().filter(|name| !has(name));
    let wrong = wrong.filter(|name| !past.resources.contains(*name));
    add_unknown(&mut problems, "resource", wrong, || {
        known_resources(context)
    });
    if problems.is_empty() {
        Ok(())
    } else {
        Err(QueryError::NotFound(problems))
    }
}

/// Adds a problem for each wrong name of a parameter, up to [`NAMES_WRONG_MAX`]. The search then ends.
fn add_unknown(
    problems: &mut Vec<PartialProblem>,
    parameter: &str,
    wrong: impl Iterator<Item = impl Display>,
    known: impl FnOnce() -> String,
) {
    let wrong: Vec<_> = wrong.take(NAMES_WRONG_MAX).collect();
    if wrong.is_empty() {
        return;
    }
    let known = known();
    let wrong = wrong.into_iter();
    problems.extend(wrong.map(|name| unknown(parameter, name, known.clone())));
}

/// Lists the known names of resources. If there are few, the text counts all of them. If there are many, it
/// uses only the first names of each cluster, which are precomputed.
fn known_resources(context: &ContextView) -> String {
    let count: usize = context.clusters().map(ClusterView::name_count).sum();
    if count <= KNOWN_COUNTED_MAX {
        let names: BTreeSet<_> = context.clusters().flat_map(ClusterView::names).collect();
        return known(names);
    }
    let first = first_of(context.clusters().flat_map(ClusterView::first_names));
    format!("{} and more", known(first))
}

fn fill<'a>(
    status: &mut Status<'a, Resources<'a>>,
    context: &'a ContextView,
    query: &StatusQuery,
    kind: QueryType,
) {
    let selection = Selection::of(query, kind, context);
    let (apps, count) = selection.apps(context);
    status.apps = apps;
    status.status.clone_from(&context.status);
    status.faults = faults_of(context, &selection);
    status.readiness = selection.readiness(&count);
    match kind {
        QueryType::Rsync => status.rsync_status = named(count.rsync),
        QueryType::Cluster => status.cluster_status = named(count.states),
        QueryType::All => {
            status.rsync_status = named(count.rsync);
            status.cluster_status = named(count.states);
        }
    }
}

#[cfg(test)]
mod tests;
