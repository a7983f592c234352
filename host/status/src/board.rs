//! Where the wiring shows what is known, and queries find it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use kindsight_model::{ClusterName, ContextId, DigName};

use crate::query::{Instance, Problem, QueryError, StatusQuery};
use crate::record::RecordView;
use crate::view::ContextView;

/// How many known names an answer lists when it was asked for one that is not.
pub const KNOWN_SHOWN_MAX: usize = 20;

/// Everything that can be asked about, as it stands now.
///
/// A query takes the lock for as long as it takes to clone two [`Arc`]s, and is answered from one
/// published state: whatever is published while it is answered does not mix in.
#[derive(Debug, Default)]
pub struct Board {
    shown: RwLock<Shown>,
}

/// What is shown on a [`Board`].
#[derive(Debug, Default)]
pub struct Shown {
    /// What was done to each deployment intent group.
    pub digs: HashMap<DigName, Arc<RecordView>>,
    /// What was done to each cluster.
    pub clusters: HashMap<ClusterName, Arc<RecordView>>,
    /// How each context stands.
    pub contexts: HashMap<ContextId, Arc<ContextView>>,
}

impl Board {
    /// Changes what is shown, in one step: no query sees half of it.
    ///
    /// Queries wait for `change`, so it only puts in and takes out what was made before; what it
    /// returns is dropped by the caller, after queries may go on.
    pub fn publish<R>(&self, change: impl FnOnce(&mut Shown) -> R) -> R {
        change(&mut self.shown.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Finds what a query about a deployment intent group is answered from.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a group, or an instance of it, that does not exist.
    pub fn dig(&self, name: &DigName, query: &StatusQuery) -> Result<Subject, QueryError> {
        let shown = self.read();
        let Some(record) = shown.digs.get(name) else {
            let near = shown.digs.keys().filter(|dig| dig.project == name.project);
            let part = "deployment-intent-group";
            return Err(not_found(unknown(part, name, known(near))));
        };
        shown.subject(Name::Dig(name.clone()), record, query)
    }

    /// Finds what a query about a cluster is answered from.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a cluster, or an instance of it, that does not exist.
    pub fn cluster(&self, name: &ClusterName, query: &StatusQuery) -> Result<Subject, QueryError> {
        let shown = self.read();
        let Some(record) = shown.clusters.get(name) else {
            let near = shown
                .clusters
                .keys()
                .filter(|cluster| cluster.provider == name.provider);
            return Err(not_found(unknown("cluster", name, known(near))));
        };
        shown.subject(Name::Cluster(name.clone()), record, query)
    }

    fn read(&self) -> RwLockReadGuard<'_, Shown> {
        // A change that panicked has put in whole entries or none.
        self.shown.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn subject(
        &self,
        name: Name,
        record: &Arc<RecordView>,
        query: &StatusQuery,
    ) -> Result<Subject, QueryError> {
        let instance = match &query.instance {
            Instance::Latest | Instance::List => record.latest_instance(),
            Instance::Of(id) if record.names(id) => Some(id),
            Instance::Of(id) => {
                return Err(not_found(unknown(
                    "instance",
                    id,
                    known(record.instances()),
                )));
            }
        };
        Ok(Subject {
            name,
            record: Arc::clone(record),
            instance: instance.cloned(),
            context: instance.and_then(|id| self.contexts.get(id)).cloned(),
        })
    }
}

/// What one query is answered from: it stays as it is while the answer is written.
#[derive(Debug)]
pub struct Subject {
    pub(crate) name: Name,
    pub(crate) record: Arc<RecordView>,
    /// The context that is asked about; none if there never was one.
    pub(crate) instance: Option<ContextId>,
    /// None if there never was one, or it is not kept any more.
    pub(crate) context: Option<Arc<ContextView>>,
}

/// What is asked about.
#[derive(Debug)]
pub(crate) enum Name {
    Dig(DigName),
    Cluster(ClusterName),
}

pub(crate) fn not_found(problem: Problem) -> QueryError {
    QueryError::NotFound(vec![problem])
}

/// A name that is none of those that are known.
pub(crate) fn unknown(parameter: &str, name: impl Display, known: String) -> Problem {
    Problem::new(parameter, format!("there is no `{name}`"), known)
}

/// Lists what is known, for someone who asked for something else.
pub(crate) fn known(names: impl IntoIterator<Item = impl Display>) -> String {
    let names: BTreeSet<String> = names.into_iter().map(|name| name.to_string()).collect();
    let shown: Vec<_> = names
        .iter()
        .take(KNOWN_SHOWN_MAX)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.len().saturating_sub(shown.len()) {
        0 if shown.is_empty() => "nothing of the kind is known".to_owned(),
        0 => format!("one of {}", shown.join(", ")),
        more => format!("one of {} and {more} more", shown.join(", ")),
    }
}
