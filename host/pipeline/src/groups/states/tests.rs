//! Contexts and kept states that disagree in every way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use kindsight_appcontext::{ContextMeta, ContextSnapshot};
use kindsight_model::{
    ContextId, DigName, LifecycleState, RecordSubject, StateAction, StateInfo, StatesNews,
};
use kindsight_status::RecordView;
use kindsight_store::{Batch, RedbStore, Revision, Store};
use proptest::prelude::*;

use super::super::Groups;
use super::super::derived::Instance;
use crate::publisher::Publisher;

const GROUPS: [&str; 2] = ["one", "two"];

const STEPS_MAX: usize = 24;

/// Revisions of a store, in their order.
static REVISIONS: LazyLock<Vec<Revision>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let store = RedbStore::open(&folder.path().join("store")).unwrap();
    let writes = (0..STEPS_MAX).map(|number| Batch::new().put("key", number.to_string()));
    writes.map(|write| store.apply(&write).unwrap()).collect()
});

fn name(group: usize) -> DigName {
    DigName::new("p", "ca", "v1", GROUPS[group]).unwrap()
}

fn id(number: u8) -> ContextId {
    number.to_string().parse().unwrap()
}

/// A context: its group, whether its orchestrator began to send it, and one that was made for it.
#[derive(Debug, Clone, Copy)]
struct Made {
    group: usize,
    is_begun: bool,
    child: Option<u8>,
}

fn instance(of: Made, number: u8, created: Revision) -> Instance {
    let mut meta = ContextMeta::of_dig(&name(of.group));
    meta.child_context_ids = of
        .child
        .map(|number| number.to_string())
        .into_iter()
        .collect();
    Instance::of(&ContextSnapshot {
        id: id(number),
        created,
        meta: Some(meta),
        status: of.is_begun.then(|| "Instantiated".into()),
        status_changed: of.is_begun.then_some(created),
        status_context: id(number),
        reads: BTreeSet::new(),
        stop_flag: false,
        apps: Vec::new(),
        unreadable: Vec::new(),
    })
}

fn info(actions: &[(LifecycleState, Option<u8>)]) -> StateInfo {
    let actions = actions.iter().map(|&(state, number)| StateAction {
        state,
        instance: number.map(id),
        time: "2022-10-01T10:00:00Z".into(),
        revision: 1,
    });
    StateInfo {
        profile: None,
        status_context: None,
        actions: actions.collect(),
    }
}

/// Actions that are kept: the state and the context of each.
type Actions = Vec<(LifecycleState, Option<u8>)>;

/// One event.
#[derive(Debug, Clone)]
enum Step {
    Context(u8, Option<Made>),
    State(usize, Option<Actions>),
    All(Vec<Option<Actions>>),
    Own(usize, Option<Vec<u8>>),
}

fn actions_of_a_group() -> impl Strategy<Value = Actions> {
    let state = proptest::sample::select(LifecycleState::ALL);
    proptest::collection::vec((state, proptest::option::of(1..7_u8)), 0..5)
}

fn step() -> impl Strategy<Value = Step> {
    let made = (0..2_usize, any::<bool>(), proptest::option::of(1..7_u8));
    let made = made.prop_map(|(group, is_begun, child)| Made {
        group,
        is_begun,
        child,
    });
    let state = || proptest::option::of(actions_of_a_group());
    prop_oneof![
        4 => (1..7_u8, proptest::option::weighted(0.8, made)).prop_map(|(id, made)| Step::Context(id, made)),
        3 => (0..2_usize, state()).prop_map(|(group, state)| Step::State(group, state)),
        1 => proptest::collection::vec(state(), 2).prop_map(Step::All),
        1 => (0..2_usize, proptest::option::of(proptest::collection::vec(1..7_u8, 0..3)))
            .prop_map(|(group, ids)| Step::Own(group, ids)),
    ]
}

/// The state after some steps.
#[derive(Default)]
struct There {
    contexts: BTreeMap<u8, (Made, Revision)>,
    states: BTreeMap<usize, StateInfo>,
    own: BTreeMap<usize, RecordView>,
}

