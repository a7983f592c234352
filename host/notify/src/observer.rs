//! The observer: from changes of the read model to observed states.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kindsight_api::clusters::Connection;
use kindsight_model::{ClusterName, ContextId, DigName, Phase, RecordSubject};
use kindsight_read_model::{ChangedSubjects, ReadModel, Subscription};
use kindsight_status::{
    ApplicationKey, Before, ChangedSubject, ConnectionView, ContextView, PhaseState,
    TRANSITION_MESSAGE_BYTES_MAX, Transition, TransitionCause, transitions,
};

use crate::event::Observed;
use crate::limits::COMPARED_AT_A_TIME;
use crate::subject::Subject;

/// The last observed view of each application and the last observed connections. The views share their resources with
/// the read model.
pub(crate) struct Observer {
    read_model: ReadModel,
    applications: HashMap<DigName, Followed>,
    /// The applications of the latest instances.
    instances: HashMap<ContextId, DigName>,
    connections: HashSet<ClusterName>,
    clock: fn() -> i64,
}

/// The last observation of an application.
struct Followed {
    /// The latest instance; `None` for a found application.
    instance: Option<ContextId>,
    /// `None` before the view is published.
    view: Option<Arc<ContextView>>,
}

/// The subjects that must be compared again.
#[derive(Default)]
struct Affected {
    applications: BTreeSet<DigName>,
    connections: BTreeSet<ClusterName>,
}

/// A subject with its new state.
pub(crate) type Observation = (Subject, Observed);

impl Observer {
    /// An observer that has observed nothing, with the changes from now on. The first call of [`Observer::observe`] must
    /// be for all subjects.
    pub(crate) fn new(read_model: &ReadModel, clock: fn() -> i64) -> (Self, Subscription) {
        let ((), subscription) = read_model.subscribe(|_| ());
        let observer = Self {
            read_model: read_model.clone(),
            applications: HashMap::new(),
            instances: HashMap::new(),
            connections: HashSet::new(),
            clock,
        };
        (observer, subscription)
    }

    /// The new states of the subjects that changed. The cost grows with the resources of the placements that changed.
    pub(crate) async fn observe(&mut self, changed: ChangedSubjects) -> Vec<Observation> {
        let affected = match changed {
            ChangedSubjects::All => self.all(),
            ChangedSubjects::Some(subjects) => self.affected(subjects),
        };
        let mut observed = Vec::new();
        for (number, name) in affected.applications.into_iter().enumerate() {
            self.application(&name, &mut observed);
            if (number + 1).is_multiple_of(COMPARED_AT_A_TIME) {
                tokio::task::yield_now().await;
            }
        }
        for name in affected.connections {
            self.connection(name, &mut observed);
        }
        observed
    }

    fn all(&self) -> Affected {
        let mut affected = self.read_model.inspect(|snapshot| Affected {
            applications: snapshot.every_application().cloned().collect(),
            connections: snapshot
                .connections()
                .map(|(name, _)| name.clone())
                .collect(),
        });
        let known = self.applications.keys().cloned();
        affected.applications.extend(known);
        let known = self.connections.iter().cloned();
        affected.connections.extend(known);
        affected
    }

    fn affected(&self, changed: HashSet<ChangedSubject>) -> Affected {
        let mut affected = Affected::default();
        for subject in changed {
            match subject {
                ChangedSubject::Application(ApplicationKey::Found(name))
                | ChangedSubject::Record(RecordSubject::Group(name)) => {
                    affected.applications.insert(name);
                }
                // Another instance of a group is not shown. A new instance changes the record too.
                ChangedSubject::Application(ApplicationKey::Context(id)) => {
                    let name = self.instances.get(&id).cloned();
                    affected.applications.extend(name);
                }
                ChangedSubject::Connection(name) => {
                    affected.connections.insert(name);
                }
                ChangedSubject::Record(_) | ChangedSubject::Store | ChangedSubject::StateStore => {}
            }
        }
        affected
    }

    /// Compares an application with its last view.
    fn application(&mut self, name: &DigName, observed: &mut Vec<Observation>) {
        let current = self.read_model.inspect(|snapshot| {
            let key = snapshot.current_key(name)?;
            let view = snapshot.application(&key).cloned();
            Some((key, view))
        });
        let before = self.applications.remove(name);
        if let Some(instance) = before.as_ref().and_then(|before| before.instance.as_ref()) {
            self.instances.remove(instance);
        }
        let before = before.and_then(|before| before.view);
        let view = current.as_ref().and_then(|(_, view)| view.clone());
        if let Some((key, view)) = current {
            let instance = key.context().cloned();
            let of_instance = instance.clone().map(|id| (id, name.clone()));
            self.instances.extend(of_instance);
            self.applications
                .insert(name.clone(), Followed { instance, view });
        }
        if before.as_ref().map(Arc::as_ptr) != view.as_ref().map(Arc::as_ptr) {
            let now_ms = (self.clock)();
            compare(name, before.as_deref(), view.as_deref(), now_ms, observed);
        }
    }

    fn connection(&mut self, name: ClusterName, observed: &mut Vec<Observation>) {
        let view = self
            .read_model
            .inspect(|snapshot| snapshot.connection(&name).cloned());
        let subject = Subject::Connection(name.clone());
        let now_ms = (self.clock)();
        let state = if let Some(view) = view {
            self.connections.insert(name);
            of_connection(&view, now_ms)
        } else {
            self.connections.remove(&name);
            Observed::gone(now_ms)
        };
        observed.push((subject, state));
    }
}

/// Adds the changes between two views of an application. At least one view exists.
fn compare(
    name: &DigName,
    before: Option<&ContextView>,
    after: Option<&ContextView>,
    now_ms: i64,
    observed: &mut Vec<Observation>,
) {
    let last = before.map_or(Before::Nothing, Before::View);
    let nothing = ContextView::default();
    let shown = after.unwrap_or(&nothing);
    let found = transitions(last, shown, TransitionCause::Observed, now_ms);
    let is_gone = after.is_none();
    let found = found
        .into_iter()
        .filter(|transition| !is_gone || transition.resource.is_some());
    observed.extend(found.map(|transition| of_transition(name, transition)));
    if is_gone {
        let subject = Subject::Application(name.clone());
        observed.push((subject, Observed::gone(now_ms)));
    }
}

fn of_transition(application: &DigName, transition: Transition) -> Observation {
    let subject = transition.resource.as_ref().map_or_else(
        || Subject::Application(application.clone()),
        |id| Subject::resource(application, id),
    );
    let observed = Observed {
        state: transition.to,
        at_ms: transition.at_ms,
        reason: transition.reason,
        message: transition.message,
    };
    (subject, observed)
}

/// The state of a connection. A cluster that cannot be reached has an unknown state.
fn of_connection(view: &ConnectionView, now_ms: i64) -> Observed {
    let (phase, state, reason) = match view.state {
        Connection::Connected => (Phase::Ready, "Connected", ""),
        Connection::Connecting => (Phase::Pending, "Connecting", ""),
        Connection::Stale => (Phase::Unknown, "Stale", "Unreachable"),
    };
    let message = view.reason.as_deref().unwrap_or_default();
    let end = message.floor_char_boundary(TRANSITION_MESSAGE_BYTES_MAX);
    Observed {
        state: Some(PhaseState {
            phase,
            state: state.into(),
        }),
        at_ms: now_ms,
        reason: reason.into(),
        message: message.get(..end).unwrap_or_default().into(),
    }
}
