//! The circuit breaker: an interpreter that fails too often is rolled back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use expect_test::expect;
use kindsight_catalog::CatalogLimits;
use kindsight_model::{Object, Source};

use crate::{Host, component, component_with, file, name, upload};

const LOOSE: &str = r#", "settings-schema": "{}""#;

/// A version of `a` that never fails.
fn good(version: &str) -> Vec<u8> {
    component_with("a", version, r#", "fields": ["/metadata"]"#)
}

impl Host {
    /// Makes `times` calls, each with another input, that end as `what` says.
    fn call(&self, times: usize, what: &str) {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        for _ in 0..times {
            let number = CALLS.fetch_add(1, Ordering::Relaxed);
            let spec = format!(r#"{{"do": "{what}", "text": "as asked", "number": {number}}}"#);
            self.judge("a", &spec);
        }
    }
}

#[test]
fn an_interpreter_that_fails_too_often_is_rolled_back() {
    let host = Host::new();
    let (first, second) = (good("1.0.0"), component("a", "2.0.0"));
    host.load(&file("a", first));
    host.load(&file("a", second.clone()));
    let now = Instant::now();
    host.call(9, "panic");
    host.catalog.check_breaker(now);
    assert_eq!(host.judges("a"), "a 2.0.0", "nine calls say too little");
    host.call(1, "panic");
    host.catalog.check_breaker(now + Duration::from_secs(1));
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert_eq!(
        host.versions("a", Source::Directory),
        ["1.0.0 Live", "2.0.0 RolledBack"]
    );
    expect!["Breaker None: 10 of its last 11 calls ended in a fault; rolled back to 1.0.0"]
        .assert_eq(&host.last_event("a"));
    expect!["refused: received: these bytes of `a` were rolled back (10 of its last 11 calls ended in a fault); upload them to try again"]
        .assert_eq(&host.load(&file("a", second)));
    host.catalog.check_breaker(now + Duration::from_secs(2));
    assert_eq!(host.judges("a"), "a 1.0.0", "the faults were not its own");
}

#[test]
fn a_faulting_version_without_an_alternative_remains_live() {
    let generic = kindsight_plugins::built_in("generic")
        .expect("built in")
        .wasm
        .to_vec();
    let host = Host::over(Arc::default(), &[generic]);
    host.load(&upload("a", component("a", "1.0.0")));
    assert_eq!(host.judges("a"), "a 1.0.0");
    let start = Instant::now();
    let at = |second| start + Duration::from_secs(second);
    host.catalog.check_breaker(at(0));
    host.call(20, "panic");
    for second in 1..=3 {
        host.catalog.check_breaker(at(second));
    }
    assert_eq!(
        host.judges("a"),
        "a 1.0.0",
        "no more general rule takes over"
    );
    let state = host.catalog.breaker(&name("a"));
    let faulting = state.faulting.expect("it fails");
    assert_eq!((faulting.calls, faulting.faults), (21, 20));
    assert_eq!((faulting.since_ms, state.trips), (crate::NOW_MS, 1));
    assert_eq!(
        host.catalog.breaker_notes(),
        ["interpreter a is faulting: 20 of its last 21 calls ended in a fault"]
    );
    expect!["Load Some(Upload): a 1.0.0 is live"].assert_eq(&host.last_event("a"));
    // After a minute, the old faults no longer count.
    for second in 4..=140 {
        host.catalog.check_breaker(at(second));
    }
    let state = host.catalog.breaker(&name("a"));
    assert_eq!((state.faulting, state.trips), (None, 1));
    assert!(host.catalog.breaker_notes().is_empty());
}

/// The previous version fails on the same inputs as the live version, so it is no better.
#[test]
fn it_does_not_roll_back_to_a_version_that_fails_as_much() {
    let host = Host::over(Arc::default(), &[component("a", "1.0.0")]);
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(20, "panic");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.live(), ["a 2.0.0 Upload"]);
    assert!(host.catalog.breaker(&name("a")).faulting.is_some());
    assert_eq!(host.catalog.breaker_notes().len(), 1);
}

/// The previous version must judge the Kind itself. A more general interpreter is not a version of this interpreter.
#[test]
fn a_version_that_does_not_speak_for_the_kind_is_no_better() {
    let host = Host::new();
    let other = kindsight_tests::hostile(
        r#"{"name": "a", "version": "1.0.0", "kinds": [["other", "*", "Thing"]]}"#,
    );
    host.load(&upload("a", other));
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(20, "panic");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 2.0.0");
}

/// A cluster that repeats its report each second repeats the same bad objects.
#[test]
fn the_same_input_counts_once() {
    let host = Host::new();
    host.load(&upload("a", good("1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    let start = Instant::now();
    for second in 0..100 {
        for number in 0..9 {
            host.judge("a", &format!(r#"{{"do": "panic", "bad": {number}}}"#));
        }
        host.catalog
            .check_breaker(start + Duration::from_secs(second));
    }
    assert_eq!(host.judges("a"), "a 2.0.0", "nine inputs say too little");
    assert_eq!(host.catalog.breaker(&name("a")).trips, 0);
}

/// The objects of an interpreter that requests one field have two different inputs.
#[test]
fn an_interpreter_that_requests_few_fields_is_judged_by_its_objects() {
    let host = Host::new();
    host.load(&upload("a", good("1.0.0")));
    let narrow = component_with("a", "2.0.0", r#", "fields": ["/spec/do"]"#);
    host.load(&upload("a", narrow));
    let thing = |number: usize, what: &str| {
        let json = format!(
            r#"{{"apiVersion": "a/v1", "kind": "Thing", "metadata": {{"name": "it-{number}"}}, "spec": {{"do": "{what}"}}}}"#
        );
        Object::from_json(json).expect("an object")
    };
    let things = (0..31).map(|number| thing(number, if number == 0 { "ready" } else { "panic" }));
    let things: Arc<[Object]> = things.collect();
    host.catalog.interpreters().judge_each(&things, 0);
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 1.0.0");
    expect![
        "Breaker None: its calls for 30 of the last 31 objects ended in a fault; rolled back to 1.0.0"
    ]
    .assert_eq(&host.last_event("a"));
}

#[test]
fn few_objects_say_too_little_however_often_they_fail() {
    let host = Host::new();
    host.load(&upload("a", good("1.0.0")));
    let narrow = component_with("a", "2.0.0", r#", "fields": ["/spec/do"]"#);
    host.load(&upload("a", narrow));
    let start = Instant::now();
    for second in 0..100 {
        host.judge("a", r#"{"do": "panic"}"#);
        host.catalog
            .check_breaker(start + Duration::from_secs(second));
    }
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn objects_that_were_sent_count_nowhere() {
    let host = Host::new();
    host.load(&upload("a", good("1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    let interpreters = host.catalog.interpreters();
    let sent: Arc<[Object]> = (0..100)
        .map(|number| crate::thing("a", &format!(r#"{{"do": "panic", "number": {number}}}"#)))
        .collect();
    let judged = interpreters.judge_sent(&sent, 0, &Arc::default());
    assert!(
        judged
            .iter()
            .all(|verdict| &*verdict.reason == "InterpreterTrapped")
    );
    let fine: Arc<[Object]> = [crate::thing("a", "{}")].into();
    for _ in 0..2 {
        interpreters.judge_sent(&fine, 0, &Arc::default());
    }
    let set = interpreters.published();
    let stats = set.stats("a").expect("it is live");
    let seen = stats.snapshot();
    assert_eq!(
        (seen.calls, seen.remembered, seen.faults_total()),
        (0, 0, 0)
    );
    assert_eq!(seen.memory_high_water_bytes, 0);
    assert_eq!(interpreters.memo().entries, 0);
    assert!(stats.failed_inputs().is_empty());
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn it_rolls_back_to_the_lower_source() {
    let host = Host::over(Arc::default(), &[good("1.0.0")]);
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(20, "undeclared-state");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn"]);
    expect![
        "Breaker None: 20 of its last 20 calls ended in a fault; rolled back to 1.0.0 from built-in"
    ]
    .assert_eq(&host.last_event("a"));
    assert_eq!(
        host.catalog.breaker_notes(),
        [
            "interpreter a was rolled back: 20 of its last 20 calls ended in a fault; rolled back to 1.0.0 from built-in"
        ]
    );
    assert_eq!(host.catalog.breaker(&name("a")).trips, 1);
    host.load(&upload("a", component("a", "3.0.0")));
    host.catalog.check_breaker(Instant::now());
    assert!(host.catalog.breaker_notes().is_empty());
}

#[test]
fn an_object_that_cannot_be_read_is_no_fault_of_its_own() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(30, "invalid-object");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn a_share_below_the_limit_is_borne() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(20, "panic");
    host.call(21, "waver");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn it_can_be_turned_off() {
    let limits = CatalogLimits {
        breaker_fault_percent: 0,
        ..CatalogLimits::default()
    };
    let host = Host::open(Arc::default(), &[], limits).expect("a catalog");
    host.load(&upload("a", component("a", "1.0.0")));
    host.call(20, "panic");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 1.0.0");
}

#[test]
fn old_faults_do_not_count() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    let start = Instant::now();
    let at = |second| start + Duration::from_secs(second);
    host.catalog.check_breaker(at(0));
    // First 4 % of the calls fail. Later all calls fail, but there are too few calls to count.
    host.call(96, "waver");
    host.call(4, "panic");
    for second in 1..=70 {
        host.catalog.check_breaker(at(second));
    }
    host.call(5, "panic");
    for second in 71..=140 {
        host.catalog.check_breaker(at(second));
    }
    assert_eq!(host.judges("a"), "a 2.0.0");
}

/// A version that refuses the settings cannot be live, so a rollback to it is impossible.
#[test]
fn it_does_not_roll_back_to_a_version_that_refuses_the_settings() {
    let host = Host::new();
    host.load(&upload("a", good("1.0.0")));
    host.load(&upload("a", component_with("a", "2.0.0", LOOSE)));
    let settings = serde_json::json!({"level": 1});
    host.catalog
        .set_settings(&name("a"), settings.as_object().cloned())
        .expect("they fit");
    host.call(20, "panic");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 2.0.0");
    expect!["Settings Some(Upload): the settings of a are set"].assert_eq(&host.last_event("a"));
    assert!(host.catalog.breaker(&name("a")).faulting.is_some());
}
