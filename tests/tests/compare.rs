//! Comparison of two sets of interpreters on the same objects.

use std::cell::Cell;
use std::sync::Arc;

use kindsight_interpreter::{
    CallSnapshot, Comparison, Interpreters, Limits, Published, ReportedGroup, compare,
};
use kindsight_model::{Coverage, Object, ObjectList, Source, decode_bundle};

/// Samples of one change, and changes that are reported.
const SAMPLES_MAX: usize = 5;
const CHANGES_MAX: usize = 200;

/// Report of the monitor in one cluster of the recording.
const BUNDLE: &[u8] = include_bytes!(concat!(
    "../../host/server/recording/clusters/vfw-cluster-provider+edge01/",
    "2755581958183303505-sink.json"
));

struct Fixture {
    interpreters: Interpreters,
}

impl Fixture {
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
        let members = names.iter().map(|name| {
            let built_in = kindsight_plugins::built_in(name).expect("a built-in interpreter");
            let interpreter = self.interpreters.load(built_in.wasm).expect("a component");
            (Source::BuiltIn, interpreter).into()
        });
        self.interpreters.prepare(members.collect()).expect("a set")
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

/// All Pods are ready, and no condition says so.
fn counted(name: &str) -> Object {
    deployment(
        name,
        r#"{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1}"#,
    )
}

/// All Pods are ready, and a condition says so.
fn available(name: &str) -> Object {
    deployment(
        name,
        r#"{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]}"#,
    )
}

/// A Deployment whose Pods do not become available.
fn stuck(name: &str) -> Object {
    deployment(
        name,
        r#"{"observedGeneration": 1, "conditions": [{"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded", "message": "no Pods"}]}"#,
    )
}

fn group(label: &str, objects: impl Into<ObjectList>) -> ReportedGroup {
    ReportedGroup {
        related: [].into(),
        covered: Coverage::partial(),
        label: Some(label.into()),
        application: Some(format!("of {label}").into()),
        objects: objects.into(),
    }
}

fn never_stop() -> bool {
    false
}

/// One line `count Kind from -> to` for each change.
fn summary(comparison: &Comparison) -> String {
    let changes = comparison.changes.iter();
    let lines = changes.map(|change| {
        format!(
            "{} {} {} -> {}\n",
            change.count, change.gvk, change.from, change.to
        )
    });
    lines.collect()
}

#[test]
fn changes_are_grouped_and_have_samples() {
    let fixture = Fixture::open();
    let (old, new) = (fixture.set(&["generic"]), fixture.set(&["generic", "apps"]));
    let config = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}"#;
    let mut first: Vec<Object> = (0..7)
        .map(|number| counted(&format!("web-{number}")))
        .collect();
    first.push(Object::from_json(config).expect("an object"));
    let second = vec![available("fine"), counted("other"), stuck("stuck")];
    let groups = [group("a", first), group("b", second)];
    let comparison = compare(&Limits::default(), &old, &new, &groups, 0, &never_stop);
    assert!(comparison.is_complete);
    assert_eq!(comparison.objects, 10, "both sets judge a ConfigMap alike");
    assert_eq!(comparison.old.calls, 10);
    assert_eq!(comparison.new.calls, 10);
    assert_eq!(
        comparison.old.faults_total() + comparison.new.faults_total(),
        0
    );
    assert!(comparison.old.latency.max_us > 0 && comparison.new.latency.max_us > 0);
    assert_eq!(
        summary(&comparison),
        "8 apps/v1 Deployment Present -> Pending\n1 apps/v1 Deployment Ready -> Ready\n",
        "both sets give the same verdict on the stuck Deployment"
    );
    assert_eq!((comparison.changed, comparison.phases_changed), (9, 8));
    let applications = comparison.applications.iter();
    let applications: Vec<_> = applications
        .map(|of| (&*of.name, of.changed, of.phases_changed))
        .collect();
    assert_eq!(applications, [("of a", 7, 7), ("of b", 2, 1)]);
    assert_eq!(comparison.applications_changed, 2);
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
fn the_same_set_judges_a_report_alike_twice() {
    let fixture = Fixture::open();
    let set = fixture.set(&["generic", "core", "apps"]);
    let objects = decode_bundle(BUNDLE).expect("a bundle").report.objects;
    let groups = [group("sink", objects)];
    let comparison = compare(&Limits::default(), &set, &set, &groups, 0, &never_stop);
    let nothing = Comparison {
        is_complete: true,
        ..Comparison::default()
    };
    assert_eq!(comparison, nothing);
}

#[test]
fn the_same_fault_of_another_version_is_no_change() {
    let fixture = Fixture::open();
    let (old, new) = (fixture.set(&["generic"]), fixture.set(&["apps"]));
    let limits = Limits {
        memory_bytes_max: 0,
        ..Limits::default()
    };
    let groups = [group("a", vec![counted("web"), counted("other")])];
    let comparison = compare(&limits, &old, &new, &groups, 0, &never_stop);
    assert_eq!((comparison.objects, comparison.changed), (2, 0));
    let faults = [&comparison.old, &comparison.new].map(CallSnapshot::faults_total);
    assert_eq!(faults, [2, 2]);
}

#[test]
fn a_kind_that_lost_its_interpreter_has_changed() {
    let fixture = Fixture::open();
    let (old, new) = (fixture.set(&["apps"]), fixture.set(&[]));
    let groups = [group("a", vec![available("web")])];
    let comparison = compare(&Limits::default(), &old, &new, &groups, 0, &never_stop);
    assert_eq!(
        summary(&comparison),
        "1 apps/v1 Deployment Ready -> Unknown\n"
    );
    assert_eq!(
        &*comparison.changes[0].samples[0].to.reason,
        "NoInterpreter"
    );
    assert_eq!((comparison.old.calls, comparison.new.calls), (1, 0));
}

#[test]
fn it_ends_when_should_stop_answers_true() {
    let fixture = Fixture::open();
    let (old, new) = (fixture.set(&["generic"]), fixture.set(&["apps"]));
    let asked = Cell::new(0);
    let third = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let groups = [
        group("a", vec![counted("web")]),
        group("b", vec![counted("web"), counted("other")]),
        group("c", vec![counted("web")]),
    ];
    let comparison = compare(&Limits::default(), &old, &new, &groups, 0, &third);
    assert!(!comparison.is_complete);
    assert_eq!((comparison.objects, asked.get()), (2, 3));
}

#[test]
fn a_comparison_changes_no_statistics_of_live_interpreters() {
    let fixture = Fixture::open();
    let (live, new) = (fixture.set(&["generic"]), fixture.set(&["apps"]));
    fixture.interpreters.install(Arc::clone(&live));
    let groups = [group("a", vec![counted("web")])];
    compare(&Limits::default(), &live, &new, &groups, 0, &never_stop);
    let stats = live.stats("generic").expect("it is live");
    assert_eq!(stats.snapshot(), CallSnapshot::default());
    assert_eq!(fixture.interpreters.memo().entries, 0);
}

#[test]
fn the_number_of_reported_changes_is_limited() {
    let fixture = Fixture::open();
    let (old, new) = (fixture.set(&["generic"]), fixture.set(&[]));
    let object = |number: usize| {
        let json = format!(
            r#"{{"apiVersion": "example.com/v1", "kind": "K{number}", "metadata": {{"name": "k"}}}}"#
        );
        Object::from_json(json).expect("an object")
    };
    let groups = [group(
        "a",
        (0..CHANGES_MAX + 50).map(object).collect::<Vec<_>>(),
    )];
    let comparison = compare(&Limits::default(), &old, &new, &groups, 0, &never_stop);
    assert_eq!(comparison.changed, 250);
    assert_eq!(comparison.changes.len(), CHANGES_MAX);
    assert!(comparison.changes.is_sorted_by_key(|change| &change.gvk));
}
