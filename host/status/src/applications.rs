//! The list of applications: recorded applications, and applications that were found in the clusters.

mod near;
mod query;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use kindsight_api::applications::{Application, ApplicationList, WorstResource};
use kindsight_api::status::{CompositeApp, Readiness};
use kindsight_model::{ClusterName, DigName, Phase};

use crate::history::Histories;
use crate::moment::moment;
use crate::phase_counts::PhaseCounts;
use crate::problem::{QueryError, known, not_found, unknown};
use crate::query::StatusQuery;
use crate::rollup::Desired;
use crate::snapshot::VisibleSnapshot;
use crate::store::StoreAway;
use crate::subject::Subject;
use crate::tally::ResourcePlace;
use crate::transition::Transition;
use crate::view::ContextView;

use near::near;
pub use query::ApplicationQuery;

/// Maximum number of applications in one answer; the first ones by name are listed, the others are counted.
pub const APPLICATIONS_SHOWN_MAX: usize = 10_000;

/// The applications that a query selects, at one moment.
#[derive(Debug)]
pub struct Applications {
    listed: Vec<Listed>,
    pub(crate) store: Option<StoreAway>,
    pub(crate) state_store: Option<StoreAway>,
    query: ApplicationQuery,
}

/// An application at one moment.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) subject: Subject,
    /// The last transition of the application's own state.
    changed: Option<Arc<Transition>>,
}

/// The phases of one application at one moment, for metrics.
#[derive(Debug)]
pub struct ApplicationPhases<'a> {
    /// Its name.
    pub name: &'a DigName,
    /// Its phase according to all its resources; `Unknown` if it has no resources.
    pub phase: Phase,
    /// True if the report of a cluster on one of its apps is stale.
    pub is_stale: bool,
    /// The number of its resources in each phase, with hooks, children and resources that no longer exist.
    pub resources: PhaseCounts,
}

/// The result of looking up applications, before its names are checked.
#[derive(Debug)]
pub struct ApplicationLookup {
    applications: Applications,
    /// Similar names, if no application has the name of the query.
    near: Vec<DigName>,
    /// The configured clusters, if the query names clusters.
    connected: BTreeSet<ClusterName>,
}

impl ApplicationLookup {
    /// Checks the names of the query.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a name that no application has, and for an unknown cluster.
    pub fn checked(self) -> Result<Applications, QueryError> {
        let Applications { listed, query, .. } = &self.applications;
        if let Some(name) = &query.name
            && listed.is_empty()
        {
            return Err(not_found(unknown("name", name, known(self.near))));
        }
        if query.clusters.is_empty() {
            return Ok(self.applications);
        }
        let clusters = listed.iter().flat_map(|listed| listed.subject.clusters());
        let every: BTreeSet<&ClusterName> = clusters.chain(&self.connected).collect();
        let wrong = query.clusters.iter().filter(|name| !every.contains(name));
        let wrong: Vec<_> = wrong
            .map(|name| unknown("cluster", name, known(&every)))
            .collect();
        if wrong.is_empty() {
            Ok(self.applications)
        } else {
            Err(QueryError::NotFound(wrong))
        }
    }
}

impl VisibleSnapshot<'_> {
    /// Looks up the applications of a query, with their histories at the same moment.
    pub fn applications(
        &self,
        query: &ApplicationQuery,
        histories: &Histories,
    ) -> ApplicationLookup {
        let listed = self.named(query, histories);
        let unknown = query.name.as_ref().filter(|_| listed.is_empty());
        let near = unknown.map(|name| near(self.names(), name.last_part()));
        let connected = self.connections().map(|(name, _)| name);
        let connected = connected.filter(|_| !query.clusters.is_empty());
        ApplicationLookup {
            near: near.into_iter().flatten().cloned().collect(),
            connected: connected.cloned().collect(),
            applications: Applications {
                listed,
                store: self.snapshot.store_away().cloned(),
                state_store: self.snapshot.state_store_away().cloned(),
                query: query.clone(),
            },
        }
    }

    /// The names of all applications, in order.
    fn names(&self) -> impl Iterator<Item = &DigName> {
        let found = self.found().map(|(name, _)| name);
        let mut names: Vec<&DigName> = found.chain(self.digs()).collect();
        // Merges two sorted parts. A configured application may have the name of a group.
        names.sort();
        names.dedup();
        names.into_iter()
    }

    /// The applications that match the name of a query, in order.
    fn named(&self, query: &ApplicationQuery, histories: &Histories) -> Vec<Listed> {
        let names = self.names().filter(|name| query.is_about(name));
        let listed = names.filter_map(|name| {
            let subject = self.dig(name, &StatusQuery::default()).ok()?;
            let key = subject.history_key();
            let changed = key.and_then(|key| histories.last_of_application(&key));
            Some(Listed { subject, changed })
        });
        listed.collect()
    }
}

