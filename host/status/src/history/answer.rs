//! Answers about the history of an application.

use std::borrow::Cow;

use kindsight_api::history as api;
use kindsight_model::ContextId;

use super::{ApplicationKey, Bounded, Histories, HistoryQuery, Recorded};
use crate::answer::{PastNames, check_names};
use crate::moment::moment;
use crate::problem::QueryError;
use crate::query::Instance;
use crate::subject::Subject;
use crate::transition::{PhaseState, Transition};

/// The transitions that a query selects, at one moment.
#[derive(Debug, Default)]
pub struct SelectedTransitions {
    /// Newest first.
    transitions: Vec<Recorded>,
    /// True if the query also selects older transitions.
    is_more: bool,
    dropped: u64,
    /// Names of the query that occur in the history.
    past: PastNames,
}

impl Histories {
    /// Selects the newest transitions of an application that match a query.
    pub fn select(&self, of: &ApplicationKey, query: &HistoryQuery) -> SelectedTransitions {
        let history = self.of(of);
        history.map_or_else(Default::default, |known| {
            SelectedTransitions::of(known, query)
        })
    }
}

impl SelectedTransitions {
    fn of(history: &Bounded, query: &HistoryQuery) -> Self {
        let newest_first = history.iter().rev();
        let is_older =
            |recorded: &&Recorded| query.before.is_none_or(|before| recorded.id < before);
        let older = newest_first.filter(is_older);
        let mut selected = older.filter(|recorded| query.selects(&recorded.transition));
        Self {
            transitions: selected.by_ref().take(query.limit).cloned().collect(),
            is_more: selected.next().is_some(),
            dropped: history.dropped(),
            past: PastNames::of(history, query),
        }
    }
}

impl Subject {
    /// The application whose history answers a query about this subject; `None` if it was never instantiated.
    pub(crate) fn history_key(&self) -> Option<ApplicationKey> {
        match (&self.instance, &self.context, self.dig()) {
            (Some(id), _, _) => Some(ApplicationKey::Context(id.clone())),
            (None, Some(_), Some(name)) => Some(ApplicationKey::Found(name.clone())),
            (None, _, _) => None,
        }
    }
}

/// The history of one application, as a query selects it.
#[derive(Debug)]
pub struct HistoryAnswer {
    subject: Subject,
    selected: SelectedTransitions,
}

impl HistoryAnswer {
    /// The history of a subject. The subject must be the result of a lookup with `query.selection`. `select`
    /// selects the transitions of one application.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for an instance that is no longer stored, and for a filter with a name that
    /// occurs neither in the subject nor in its history.
    pub fn new(
        subject: Subject,
        query: &HistoryQuery,
        select: impl FnOnce(&ApplicationKey) -> SelectedTransitions,
    ) -> Result<Self, QueryError> {
        if subject.context.is_none() && query.selection.instance != Instance::Latest {
            // This call returns the error for the missing instance.
            subject.answer(&query.selection)?;
        }
        let key = subject.history_key();
        let selected = key.map_or_else(Default::default, |key| select(&key));
        if let Some(context) = &subject.context {
            check_names(context, &query.selection, &selected.past)?;
        }
        Ok(Self { subject, selected })
    }

    /// The answer, newest first.
    pub fn answer(&self) -> api::History<'_> {
        let selected = &self.selected;
        let last = selected.transitions.last().filter(|_| selected.is_more);
        let instance = self.subject.instance.as_ref();
        api::History {
            app: self.subject.composite_app(),
            name: self.subject.name(),
            instance: instance.map(|id| ContextId::as_str(id).into()),
            message: self.subject.no_context().map(Cow::Owned),
            transitions: selected.transitions.iter().map(wire_transition).collect(),
            next: last.map(|it| it.id),
            dropped: (selected.dropped > 0).then_some(selected.dropped),
        }
    }
}

/// A transition as the wire type.
fn wire_transition(recorded: &Recorded) -> api::Transition<'_> {
    let Transition {
        resource,
        from,
        to,
        at_ms,
        since_ms,
        reason,
        message,
        by,
        cause,
    } = &*recorded.transition;
    let resource = resource.as_ref();
    api::Transition {
        id: recorded.id,
        at: moment(*at_ms),
        app: resource.map(|resource| (&*resource.app).into()),
        cluster: resource.map(|resource| resource.cluster.to_string().into()),
        gvk: resource.map(|resource| Cow::Borrowed(&resource.gvk)),
        namespace: resource.map_or("", |resource| &*resource.namespace).into(),
        name: resource.map(|resource| (&*resource.name).into()),
        from: from.as_ref().map(wire_state),
        to: to.as_ref().map(wire_state),
        since: since_ms.and_then(moment),
        reason: (&**reason).into(),
        message: (&**message).into(),
        interpreter: by.as_deref().map(Cow::Borrowed),
        cause: *cause,
    }
}

fn wire_state(state: &PhaseState) -> api::PhaseAndState<'_> {
    api::PhaseAndState {
        phase: state.phase,
        state: (&*state.state).into(),
    }
}
