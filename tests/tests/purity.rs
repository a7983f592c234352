//! The built-in interpreters and the interpreters of the catalogue: the same verdict every time, and a verdict on every
//! object.

#[path = "common/catalogue.rs"]
mod catalogue;
#[path = "common/plugins.rs"]
mod plugins;

use std::sync::Arc;

use kindsight_contract::Fixture;
use kindsight_conversion::cel::RuleSet;
use kindsight_interpreter::{
    Interpreter, Interpreters, Isolation, Limits, Memo, Published, Siblings, Worker,
};
use kindsight_model::{Gvk, Object, Source, Verdict, decode_bundle};
use plugins::{PLUGINS, Plugin};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

/// All built-in interpreters, live.
fn built_in() -> Interpreters {
    let interpreters = Interpreters::start(Limits::default(), None).expect("an engine");
    let set = kindsight_plugins::BUILT_IN.iter().map(|built_in| {
        let loaded = interpreters.load(built_in.wasm);
        let loaded = loaded.unwrap_or_else(|error| panic!("{}: {error}", built_in.name));
        (Source::BuiltIn, loaded)
    });
    interpreters.publish(set.collect()).expect("a set");
    interpreters
}

/// The interpreters of the catalogue, live.
fn of_catalogue(rules: &[RuleSet]) -> Interpreters {
    let interpreters = Interpreters::start(Limits::default(), None).expect("an engine");
    let set = rules.iter().map(|rules| {
        let loaded = interpreters.load(&catalogue::component(rules));
        let loaded = loaded.unwrap_or_else(|error| panic!("{}", error.with_step()));
        (Source::Catalogue, loaded)
    });
    interpreters.publish(set.collect()).expect("a set");
    interpreters
}

/// A worker that remembers no verdict.
fn forgetful(isolation: Isolation) -> Worker {
    let limits = Limits {
        isolation,
        ..Limits::default()
    };
    Worker::new(limits, Arc::new(Memo::new(0)))
}

/// The fixtures of a plugin.
fn fixtures_of(plugin: &Plugin) -> Vec<Fixture> {
    let (fixtures, warnings) = Fixture::parse_all(&(plugin.fixtures)()).expect("fixtures");
    assert_eq!(warnings, [""; 0]);
    fixtures
}

/// The object of a fixture, among its related objects.
fn example(fixture: &Fixture) -> (Object, Siblings) {
    let object = |json: &String| Object::from_json(json.as_str()).expect("an object");
    let all = fixture.related.iter().chain([&fixture.object]);
    let siblings = Siblings::of(all.map(object).collect::<Vec<_>>());
    (object(&fixture.object), siblings)
}

/// Every member as text, the interpreter's digest included.
fn bytes(verdict: &Verdict) -> String {
    format!("{verdict:?}")
}

#[test]
fn every_interpreter_that_ships_is_tried_here() {
    let tried = PLUGINS.map(|plugin| plugin.folder);
    let shipped: Vec<&str> = kindsight_plugins::BUILT_IN
        .iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(tried.as_slice(), shipped);
}

#[test]
fn an_interpreter_says_the_same_of_itself_every_time() {
    for plugin in PLUGINS {
        assert_eq!(
            (plugin.describe)(),
            (plugin.describe)(),
            "{}",
            plugin.folder
        );
        assert_eq!(
            (plugin.fixtures)(),
            (plugin.fixtures)(),
            "{}",
            plugin.folder
        );
    }
}

#[test]
fn every_fixture_has_the_same_answer_warm_and_fresh() {
    let interpreters = built_in();
    let set = interpreters.published();
    let mut warm = forgetful(Isolation::Pooled);
    let mut fresh = forgetful(Isolation::PerCall);
    for plugin in PLUGINS {
        let folder = plugin.folder;
        for fixture in fixtures_of(&plugin) {
            let (object, siblings) = example(&fixture);
            let judge = |worker: &mut Worker| {
                bytes(&worker.judge(&set, &object, &siblings, fixture.now_ms))
            };
            let first = judge(&mut warm);
            assert_eq!(judge(&mut warm), first, "{folder}, {}: again", fixture.name);
            assert_eq!(
                judge(&mut fresh),
                first,
                "{folder}, {}: fresh",
                fixture.name
            );
        }
    }
}