impl Applications {
    /// The number of placements (apps in clusters) that the answer may cover.
    pub fn placements(&self) -> usize {
        let subjects = self.listed.iter().map(|listed| &listed.subject);
        subjects.map(Subject::placements).sum()
    }

    /// The answer, in order of the names.
    pub fn answer(&self) -> ApplicationList<'_> {
        let mut list = ApplicationList {
            store: self.store.as_ref().map(StoreAway::shown),
            state_store: self.state_store.as_ref().map(StoreAway::shown),
            ..ApplicationList::default()
        };
        let mut more = 0;
        for listed in &self.listed {
            let Some(application) = self.selected(listed) else {
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

    /// The phases of each application and of its resources, in order of the names.
    pub fn phases(&self) -> impl Iterator<Item = ApplicationPhases<'_>> {
        self.listed().map(|(name, listed)| {
            let context = listed.subject.context.as_deref();
            let desired = context.map_or(Desired::Present, ContextView::desired);
            let all = context.map(ContextView::phases).unwrap_or_default();
            let mut views = context.into_iter().flat_map(ContextView::clusters);
            let is_stale = views.any(|view| view.report().stale().is_some());
            ApplicationPhases {
                name,
                phase: all.rollup().result(desired).phase,
                is_stale,
                resources: all.phase_counts(),
            }
        })
    }

    /// Every application that matches the name of the query, in order, with the subject of a query about it.
    pub fn subjects(&self) -> impl Iterator<Item = (&DigName, &Subject)> {
        self.listed().map(|(name, listed)| (name, &listed.subject))
    }

    /// Every application that matches the name of the query, in order.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&DigName, &Listed)> {
        let listed = self.listed.iter();
        listed.filter_map(|listed| Some((listed.subject.dig()?, listed)))
    }

    /// An application; `None` if the query excludes its clusters or its state.
    pub(crate) fn selected<'a>(&self, listed: &'a Listed) -> Option<Application<'a>> {
        let asked = &self.query.clusters;
        let mut clusters = listed.subject.clusters();
        if !asked.is_empty() && !clusters.any(|cluster| asked.contains(cluster)) {
            return None;
        }
        let application = listed.application()?;
        let phases = &self.query.phases;
        let phase = application.readiness.ready_phase;
        let is_selected = phases.is_empty() || phase.is_some_and(|phase| phases.contains(&phase));
        is_selected.then_some(application)
    }
}

impl Subject {
    /// The application as an item of the list, with the start of its state according to its resources; `None`
    /// for a context with a cluster's own resources.
    fn application(&self) -> Option<Application<'_>> {
        let name = self.dig()?;
        let clusters: BTreeSet<&ClusterName> = self.clusters().collect();
        let mut application = Application {
            // The name from the query: the name in the context may have another version.
            app: CompositeApp {
                project: Some((&*name.project).into()),
                name: Some((&*name.composite_app).into()),
                version: Some((&*name.version).into()),
                profile: None,
            },
            name: (&*name.dig).into(),
            clusters: clusters
                .iter()
                .map(|cluster| cluster.to_string().into())
                .collect(),
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

impl Listed {
    /// The application as an item of the list; `None` for a context with a cluster's own resources.
    fn application(&self) -> Option<Application<'_>> {
        let mut application = self.subject.application()?;
        application.since = self.since(&application.readiness).or(application.since);
        Some(application)
    }

    /// The time of the last change of state; `None` if the application has not changed since it was first
    /// seen, or its history was dropped.
    fn since(&self, shown: &Readiness<'_>) -> Option<Timestamp> {
        let changed = self.changed.as_ref()?;
        let to = changed.to.as_ref()?;
        let is_shown = shown.ready_phase == Some(to.phase)
            && shown.ready_status.as_deref() == Some(&*to.state);
        let since_ms = changed
            .since_ms
            .filter(|_| is_shown && changed.from.is_some());
        since_ms.and_then(moment)
    }
}

fn worst(place: ResourcePlace<'_>) -> Option<WorstResource<'_>> {
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