/// Takes one step in both.
fn take(
    step: &Step,
    there: &mut There,
    groups: &mut Groups,
    publisher: &mut Publisher,
    at: Revision,
) {
    let subject = |group: usize| RecordSubject::Group(name(group));
    match step {
        Step::Context(number, made) => {
            // Written again, it is still as old as it was.
            let created = there.contexts.remove(number).map_or(at, |it| it.1);
            let now = made.map(|made| instance(made, *number, created));
            there
                .contexts
                .extend(made.map(|made| (*number, (made, created))));
            groups.set_context(&id(*number), now, publisher);
        }
        Step::State(group, actions) => {
            let now = actions.as_deref().map(info);
            there.states.remove(group);
            there
                .states
                .extend(now.clone().map(|action| (*group, action)));
            groups.take_states(StatesNews::Changed(subject(*group), now), publisher);
        }
        Step::All(all) => {
            let all = all.iter().enumerate();
            there.states = all
                .filter_map(|(group, state)| Some((group, info(state.as_deref()?))))
                .collect();
            let news = there
                .states
                .iter()
                .map(|(group, action)| (subject(*group), action.clone()));
            groups.take_states(StatesNews::All(news.collect()), publisher);
        }
        Step::Own(group, ids) => {
            let now = ids.as_ref().map(|ids| RecordView {
                actions: super::views(&info(
                    &ids.iter()
                        .map(|instance| (LifecycleState::Instantiated, Some(*instance)))
                        .collect::<Vec<_>>(),
                )),
                is_own: true,
                ..RecordView::default()
            });
            there.own.remove(group);
            there.own.extend(now.clone().map(|action| (*group, action)));
            groups.set(&subject(*group), now, publisher);
        }
    }
}

impl There {
    /// The contexts of a group that may be shown, oldest first.
    fn begun(&self, group: usize) -> Vec<u8> {
        let is_child = |number: u8| {
            // Contexts that name each other in a circle are not children.
            let below = self.below(number);
            self.contexts.iter().any(|(parent, (made, _))| {
                made.child == Some(number) && *parent != number && !below.contains(parent)
            })
        };
        let of = self.contexts.iter().filter(|(number, (made, _))| {
            made.group == group && made.is_begun && !is_child(**number)
        });
        let mut of: Vec<_> = of
            .map(|(number, (_, created))| (*created, *number))
            .collect();
        of.sort_unstable();
        of.into_iter().map(|(_, number)| number).collect()
    }

    fn below(&self, number: u8) -> BTreeSet<u8> {
        let mut below = BTreeSet::new();
        let mut open = vec![number];
        while let Some((made, _)) = open.pop().and_then(|number| self.contexts.get(&number)) {
            open.extend(made.child.filter(|number| below.insert(*number)));
        }
        below
    }
}

fn check(there: &There, groups: &Groups, group: usize) {
    let shown = groups.published.get(&RecordSubject::Group(name(group)));
    if let Some(own) = there.own.get(&group) {
        assert_eq!(shown, Some(own), "a record of ours wins");
        return;
    }
    let begun = there.begun(group);
    let Some(kept) = there.states.get(&group) else {
        let told = shown.map_or_else(Vec::new, RecordView::instances);
        assert_eq!(
            told,
            begun
                .iter()
                .map(|number| id(*number))
                .collect::<Vec<_>>()
                .iter()
                .collect::<Vec<_>>()
        );
        return;
    };
    let shown = shown.expect("what is kept is shown");
    let (first, behind) = shown.actions.split_at(kept.actions.len());
    assert_eq!(
        first,
        super::views(kept),
        "kept actions come first, in their order"
    );
    let named: BTreeSet<u8> = (1..7)
        .filter(|number| {
            let instance = Some(id(*number));
            kept.actions
                .iter()
                .any(|action| action.instance == instance)
        })
        .collect();
    let newest = named
        .iter()
        .filter_map(|number| Some(there.contexts.get(number)?.1))
        .max();
    let newer = begun.iter().filter(|number| {
        !named.contains(number) && newest.is_none_or(|newest| there.contexts[number].1 > newest)
    });
    let newer: Vec<ContextId> = newer.map(|number| id(*number)).collect();
    let told: Vec<_> = behind
        .iter()
        .filter_map(|action| action.instance.clone())
        .collect();
    assert_eq!(told, newer, "each newer one once, oldest first");
    assert!(
        behind
            .iter()
            .all(|action| action.time.is_empty() && action.revision == 0)
    );
}

/// Takes steps, and checks both groups after each.
fn run(steps: &[Step]) {
    let (mut there, mut groups) = (There::default(), Groups::default());
    let mut publisher = Publisher::default();
    for (step, at) in steps.iter().zip(&*REVISIONS) {
        take(step, &mut there, &mut groups, &mut publisher, *at);
        for group in 0..2 {
            check(&there, &groups, group);
        }
    }
}

#[test]
fn a_circle_of_children_that_another_group_closes_is_noticed() {
    let made = |group, is_begun, child| Made {
        group,
        is_begun,
        child: Some(child),
    };
    run(&[
        Step::Context(5, Some(made(1, false, 6))),
        Step::Context(6, Some(made(0, true, 2))),
        Step::Context(2, Some(made(1, false, 5))),
        Step::Context(5, None),
    ]);
}

proptest! {
    #[test]
    fn after_any_events_each_group_is_told_as_the_rule_says(
        steps in proptest::collection::vec(step(), 0..=STEPS_MAX)
    ) {
        run(&steps);
    }
}
