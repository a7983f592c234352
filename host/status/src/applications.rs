//! The list of applications: recorded ones, and those that were found in the clusters.

mod near;
mod query;

use std::borrow::Cow;
use std::collections::BTreeSet;

use kindsight_api::applications::{Application, ApplicationList, WorstResource};
use kindsight_api::status::{CompositeApp, Readiness};
use kindsight_model::{ClusterName, DigName};

use crate::moment::moment;
use crate::problem::{QueryError, known, not_found, unknown};
use crate::query::StatusQuery;
use crate::read_model::{ReadModel, Snapshot, Subject};
use crate::store::StoreAway;
use crate::tally::Place;
use crate::view::ClusterView;

use near::near;
pub use query::ApplicationQuery;

/// Maximum number of applications in one answer; the first ones by name are listed, the others are counted.
pub const APPLICATIONS_SHOWN_MAX: usize = 10_000;

/// The applications that a query selects, as they were at one moment.
#[derive(Debug)]
pub struct Applications {
    subjects: Vec<Subject>,
    pub(crate) store: Option<StoreAway>,
    pub(crate) state_store: Option<StoreAway>,
    query: ApplicationQuery,
}

impl ReadModel {
    /// Looks up the applications that a query is about.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a name that no application has, and for a cluster that nobody knows.
    pub fn applications(&self, query: &ApplicationQuery) -> Result<Applications, QueryError> {
        let (subjects, store, state_store) = self.inspect(|snapshot| {
            let stores = [snapshot.store_away(), snapshot.state_store_away()];
            let [store, state_store] = stores.map(Option::<&_>::cloned);
            (snapshot.named(query), store, state_store)
        });
        // Texts are written without the lock.
        if let Some(name) = &query.name
            && subjects.is_empty()
        {
            let near = self.inspect(|snapshot| {
                let near = near(snapshot.names(), name.last_part()).into_iter();
                near.cloned().collect::<Vec<_>>()
            });
            return Err(not_found(unknown("name", name, known(near))));
        }
        let applications = Applications {
            subjects,
            store,
            state_store,
            query: query.clone(),
        };
        self.check_clusters(&applications)?;
        Ok(applications)
    }

    /// Checks that each cluster of the query is known.
    fn check_clusters(&self, applications: &Applications) -> Result<(), QueryError> {
        let asked = &applications.query.clusters;
        if asked.is_empty() {
            return Ok(());
        }
        let connected = self.inspect(|snapshot| {
            let names = snapshot.connections().map(|(name, _)| name.clone());
            names.collect::<BTreeSet<_>>()
        });
        let every: BTreeSet<&ClusterName> = applications
            .subjects
            .iter()
            .flat_map(Subject::clusters)
            .chain(&connected)
            .collect();
        let wrong = asked.iter().filter(|it| !every.contains(it));
        let wrong: Vec<_> = wrong
            .map(|it| unknown("cluster", it, known(&every)))
            .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(QueryError::NotFound(wrong))
    }
}

impl Snapshot {
    /// The names of all applications, in order.
    fn names(&self) -> impl Iterator<Item = &DigName> {
        let found = self.found().map(|(name, _)| name);
        let mut names: Vec<&DigName> = found.chain(self.digs()).collect();
        // Two sorted parts. One of the configuration may have the name of a group.
        names.sort();
        names.dedup();
        names.into_iter()
    }

    /// The applications that the name of a query is about, in order.
    fn named(&self, query: &ApplicationQuery) -> Vec<Subject> {
        let names = self.names().filter(|name| query.is_about(name));
        names.filter_map(|name| self.application(name)).collect()
    }
}

impl Applications {
    /// The number of placements (apps in clusters) that the answer may tell of.
    pub fn placements(&self) -> usize {
        self.subjects.iter().map(Subject::placements).sum()
    }

    /// The answer, in order of the names.
    pub fn answer(&self) -> ApplicationList<'_> {
        let mut list = ApplicationList {
            store: self.store.as_ref().map(StoreAway::shown),
            state_store: self.state_store.as_ref().map(StoreAway::shown),
            ..ApplicationList::default()
        };
        let mut more = 0;
        for subject in &self.subjects {
            let Some(application) = self.selected(subject) else {
                continue;
            };
            if list.applications.len() < APPLICATIONS_SHOWN_MAX {
                list.applications.push(application);
            } else {
                more += 1;
            }
        }
        list.more = (more > 0).then_some(more);
        list
    }

    /// Every application that the name of the query is about, in order.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = (&DigName, &Subject)> {
        let subjects = self.subjects.iter();
        subjects.filter_map(|it| Some((it.dig()?, it)))
    }

    /// An application; none if the query is not about its clusters or its state.
    pub(crate) fn selected<'a>(&self, subject: &'a Subject) -> Option<Application<'a>> {
        let asked = &self.query.clusters;
        if !asked.is_empty() && !subject.clusters().any(|it| asked.contains(it)) {
            return None;
        }
        let application = subject.application()?;
        let phases = &self.query.phases;
        let phase = application.readiness.ready_phase;
        let is_selected = phases.is_empty() || phase.is_some_and(|it| phases.contains(&it));
        is_selected.then_some(application)
    }
}

impl Subject {
    /// The clusters of its placements, with repetitions.
    fn clusters(&self) -> impl Iterator<Item = &ClusterName> {
        let contexts = self.context.iter();
        contexts.flat_map(|context| context.clusters().map(ClusterView::cluster))
    }

    /// The whole of it in a list; none for a cluster's own resources.
    fn application(&self) -> Option<Application<'_>> {
        let name = self.dig()?;
        let clusters: BTreeSet<&ClusterName> = self.clusters().collect();
        let mut application = Application {
            // As it is asked for: the context's own name may differ in its version.
            app: CompositeApp {
                project: Some((&*name.project).into()),
                name: Some((&*name.composite_app).into()),
                version: Some((&*name.version).into()),
                profile: None,
            },
            name: (&*name.dig).into(),
            clusters: clusters.iter().map(|it| it.to_string().into()).collect(),
            message: self.no_context().map(Cow::Owned),
            cluster_status: [].into(),
            readiness: Readiness::default(),
            since: None,
            worst: None,
        };
        if let Some(context) = &self.context {
            let query = StatusQuery::default();
            let whole = crate::answer::whole(context, &query);
            application.since = whole.since_ms.and_then(moment);
            application.worst = whole.worst.and_then(worst);
            application.readiness = whole.readiness;
            application.cluster_status = whole.states;
        }
        Some(application)
    }
}

fn worst(place: Place<'_>) -> Option<WorstResource<'_>> {
    let resource = place.resource()?;
    let verdict = &resource.verdict;
    Some(WorstResource {
        app: place.app.into(),
        cluster: place.cluster.to_string().into(),
        gvk: Cow::Borrowed(&resource.gvk),
        namespace: (&*resource.namespace).into(),
        name: (&*resource.name).into(),
        state: (&*verdict.state).into(),
        reason: (&*verdict.reason).into(),
        message: (&*verdict.message).into(),
    })
}

#[cfg(test)]
mod tests;
