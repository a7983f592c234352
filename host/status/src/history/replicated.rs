//! Histories that another host recorded.

use std::sync::Arc;

use super::{ApplicationHistory, ApplicationKey, Bounded, Histories, Recorded};
use crate::transition::Transition;

/// The part of a history that a reader has. A history whose transitions were all dropped has a position too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPosition {
    /// Id of the last transition; 0 without transitions.
    pub last_id: u64,
    /// Time of the last transition. A host that was killed before it wrote its history gives the same ids again.
    pub last_ms: i64,
    /// Number of transitions.
    pub count: usize,
    /// Number of dropped transitions.
    pub dropped: u64,
}

/// The change of a history since a [`HistoryPosition`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryChange {
    /// These transitions follow, oldest first. May be empty.
    Append(Vec<Recorded>),
    /// The history is this one.
    Replace {
        /// The complete history.
        history: ApplicationHistory,
        /// The last transition of the application's own state, which the history may have dropped.
        application: Option<Arc<Transition>>,
    },
}

impl Default for HistoryChange {
    fn default() -> Self {
        Self::Append(Vec::new())
    }
}

impl Histories {
    /// The change of a history since a position, and the position after it; `None` without a history. The cost does not
    /// depend on the length of the history if transitions were only added.
    pub fn change_since(
        &self,
        of: &ApplicationKey,
        known: Option<HistoryPosition>,
    ) -> (HistoryChange, Option<HistoryPosition>) {
        let history = self.of(of);
        let position = history.map(Bounded::position);
        let change = match (history, known) {
            _ if known == position => HistoryChange::default(),
            (Some(history), Some(known)) => history.change_since(known),
            (Some(history), None) => history.replacement(),
            (None, _) => HistoryChange::Replace {
                history: ApplicationHistory::default(),
                application: None,
            },
        };
        (change, position)
    }

    /// Applies a change that another host recorded. The transitions keep their ids.
    pub fn take_over(&mut self, of: &ApplicationKey, change: HistoryChange) {
        match change {
            HistoryChange::Append(recorded) => {
                for recorded in recorded {
                    self.next_id = self.next_id.max(recorded.id.saturating_add(1));
                    self.change(of, |history| history.push(recorded));
                }
                self.limit();
            }
            HistoryChange::Replace {
                history,
                application,
            } => {
                self.change(of, |bounded| {
                    bounded.clear();
                    bounded.set_application(application);
                });
                self.restore(of, history);
            }
        }
    }
}

impl Bounded {
    /// The change since a position: the newer transitions, or everything if the part of the reader does not precede them.
    fn change_since(&self, known: HistoryPosition) -> HistoryChange {
        let position = self.position();
        let newer = self.iter().rev();
        let newer = newer.take_while(|recorded| recorded.id > known.last_id);
        let mut newer: Vec<Recorded> = newer.cloned().collect();
        newer.reverse();
        let dropped = usize::try_from(position.dropped.saturating_sub(known.dropped));
        let expected = (known.count + newer.len()).checked_sub(dropped.unwrap_or(usize::MAX));
        let mut last = self.iter().rev();
        let last = last.find(|recorded| recorded.id == known.last_id);
        let is_continued = last.is_none_or(|last| last.transition.at_ms == known.last_ms);
        if known.last_id > 0 && expected == Some(position.count) && is_continued {
            HistoryChange::Append(newer)
        } else {
            self.replacement()
        }
    }

    fn replacement(&self) -> HistoryChange {
        HistoryChange::Replace {
            history: self.snapshot(),
            application: self.application().cloned(),
        }
    }

    fn position(&self) -> HistoryPosition {
        let last = self.iter().next_back();
        HistoryPosition {
            last_id: last.map_or(0, |last| last.id),
            last_ms: last.map_or(0, |last| last.transition.at_ms),
            count: self.iter().len(),
            dropped: self.dropped(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::TRANSITIONS_OF_RESOURCE_MAX;
    use crate::{PhaseState, TransitionCause};
    use kindsight_model::Phase;

    fn key() -> ApplicationKey {
        ApplicationKey::Context("2621114006130701074".parse().unwrap())
    }

    fn transition(at_ms: i64) -> Transition {
        Transition {
            resource: None,
            from: None,
            to: Some(PhaseState {
                phase: Phase::Ready,
                state: "Ready".into(),
            }),
            at_ms,
            since_ms: None,
            reason: "".into(),
            message: "".into(),
            by: None,
            cause: TransitionCause::Observed,
        }
    }

    /// Applies the change of `upstream` since `known` to `replica`, and checks that both are equal.
    fn follow(
        upstream: &Histories,
        replica: &mut Histories,
        known: &mut Option<HistoryPosition>,
    ) -> HistoryChange {
        let (change, position) = upstream.change_since(&key(), *known);
        replica.take_over(&key(), change.clone());
        *known = position;
        assert_eq!(replica.history(&key()), upstream.history(&key()));
        change
    }

    #[test]
    fn a_replica_has_the_same_history_with_the_same_ids_after_each_change() {
        let (mut upstream, mut replica) = (Histories::default(), Histories::default());
        let mut known = None;
        upstream.record(&key(), vec![transition(1), transition(2)]);
        let first = follow(&upstream, &mut replica, &mut known);
        assert!(matches!(first, HistoryChange::Replace { .. }));
        upstream.record(&key(), vec![transition(3)]);
        let added = follow(&upstream, &mut replica, &mut known);
        assert!(matches!(added, HistoryChange::Append(added) if added.len() == 1));
        // Both drop the oldest transitions beyond the limit.
        for at_ms in 0..i64::try_from(TRANSITIONS_OF_RESOURCE_MAX).unwrap() {
            upstream.record(&key(), vec![transition(at_ms)]);
            let added = follow(&upstream, &mut replica, &mut known);
            assert!(matches!(added, HistoryChange::Append(_)));
        }
        upstream.forget(&key());
        upstream.record(&key(), vec![transition(9)]);
        let replaced = follow(&upstream, &mut replica, &mut known);
        assert!(matches!(replaced, HistoryChange::Replace { .. }));
    }

    #[test]
    fn ids_that_another_process_gives_again_replace_the_history() {
        let (mut upstream, mut replica) = (Histories::default(), Histories::default());
        let mut known = None;
        upstream.record(&key(), vec![transition(1), transition(2)]);
        follow(&upstream, &mut replica, &mut known);
        let mut restarted = Histories::default();
        restarted.record(&key(), vec![transition(1), transition(3)]);
        let replaced = follow(&restarted, &mut replica, &mut known);
        assert!(matches!(replaced, HistoryChange::Replace { .. }));
    }
}