/// Judges every fixture forwards and backwards: earlier calls make no difference.
#[test]
fn the_order_of_objects_makes_no_difference() {
    let interpreters = built_in();
    let set = interpreters.published();
    let mut worker = forgetful(Isolation::Pooled);
    let mut judge = |fixture: &Fixture| {
        let (object, siblings) = example(fixture);
        bytes(&worker.judge(&set, &object, &siblings, fixture.now_ms))
    };
    let all: Vec<Fixture> = PLUGINS.iter().flat_map(fixtures_of).collect();
    let forwards: Vec<String> = all.iter().map(&mut judge).collect();
    let mut backwards: Vec<String> = all.iter().rev().map(&mut judge).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
}

#[test]
fn every_object_of_the_recording_is_judged() {
    let interpreters = built_in();
    let clusters = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../host/server/recording/clusters"
    );
    let mut judged_objects = 0;
    for cluster in std::fs::read_dir(clusters).expect("the recording") {
        let cluster = cluster.expect("a cluster").path();
        for file in std::fs::read_dir(cluster).expect("a cluster") {
            let file = file.expect("a file").path();
            let bundle = decode_bundle(&std::fs::read(&file).expect("a bundle")).expect("a bundle");
            assert_eq!(bundle.report.rejected, []);
            let objects: Arc<[Object]> = bundle.report.objects.iter().cloned().collect();
            for (object, judged) in objects.iter().zip(interpreters.judge(&objects, 0)) {
                assert!(judged.by.is_some(), "nobody judges {}", object.gvk);
                let reason = &judged.reason;
                assert!(!is_fault(reason), "{}: {}", object.gvk, judged.message);
                judged_objects += 1;
            }
        }
    }
    assert!(
        judged_objects > 20,
        "only {judged_objects} objects in the recording"
    );
}

/// Returns whether the host gives this reason for a fault of an interpreter. `InvalidInput` is none: an
/// interpreter may be unable to read an arbitrary object.
fn is_fault(reason: &str) -> bool {
    const FAULTS: [&str; 8] = [
        "InterpreterTimedOut",
        "InterpreterOutOfMemory",
        "InterpreterStackOverflow",
        "InterpreterTrapped",
        "InterpreterInvalidAnswer",
        "InterpreterAnswerTooLarge",
        "InterpreterUndeclaredState",
        "InterpreterFailed",
    ];
    FAULTS.contains(&reason)
}

/// Members that rules read, so that generated objects resemble real ones.
const KEYS: [&str; 32] = [
    "metadata",
    "spec",
    "status",
    "conditions",
    "type",
    "reason",
    "message",
    "generation",
    "observedGeneration",
    "replicas",
    "readyReplicas",
    "updatedReplicas",
    "availableReplicas",
    "phase",
    "state",
    "deletionTimestamp",
    "finalizers",
    "annotations",
    "labels",
    "lastTransitionTime",
    "parents",
    "listeners",
    "containerStatuses",
    "initContainerStatuses",
    "containers",
    "waiting",
    "terminated",
    "exitCode",
    "restartCount",
    "suspend",
    "startTime",
    "loadBalancer",
];

