use std::cell::Cell;

use kindsight_model::{Source, decode_bundle};

use super::*;
use crate::Interpreters;

/// What the monitor in one cluster of the recording reported.
const BUNDLE: &[u8] = include_bytes!(concat!(
    "../../../kindsight/recording/clusters/vfw-cluster-provider+edge01/",
    "2755581958183303505-sink.json"
));

struct Room {
    interpreters: Interpreters,
}

impl Room {
    fn open() -> Self {
        let limits = Limits {
            workers: 1,
            ..Limits::default()
        };
        let interpreters = Interpreters::start(limits, None).expect("an engine");
        Self { interpreters }
    }

    /// A set of these built-in interpreters.
    fn set(&self, names: &[&str]) -> Arc<Published> {
        let offers = names.iter().map(|name| {
            let built_in = kindsight_plugins::built_in(name).expect("a built-in interpreter");
            let interpreter = self.interpreters.load(built_in.wasm).expect("a component");
            (Source::BuiltIn, interpreter).into()
        });
        self.interpreters.prepare(offers.collect()).expect("a set")
    }
}

fn deployment(name: &str, status: &str) -> Object {
    let json = format!(
        r#"{{"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {{"name": "{name}", "namespace": "d", "generation": 1}},
            "spec": {{"replicas": 1}}, "status": {status}}}"#
    );
    Object::from_json(json).expect("an object")
}

/// All Pods are there, and no condition says so.
fn counted(name: &str) -> Object {
    deployment(
        name,
        r#"{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1}"#,
    )
}

/// All Pods are there, and a condition says so.
fn available(name: &str) -> Object {
    deployment(
        name,
        r#"{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]}"#,
    )
}

/// It does not get its Pods.
fn stuck(name: &str) -> Object {
    deployment(
        name,
        r#"{"observedGeneration": 1, "conditions": [{"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded", "message": "no Pods"}]}"#,
    )
}

fn place(label: &str, objects: Vec<Object>) -> Place {
    Place {
        label: label.into(),
        objects: objects.into(),
    }
}

fn go_on() -> bool {
    false
}

/// `count Kind from -> to` a line.
fn told(comparison: &Comparison) -> String {
    let changes = comparison.changes.iter();
    let lines = changes.map(|it| format!("{} {} {} -> {}\n", it.count, it.gvk, it.from, it.to));
    lines.collect()
}

#[test]
fn changes_are_grouped_and_have_samples() {
    let room = Room::open();
    let (old, new) = (room.set(&["generic"]), room.set(&["generic", "apps"]));
    let config = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}"#;
    let mut first: Vec<Object> = (0..7)
        .map(|number| counted(&format!("web-{number}")))
        .collect();
    first.push(Object::from_json(config).expect("an object"));
    let second = vec![available("fine"), counted("other"), stuck("stuck")];
    let places = [place("a", first), place("b", second)];
    let comparison = compare(&Limits::default(), &old, &new, &places, 0, &go_on);
    assert!(comparison.is_complete);
    assert_eq!(
        comparison.objects, 10,
        "a ConfigMap is nothing they differ in"
    );
    assert_eq!(comparison.old.calls, 10);
    assert_eq!(comparison.new.calls, 10);
    assert_eq!(
        comparison.old.faults_total() + comparison.new.faults_total(),
        0
    );
    assert!(comparison.old.latency.max_us > 0 && comparison.new.latency.max_us > 0);
    assert_eq!(
        told(&comparison),
        "8 apps/v1 Deployment Present -> Pending\n1 apps/v1 Deployment Ready -> Ready\n",
        "of the one that is stuck both say the same"
    );
    let most = &comparison.changes[0];
    assert_eq!((most.count, most.samples.len()), (8, SAMPLES_MAX));
    let sample = &most.samples[0];
    assert_eq!(
        (&*sample.place, &*sample.namespace, &*sample.name),
        ("a", "d", "web-0")
    );
    assert_eq!(
        (&sample.from.state, &sample.to.state),
        (&most.from, &most.to)
    );
    let counts = comparison.changes.iter().map(|change| change.count);
    assert_eq!(counts.sum::<u64>(), comparison.changed);
}

