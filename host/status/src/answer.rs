//! Answers a query from one published state.

use std::borrow::Cow;
use std::collections::BTreeSet;

use kindsight_model::{ContextId, ContextStatus, DigName};

use crate::board::{Name, Subject, known, not_found, unknown};
use crate::query::{Instance, Output, QueryError, QueryType, StatusQuery};
use crate::record::ActionView;
use crate::response::{Action, Answer, CompositeApp, Instances, State, Status};
use crate::view::{ClusterView, ContextView};

mod selection;

use selection::{Count, Selection, first};

impl Subject {
    /// Answers `query`, which has to be the one that this subject was found for.
    ///
    /// The time it takes grows with what it returns: counts are ready, and resources that are asked
    /// for by name are looked up.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for names that the context does not know, and where an instance that
    /// was asked for is not kept any more.
    pub fn answer(&self, query: &StatusQuery) -> Result<Answer<'_>, QueryError> {
        if query.instance == Instance::List {
            return Ok(Answer::Instances(self.instances()));
        }
        let mut status = self.status();
        match (&self.context, &self.instance) {
            (Some(context), _) => {
                check_names(context, query)?;
                fill(&mut status, context, query);
            }
            (None, Some(id)) if query.instance != Instance::Latest => {
                return Err(not_found(unknown("instance", id, not_kept(id))));
            }
            (None, Some(id)) => status.message = Some(not_kept(id)),
            (None, None) => status.message = Some("it was never instantiated".to_owned()),
        }
        Ok(Answer::Status(Box::new(status)))
    }

    fn instances(&self) -> Instances<'_> {
        let instances = self.record.instances();
        Instances {
            name: self.name(),
            app: CompositeApp {
                profile: None,
                ..self.composite_app()
            },
            instances: instances.into_iter().map(ContextId::as_str).collect(),
        }
    }

    /// The answer as far as it does not depend on the context's resources.
    fn status(&self) -> Status<'_> {
        Status {
            app: self.composite_app(),
            name: self.name(),
            state: State {
                actions: self.record.actions.iter().map(action).collect(),
            },
            status: None,
            message: None,
            rsync_status: [].into(),
            cluster_status: [].into(),
            readiness: None,
            faults: &[],
            apps: Vec::new(),
        }
    }

    fn name(&self) -> Cow<'_, str> {
        match &self.name {
            Name::Dig(asked) => (&*self.context_dig().unwrap_or(asked).dig).into(),
            Name::Cluster(cluster) => cluster.to_string().into(),
        }
    }

    /// What was really instantiated comes first, what was asked for second.
    fn composite_app(&self) -> CompositeApp<'_> {
        let Name::Dig(asked) = &self.name else {
            return CompositeApp::default();
        };
        let dig = self.context_dig().unwrap_or(asked);
        CompositeApp {
            project: Some(&dig.project),
            name: Some(&dig.composite_app),
            version: Some(&dig.version),
            profile: self.record.profile.as_deref(),
        }
    }

    fn context_dig(&self) -> Option<&DigName> {
        self.context
            .as_ref()
            .and_then(|context| context.meta.as_ref())
    }
}

fn not_kept(id: &ContextId) -> String {
    format!("the AppContext {id} is not kept any more")
}

fn action(action: &ActionView) -> Action<'_> {
    Action {
        state: action.state.as_str(),
        context_id: action.instance.as_ref().map_or("", ContextId::as_str),
        time_stamp: &action.time,
    }
}

/// Names nobody knows are an error; names that together select nothing are not.
fn check_names(context: &ContextView, query: &StatusQuery) -> Result<(), QueryError> {
    let mut problems = Vec::new();
    if !query.apps.is_empty() {
        let apps: BTreeSet<&str> = context.apps.iter().map(|app| &*app.name).collect();
        let wrong = query.apps.iter().filter(|app| !apps.contains(app.as_str()));
        problems.extend(wrong.map(|app| unknown("app", app, known(&apps))));
    }
    if !query.clusters.is_empty() {
        let clusters: BTreeSet<_> = context.clusters().map(ClusterView::cluster).collect();
        let wrong = query
            .clusters
            .iter()
            .filter(|cluster| !clusters.contains(cluster));
        problems.extend(wrong.map(|cluster| unknown("cluster", cluster, known(&clusters))));
    }
    for resource in &query.resources {
        if !context.clusters().any(|cluster| cluster.has(resource)) {
            let all = context.clusters().flat_map(ClusterView::resources);
            problems.push(unknown(
                "resource",
                resource,
                known(all.map(|one| &one.name)),
            ));
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(QueryError::NotFound(problems))
    }
}

fn fill<'a>(status: &mut Status<'a>, context: &'a ContextView, query: &StatusQuery) {
    let selection = Selection {
        query,
        wanted: context.wanted(),
    };
    let mut count = Count::default();
    for app in &context.apps {
        if let Some((app, of_app)) = selection.app(app) {
            count.merge(of_app);
            status.apps.push(app);
        }
    }
    if query.output == Output::Summary {
        status.apps.clear();
    }
    status.status = context.status.as_ref().map(ContextStatus::as_str);
    status.faults = first(&context.faults);
    status.readiness = selection.readiness(&count);
    match query.kind {
        QueryType::Rsync => status.rsync_status = count.rsync,
        QueryType::Cluster => status.cluster_status = count.states,
    }
}

#[cfg(test)]
mod tests;