const WORDS: [&str; 14] = [
    "True",
    "False",
    "Unknown",
    "Ready",
    "Available",
    "Progressing",
    "Complete",
    "Failed",
    "Running",
    "Pending",
    "CrashLoopBackOff",
    "2024-01-01T00:00:00Z",
    "9999999999999999999",
    "\u{0}\u{1f980}",
];

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        (0..4_i64).prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::String),
        prop::sample::select(&WORDS[..]).prop_map(|word| json!(word)),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let key = prop_oneof![
            4 => prop::sample::select(&KEYS[..]).prop_map(str::to_owned),
            1 => any::<String>(),
        ];
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            2 => prop::collection::vec((key, inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An object with the members every interpreter reads first, of any type.
fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    let part = || prop::option::weighted(0.9, any_value());
    (part(), part(), part(), part()).prop_map(|(metadata, spec, status, data)| {
        let members = [
            ("metadata", metadata),
            ("spec", spec),
            ("status", status),
            ("data", data),
        ];
        let members = members
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        members.collect()
    })
}

/// One Kind for every pattern of the interpreter.
fn kinds(interpreter: &Interpreter) -> Vec<Gvk> {
    let kinds = interpreter.description().kinds.iter();
    let exact = |part: &str, any: &str| {
        if part == "*" {
            any.to_owned()
        } else {
            part.to_owned()
        }
    };
    kinds
        .map(|handled| {
            let pattern = &handled.pattern;
            let group = pattern.group.replace("*.", "any.");
            let group = exact(&group, "any.example.com");
            Gvk::new(
                &group,
                &exact(&pattern.version, "v1"),
                &exact(&pattern.kind, "Any"),
            )
        })
        .collect()
}

fn with_kind(mut members: Map<String, Value>, gvk: &Gvk) -> Object {
    let api_version = match &*gvk.group {
        "" => gvk.version.to_string(),
        group => format!("{group}/{}", gvk.version),
    };
    members.insert("apiVersion".to_owned(), json!(api_version));
    members.insert("kind".to_owned(), json!(&*gvk.kind));
    Object::from_json(Value::Object(members).to_string()).expect("an object")
}

/// The Kinds of all live interpreters.
fn all_kinds(set: &Published) -> Vec<Gvk> {
    set.interpreters()
        .flat_map(|(_, interpreter)| kinds(interpreter))
        .collect()
}

#[test]
fn any_object_of_any_kind_has_a_verdict() {
    const CASES: u32 = 128;
    let interpreters = built_in();
    judge_any_object(&interpreters, CASES);
}

/// Judges objects with any members, of each Kind of the live interpreters.
fn judge_any_object(interpreters: &Interpreters, cases: u32) {
    let set = interpreters.published();
    let kinds = all_kinds(&set);
    assert!(kinds.len() > 20);
    let worker = std::cell::RefCell::new(forgetful(Isolation::Pooled));
    let mut runner = TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let outcome = runner.run(&any_object(), |members| {
        for gvk in &kinds {
            let object = with_kind(members.clone(), gvk);
            let judged = worker
                .borrow_mut()
                .judge(&set, &object, &Siblings::none(), 0);
            let (reason, message) = (&judged.reason, &judged.message);
            prop_assert!(judged.by.is_some(), "nobody judges {}", gvk);
            prop_assert!(!is_fault(reason), "{}: {}", gvk, message);
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// One test with all properties, because compiling takes most of the time.
#[test]
fn the_catalogue_is_pure_and_judges_any_object() {
    const CASES: u32 = 16;
    let rules = catalogue::joined_rules();
    let interpreters = of_catalogue(&rules);
    let set = interpreters.published();
    let mut warm = forgetful(Isolation::Pooled);
    let mut fresh = forgetful(Isolation::PerCall);
    let fixtures = rules.iter().flat_map(|rules| {
        let json = Value::from(rules.fixtures.clone()).to_string();
        Fixture::parse_all(&json).expect("fixtures").0
    });
    let fixtures: Vec<Fixture> = fixtures.collect();
    assert!(fixtures.len() > 700, "{} fixtures", fixtures.len());
    let judge = |worker: &mut Worker, fixture: &Fixture| {
        let (object, siblings) = example(fixture);
        bytes(&worker.judge(&set, &object, &siblings, fixture.now_ms))
    };
    let first: Vec<String> = fixtures.iter().map(|it| judge(&mut warm, it)).collect();
    let mut backwards: Vec<String> = fixtures
        .iter()
        .rev()
        .map(|it| judge(&mut warm, it))
        .collect();
    backwards.reverse();
    let fresh: Vec<String> = fixtures.iter().map(|it| judge(&mut fresh, it)).collect();
    for ((fixture, first), (again, fresh)) in fixtures
        .iter()
        .zip(&first)
        .zip(backwards.iter().zip(&fresh))
    {
        assert_eq!(again, first, "{}: again, in another order", fixture.name);
        assert_eq!(fresh, first, "{}: in a new instance", fixture.name);
    }
    judge_any_object(&interpreters, CASES);
}
