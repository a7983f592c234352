//! Histories of applications whose clusters several hosts share.
//!
//! One host records the transitions of a resource: the owner of its cluster. The other hosts keep a copy of them. Ids belong
//! to the host that answers, so a copy gets new ids.

use std::sync::Arc;

use super::{ApplicationHistory, ApplicationKey, Bounded, Histories, HistoryChange, Recorded};
use crate::map::{Map, map_for};
use crate::transition::{ResourceId, Transition};

/// A resource; `None` for the application itself.
type Of = Option<Arc<ResourceId>>;

/// A transition with its place in the joined history: first the own ones, then the sent ones, each in their order.
type Placed = ((bool, usize), Arc<Transition>);

/// The own and the sent transitions of one resource.
#[derive(Default)]
struct Copies {
    own: Vec<Placed>,
    sent: Vec<Placed>,
}

impl HistoryChange {
    /// Leaves out the transitions that are not to be sent. The part of an application that loses a resource remains a
    /// replacement, because it may have no transition left.
    #[must_use]
    pub fn only(self, is_sent: impl Fn(&Transition) -> bool) -> Self {
        let keep = |mut recorded: Vec<Recorded>| {
            recorded.retain(|it| is_sent(&it.transition));
            recorded
        };
        match self {
            Self::Append(added) => Self::Append(keep(added)),
            Self::Replace {
                history,
                application,
            } => Self::Replace {
                history: ApplicationHistory {
                    transitions: keep(history.transitions),
                    dropped: history.dropped,
                },
                application,
            },
        }
    }
}

impl Histories {
    /// Adds the transitions that another host sent. `is_recorder` returns whether that host records the transitions of a
    /// resource, or of the application itself.
    ///
    /// Added transitions count only from the recorder. Of a complete history, both copies count: the copy of the recorder,
    /// and before its first transition the other copy. So a recorder that has just started, or has lost its memory, does
    /// not shorten the history of any host. The joined history has the order of time, without the sent transitions that
    /// are older than the transitions for which this host has no room.
    pub fn join(
        &mut self,
        of: &ApplicationKey,
        sent: HistoryChange,
        is_recorder: impl Fn(Option<&ResourceId>) -> bool,
    ) {
        match sent {
            HistoryChange::Append(added) => {
                for Recorded { transition, .. } in added {
                    if is_recorder(transition.resource.as_deref()) {
                        let id = self.next_id;
                        self.next_id += 1;
                        self.change(of, |history| history.push(Recorded { id, transition }));
                    }
                }
                self.limit();
            }
            HistoryChange::Replace {
                history,
                application,
            } => self.join_complete(of, history, application, is_recorder),
        }
    }

    fn join_complete(
        &mut self,
        of: &ApplicationKey,
        mut sent: ApplicationHistory,
        sent_application: Option<Arc<Transition>>,
        is_recorder: impl Fn(Option<&ResourceId>) -> bool,
    ) {
        let own = self.history(of).unwrap_or_default();
        let bounded = self.of(of);
        let known = bounded.and_then(Bounded::application).cloned();
        if let Some(bounded) = bounded {
            let transitions = &mut sent.transitions;
            transitions.retain(|sent| !bounded.is_too_old(sent.transition.at_ms));
        }
        let dropped = own.dropped.max(sent.dropped);
        let last = if is_recorder(None) {
            sent_application.or(known)
        } else {
            known.or(sent_application)
        };
        let joined = joined(&own, sent, is_recorder);
        let is_same = joined.len() == own.transitions.len()
            && dropped == own.dropped
            && joined
                .iter()
                .zip(&own.transitions)
                .all(|(joined, own)| *joined == own.transition);
        if is_same {
            return;
        }
        let transitions = joined.into_iter().map(|transition| {
            let id = self.next_id;
            self.next_id += 1;
            Recorded { id, transition }
        });
        let history = ApplicationHistory {
            transitions: transitions.collect(),
            dropped,
        };
        self.change(of, |bounded| bounded.rejoin(history, last));
        self.limit();
    }
}

