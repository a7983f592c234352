//! Answers about the history of an application.

use std::borrow::Cow;

use kindsight_api::history as api;
use kindsight_model::{ContextId, DigName};

use super::{ApplicationKey, Bounded, HistoryQuery, Recorded};
use crate::answer::{PastNames, check_names};
use crate::moment::moment;
use crate::problem::QueryError;
use crate::query::Instance;
use crate::read_model::{ReadModel, Subject};
use crate::transition::{PhaseState, Transition};

/// The transitions that a query selects, as they were at one moment.
#[derive(Debug)]
pub struct HistoryAnswer {
    subject: Subject,
    selected: Vec<Recorded>,
    /// True if older ones are selected too.
    is_more: bool,
    dropped: u64,
}

impl ReadModel {
    /// Looks up the history of a deployment intent group, or of an application that was found.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a group, an instance of it, or a name to filter by, that does not exist and
    /// is not in the history; [`QueryError::Invalid`] for an instance of an application that was found.
    pub fn history(
        &self,
        name: &DigName,
        query: &HistoryQuery,
    ) -> Result<HistoryAnswer, QueryError> {
        let subject = self.dig(name, &query.selection)?;
        if subject.context.is_none() && query.selection.instance != Instance::Latest {
            // It says what is wrong with the instance.
            subject.answer(&query.selection)?;
        }
        let key = match (&subject.instance, &subject.context) {
            (Some(id), _) => Some(ApplicationKey::Context(id.clone())),
            (None, Some(_)) => Some(ApplicationKey::Found(name.clone())),
            (None, None) => None,
        };
        let mut past = PastNames::default();
        let mut answer = HistoryAnswer {
            subject,
            selected: Vec::new(),
            is_more: false,
            dropped: 0,
        };
        if let Some(key) = key {
            self.histories(|histories| {
                if let Some(history) = histories.of(&key) {
                    past = PastNames::of(history, query);
                    answer.select(history, query);
                    answer.dropped = history.dropped();
                }
            });
        }
        if let Some(context) = &answer.subject.context {
            check_names(context, &query.selection, &past)?;
        }
        Ok(answer)
    }
}

impl HistoryAnswer {
    /// Takes the first of the transitions that are asked for, newest first.
    fn select(&mut self, history: &Bounded, query: &HistoryQuery) {
        let newest_first = history.iter().rev();
        let older = newest_first.filter(|it| query.before.is_none_or(|before| it.id < before));
        let mut selected = older.filter(|it| query.selects(&it.transition));
        self.selected = selected.by_ref().take(query.limit).cloned().collect();
        self.is_more = selected.next().is_some();
    }

    /// The answer, newest first.
    pub fn answer(&self) -> api::History<'_> {
        let last = self.selected.last().filter(|_| self.is_more);
        let instance = self.subject.instance.as_ref();
        api::History {
            app: self.subject.composite_app(),
            name: self.subject.name(),
            instance: instance.map(|id| ContextId::as_str(id).into()),
            message: self.subject.no_context().map(Cow::Owned),
            transitions: self.selected.iter().map(told).collect(),
            next: last.map(|it| it.id),
            dropped: (self.dropped > 0).then_some(self.dropped),
        }
    }
}

/// A transition as it is told.
fn told(recorded: &Recorded) -> api::Transition<'_> {
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
        app: resource.map(|it| (&*it.app).into()),
        cluster: resource.map(|it| it.cluster.to_string().into()),
        gvk: resource.map(|it| Cow::Borrowed(&it.gvk)),
        namespace: resource.map_or("", |it| &*it.namespace).into(),
        name: resource.map(|it| (&*it.name).into()),
        from: from.as_ref().map(told_state),
        to: to.as_ref().map(told_state),
        since: since_ms.and_then(moment),
        reason: (&**reason).into(),
        message: (&**message).into(),
        interpreter: by.as_deref().map(Cow::Borrowed),
        cause: *cause,
    }
}

fn told_state(state: &PhaseState) -> api::PhaseAndState<'_> {
    api::PhaseAndState {
        phase: state.phase,
        state: (&*state.state).into(),
    }
}
