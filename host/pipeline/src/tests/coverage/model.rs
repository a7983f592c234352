//! Random sequences over one application, compared with a simple model of its cluster.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_clusters::ClusterEvent;
use kindsight_model::{Coverage, KindCoverage, KindState, Phase, Scope};
use kindsight_status::Role;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::Event;
use crate::tests::found::{has, object, shop, stage, stale, synced};
use crate::tests::stage::Stage;

const KINDS: [&str; 2] = ["Deployment", "Widget"];
const NAMES: [&str; 3] = ["a", "b", "c"];

/// A Kind and a name.
type Object = (&'static str, &'static str);

/// One step: of the cluster, of the connection to it, or of this process.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// An object is ready or not. `None` if it was deleted.
    Set(Object, Option<bool>),
    /// The server answers otherwise for a Kind.
    Answers(&'static str, KindState),
    /// The source sends its state.
    Sent,
    /// The cluster cannot be reached.
    Lost,
    /// The process ends and starts again.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let kind = || prop::sample::select(&KINDS[..]);
    let states = [
        KindState::Complete,
        KindState::Forbidden,
        KindState::NotListable,
        KindState::Unserved,
        KindState::Unavailable,
    ];
    let state = prop::sample::select(states.to_vec());
    let set = (
        kind(),
        prop::sample::select(&NAMES[..]),
        any::<Option<bool>>(),
    );
    prop_oneof![
        4 => set.prop_map(|(kind, name, ready)| Step::Set((kind, name), ready)),
        2 => (kind(), state).prop_map(|(kind, state)| Step::Answers(kind, state)),
        4 => Just(Step::Sent),
        1 => Just(Step::Lost),
        1 => Just(Step::Restart),
    ]
}

/// The cluster, and the state of its source.
struct Cluster {
    stage: Stage,
    /// The objects that exist; true if they are ready.
    objects: BTreeMap<Object, bool>,
    states: BTreeMap<&'static str, KindState>,
    /// The objects that the source knows.
    known: BTreeMap<Object, bool>,
    /// The objects that must be listed.
    listed: BTreeSet<Object>,
    sent: Option<Coverage>,
    now_ms: i64,
}

impl Cluster {
    fn new() -> Self {
        let mut stage = stage();
        stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
        Self {
            stage,
            objects: BTreeMap::new(),
            states: KINDS.map(|kind| (kind, KindState::Complete)).into(),
            known: BTreeMap::new(),
            listed: BTreeSet::new(),
            sent: None,
            now_ms: 100_000,
        }
    }

    fn take(&mut self, step: Step) {
        self.now_ms += 10;
        match step {
            Step::Set(object, Some(ready)) => {
                self.objects.insert(object, ready);
            }
            Step::Set(object, None) => {
                self.objects.remove(&object);
            }
            Step::Answers(kind, state) => {
                self.states.insert(kind, state);
            }
            Step::Sent => self.send(),
            Step::Lost => self.handle(stale("p+a")),
            Step::Restart => {
                self.stage.restart(&["p+a"], self.now_ms);
                self.known.clear();
                self.sent = None;
            }
        }
    }

    /// Lists the Kinds that the server answers for, and sends worse states, the report, and better states.
    fn send(&mut self) {
        for (kind, state) in &self.states {
            if *state == KindState::Complete {
                self.known.retain(|object, _| object.0 != *kind);
                self.listed.retain(|object| object.0 != *kind);
                let of_kind = self.objects.iter().filter(|(object, _)| object.0 == *kind);
                let of_kind: Vec<_> = of_kind.map(|(object, ready)| (*object, *ready)).collect();
                self.listed
                    .extend(of_kind.iter().map(|(object, _)| *object));
                self.known.extend(of_kind);
            }
        }
        let mut coverage = Coverage::nothing();
        for (kind, state) in &self.states {
            coverage.set("apps", kind, Scope::Cluster, KindCoverage::new(*state));
        }
        let before = self.sent.replace(coverage.clone());
        let worst = before.map_or_else(
            || coverage.clone(),
            |coverage_before| coverage_before.worst_of(&coverage),
        );
        self.cover(worst);
        let known = self.known.iter();
        let objects = known.map(|((kind, name), ready)| object(kind, name, None, *ready));
        let mut report = has("p+a", "front", objects.collect::<Vec<_>>());
        report.coverage = Some(coverage.clone());
        self.stage.tell(report, self.now_ms);
        self.cover(coverage);
        self.handle(synced("p+a"));
        self.check();
    }

    fn cover(&mut self, coverage: Coverage) {
        let cluster = "p+a".parse().unwrap();
        self.handle(Event::Cluster(ClusterEvent::Coverage { cluster, coverage }));
    }

    fn handle(&mut self, event: Event) {
        self.stage.pipeline.handle(event, self.now_ms);
    }

    /// Compares the view with the model after the source has sent its state.
    fn check(&self) {
        let found = self
            .stage
            .read_model
            .application(&kindsight_status::ApplicationKey::Found(shop()));
        let Some(found) = found else {
            assert_eq!(self.listed, BTreeSet::new());
            return;
        };
        let view = &found.apps[0].clusters()[0];
        let is_stale = view.report().stale().is_some();
        let mut listed = BTreeSet::new();
        for resource in view.resources().iter() {
            let object = Self::object(&resource.gvk.kind, &resource.name);
            let (state, phase) = (self.states[object.0], resource.verdict.phase);
            if resource.role == Role::Gone {
                let exists = self.objects.contains_key(&object);
                assert!(!exists || state != KindState::Complete, "{object:?} exists");
                assert!(!self.known.contains_key(&object), "{object:?} is known");
                continue;
            }
            listed.insert(object);
            let is_green = phase == Phase::Ready && !is_stale;
            assert!(
                !is_green || self.objects.get(&object) == Some(&true),
                "{object:?}"
            );
            match state {
                KindState::Complete => {
                    assert_eq!(phase == Phase::Ready, self.objects[&object], "{object:?}");
                }
                KindState::Forbidden | KindState::NotListable => {
                    assert_eq!(&*resource.verdict.reason, "NotReported", "{object:?}");
                }
                _ => assert!(is_stale, "{object:?} may be out of date"),
            }
        }
        assert_eq!(listed, self.listed);
    }

    fn object(kind: &str, name: &str) -> Object {
        let kind = KINDS.into_iter().find(|known| *known == kind).unwrap();
        (
            kind,
            NAMES.into_iter().find(|known| *known == name).unwrap(),
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_fresh_green_exists_and_no_object_is_lost_or_wrongly_kept(steps in vec(step(), 1..60)) {
        let mut cluster = Cluster::new();
        for step in steps {
            cluster.take(step);
        }
        cluster.take(Step::Sent);
    }
}