/// The transitions of both copies, in the order of time.
fn joined(
    own: &ApplicationHistory,
    sent: ApplicationHistory,
    is_recorder: impl Fn(Option<&ResourceId>) -> bool,
) -> Vec<Arc<Transition>> {
    let mut by_resource: Map<Of, Copies> = map_for(own.transitions.len());
    for (at, recorded) in own.transitions.iter().enumerate() {
        let transition = Arc::clone(&recorded.transition);
        let copies = by_resource.entry(transition.resource.clone()).or_default();
        copies.own.push(((false, at), transition));
    }
    for (at, recorded) in sent.transitions.into_iter().enumerate() {
        let transition = recorded.transition;
        let copies = by_resource.entry(transition.resource.clone()).or_default();
        copies.sent.push(((true, at), transition));
    }
    let mut all: Vec<Placed> = Vec::new();
    for (of, Copies { own, sent }) in by_resource {
        if is_recorder(of.as_deref()) {
            continue_with(&mut all, own, sent);
        } else {
            continue_with(&mut all, sent, own);
        }
    }
    all.sort_by_key(|(place, transition)| (transition.at_ms, *place));
    all.into_iter().map(|(_, transition)| transition).collect()
}

/// Adds the transitions of one resource: the copy that counts, and the part of the other copy before it. If the copy that
/// counts begins with the first sight of a resource that the other copy knows, this is no appearance.
fn continue_with(all: &mut Vec<Placed>, mut other: Vec<Placed>, counting: Vec<Placed>) {
    let mut counting = counting.into_iter();
    let Some((place, first)) = counting.next() else {
        return all.append(&mut other);
    };
    other.retain(|(_, transition)| transition.at_ms < first.at_ms);
    let last = other.last().and_then(|(_, last)| last.to.clone());
    all.append(&mut other);
    let first = match last {
        Some(last) if first.from.is_none() => (first.to.as_ref() != Some(&last)).then(|| {
            Arc::new(Transition {
                from: Some(last),
                ..(*first).clone()
            })
        }),
        _ => Some(first),
    };
    all.extend(first.map(|first| (place, first)));
    all.extend(counting);
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::history::tests::{key, resource, transition};
    use crate::{HistoryPosition, PhaseState};
    use kindsight_model::Phase;

    /// A transition of a resource in a cluster, from the state of another phase or from nothing.
    fn change(on: &str, at_ms: i64, from: Option<Phase>, to: Phase) -> Transition {
        let state = |phase: Phase| PhaseState {
            phase,
            state: phase.state().into(),
        };
        Transition {
            from: from.map(state),
            to: Some(state(to)),
            ..transition(resource("a", on, "r"), at_ms)
        }
    }

    fn recorded(transitions: impl IntoIterator<Item = Transition>) -> Histories {
        let mut histories = Histories::default();
        histories.record(&key(), transitions.into_iter().collect());
        histories
    }

    fn complete(of: &Histories) -> HistoryChange {
        of.change_since(&key(), None).0
    }

    fn shown(of: &Histories) -> Vec<Transition> {
        let history = of.history(&key()).unwrap_or_default();
        let transitions = history.transitions.into_iter();
        transitions.map(|it| (*it.transition).clone()).collect()
    }

    fn is_on(cluster: &'static str) -> impl Fn(Option<&ResourceId>) -> bool {
        move |of| of.is_some_and(|of| &*of.cluster.name == cluster)
    }

    #[test]
    fn a_host_that_starts_late_gets_the_history_of_each_recorder_in_the_order_of_time() {
        let (ready, failed) = (Phase::Ready, Phase::Failed);
        let app = transition(None, 15);
        let one = [
            change("edge01", 10, None, ready),
            app.clone(),
            change("edge01", 30, Some(ready), failed),
        ];
        let two = [change("edge02", 20, None, failed)];
        let mut late = recorded([
            change("edge01", 40, None, failed),
            change("edge02", 41, None, failed),
        ]);
        let is_one = |of: Option<&ResourceId>| of.is_none_or(|of| &*of.cluster.name == "edge01");
        late.join(&key(), complete(&recorded(one.clone())), is_one);
        late.join(&key(), complete(&recorded(two.clone())), is_on("edge02"));
        let [first, app, last] = one;
        let [other] = two;
        let expected = [first, app.clone(), other, last];
        assert_eq!(shown(&late), expected);
        assert_eq!(late.last_of_application(&key()), Some(Arc::new(app)));
        // The same copies again change nothing, not even an id.
        let before = late.history(&key());
        late.join(&key(), complete(&recorded(expected)), |_| true);
        assert_eq!(late.history(&key()), before);
    }

    #[test]
    fn a_recorder_without_memory_continues_the_history_of_the_followers() {
        let (ready, failed) = (Phase::Ready, Phase::Failed);
        let old = [
            change("edge01", 10, None, ready),
            change("edge01", 20, Some(ready), failed),
        ];
        for (state, added) in [
            (failed, None),
            (ready, Some(change("edge01", 50, Some(failed), ready))),
        ] {
            let next = change("edge01", 60, Some(state), Phase::Pending);
            let restarted = recorded([change("edge01", 50, None, state), next.clone()]);
            let expected: Vec<Transition> =
                old.clone().into_iter().chain(added).chain([next]).collect();
            let mut follower = recorded(old.clone());
            follower.join(&key(), complete(&restarted), |_| true);
            assert_eq!(shown(&follower), expected);
            // The copy of the follower arrives at the recorder after its first sight.
            let mut recorder = restarted;
            recorder.join(&key(), complete(&recorded(old.clone())), |_| false);
            assert_eq!(shown(&recorder), expected);
        }
    }

    /// The clusters of two hosts.
    const CLUSTERS: [&str; 2] = ["edge01", "edge02"];

    /// Transitions with the positions of their host, application and resource name, and their times.
    type Records = Vec<(usize, usize, usize, Vec<i64>)>;

    fn records() -> impl Strategy<Value = Records> {
        vec(
            (0..2_usize, 0..3_usize, 0..4_usize, vec(100..150_i64, 0..6)),
            0..24,
        )
    }

    /// Lets each host send the changes of its cluster to the other host, until no host has a change.
    fn exchange(hosts: &mut [Histories; 2], keys: &[ApplicationKey]) {
        let mut known = HashMap::new();
        for _ in 0..20 {
            let mut has_changes = false;
            for (from, on) in CLUSTERS.into_iter().enumerate() {
                for key in keys {
                    let position = known.entry((from, key)).or_default();
                    let (change, next) = hosts[from].change_since(key, *position);
                    *position = next;
                    let change = change.only(|it| is_on(on)(it.resource.as_deref()));
                    has_changes |= change != HistoryChange::default();
                    hosts[1 - from].join(key, change, is_on(on));
                }
            }
            if !has_changes {
                return;
            }
        }
        panic!("two hosts send each other histories without an end");
    }

    proptest! {
        #[test]
        fn two_hosts_with_full_histories_end_to_exchange_them(
            rows in 0..40_usize,
            records in records(),
        ) {
            let bytes_max = rows * transition(resource("a", "edge01", "r"), 0).bytes();
            let mut hosts = [Histories::limited(bytes_max), Histories::limited(bytes_max)];
            let keys: Vec<ApplicationKey> = (1..4)
                .map(|id| ApplicationKey::Context(id.to_string().parse().unwrap()))
                .collect();
            for (host, app, name, times) in records {
                let of = resource("a", CLUSTERS[host], ["r", "s", "t", "u"][name]);
                let times = times.into_iter().map(|at_ms| transition(of.clone(), at_ms));
                hosts[host].record(&keys[app], times.collect());
            }
            exchange(&mut hosts, &keys);
            prop_assert!(hosts.iter().all(|host| host.bytes() <= bytes_max));
        }
    }

    #[test]
    fn a_history_without_remaining_transitions_is_sent_once() {
        let mut full = Histories::limited(0);
        full.record(&key(), vec![transition(None, 1), transition(None, 2)]);
        let (change, position) = full.change_since(&key(), None);
        assert!(matches!(change, HistoryChange::Replace { history, .. } if history.dropped == 2));
        let again = full.change_since(&key(), position);
        assert_eq!(again, (HistoryChange::default(), position));
    }

    #[test]
    fn added_transitions_count_from_the_recorder_alone() {
        let mut known = recorded([change("edge01", 1, None, Phase::Ready)]);
        let added = |on| {
            HistoryChange::Append(vec![Recorded {
                id: 900,
                transition: Arc::new(change(on, 2, None, Phase::Failed)),
            }])
        };
        known.join(&key(), added("edge02"), is_on("edge01"));
        assert_eq!(shown(&known).len(), 1);
        known.join(&key(), added("edge02"), is_on("edge02"));
        let history = known.history(&key()).unwrap();
        let ids: Vec<u64> = history.transitions.iter().map(|it| it.id).collect();
        assert_eq!(ids, [1, 2]);
    }

    #[test]
    fn a_part_for_a_follower_keeps_its_kind() {
        let both = recorded([
            change("edge01", 1, None, Phase::Ready),
            change("edge02", 2, None, Phase::Ready),
        ]);
        let none = complete(&both).only(|_| false);
        assert!(
            matches!(none, HistoryChange::Replace { history, .. } if history.transitions.is_empty())
        );
        let (added, _) = both.change_since(
            &key(),
            Some(HistoryPosition {
                last_id: 1,
                last_ms: 1,
                count: 1,
                dropped: 0,
            }),
        );
        let added = added.only(|it| {
            it.resource
                .as_ref()
                .is_some_and(|it| &*it.cluster.name == "edge02")
        });
        assert!(matches!(added, HistoryChange::Append(added) if added.len() == 1));
    }
}