#[test]
fn what_a_cluster_reported_is_judged_alike_by_the_same_set() {
    let room = Room::open();
    let set = room.set(&["generic", "core", "apps"]);
    let objects = decode_bundle(BUNDLE).expect("a bundle").objects;
    let places = [place("sink", objects)];
    let comparison = compare(&Limits::default(), &set, &set, &places, 0, &go_on);
    let nothing = Comparison {
        is_complete: true,
        ..Comparison::default()
    };
    assert_eq!(comparison, nothing);
}

#[test]
fn the_same_fault_of_another_version_is_no_change() {
    let room = Room::open();
    let (old, new) = (room.set(&["generic"]), room.set(&["apps"]));
    let limits = Limits {
        memory_bytes_max: 0,
        ..Limits::default()
    };
    let places = [place("a", vec![counted("web"), counted("other")])];
    let comparison = compare(&limits, &old, &new, &places, 0, &go_on);
    assert_eq!((comparison.objects, comparison.changed), (2, 0));
    let faults = [&comparison.old, &comparison.new].map(CallSnapshot::faults_total);
    assert_eq!(faults, [2, 2]);
}

#[test]
fn a_kind_that_nobody_judges_any_more_has_changed() {
    let room = Room::open();
    let (old, new) = (room.set(&["apps"]), room.set(&[]));
    let places = [place("a", vec![available("web")])];
    let comparison = compare(&Limits::default(), &old, &new, &places, 0, &go_on);
    assert_eq!(told(&comparison), "1 apps/v1 Deployment Ready -> Unknown\n");
    assert_eq!(
        &*comparison.changes[0].samples[0].to.reason,
        "NoInterpreter"
    );
    assert_eq!((comparison.old.calls, comparison.new.calls), (1, 0));
}

#[test]
fn it_ends_where_it_is_told_to() {
    let room = Room::open();
    let (old, new) = (room.set(&["generic"]), room.set(&["apps"]));
    let asked = Cell::new(0);
    let third = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let places = [
        place("a", vec![counted("web")]),
        place("b", vec![counted("web"), counted("other")]),
        place("c", vec![counted("web")]),
    ];
    let comparison = compare(&Limits::default(), &old, &new, &places, 0, &third);
    assert!(!comparison.is_complete);
    assert_eq!((comparison.objects, asked.get()), (2, 3));
}

#[test]
fn a_comparison_leaves_no_trace_in_what_is_live() {
    let room = Room::open();
    let (live, new) = (room.set(&["generic"]), room.set(&["apps"]));
    room.interpreters.install(Arc::clone(&live));
    let places = [place("a", vec![counted("web")])];
    compare(&Limits::default(), &live, &new, &places, 0, &go_on);
    let stats = live.stats("generic").expect("it is live");
    assert_eq!(stats.snapshot(), CallSnapshot::default());
    assert_eq!(room.interpreters.memo().entries, 0);
}

#[test]
fn no_more_is_told_than_anybody_reads() {
    let room = Room::open();
    let (old, new) = (room.set(&["generic"]), room.set(&[]));
    let object = |number: usize| {
        let json = format!(
            r#"{{"apiVersion": "example.com/v1", "kind": "K{number}", "metadata": {{"name": "k"}}}}"#
        );
        Object::from_json(json).expect("an object")
    };
    let places = [place("a", (0..CHANGES_MAX + 50).map(object).collect())];
    let comparison = compare(&Limits::default(), &old, &new, &places, 0, &go_on);
    assert_eq!(comparison.changed, 250);
    assert_eq!(comparison.changes.len(), CHANGES_MAX);
    assert!(comparison.changes.is_sorted_by_key(|change| &change.gvk));
}
