//! Statistics of the calls of an interpreter while it is live.

use std::sync::Arc;

use kindsight_interpreter::{
    CallSnapshot, CallStats, Interpreters, Isolation, Latency, Limits, SetMember,
};
use kindsight_model::{Object, Source};

fn one_worker() -> Limits {
    Limits {
        workers: 1,
        ..Limits::default()
    }
}

/// Starts with one built-in interpreter live.
fn start(limits: Limits) -> Interpreters {
    let interpreters = Interpreters::start(limits, None).expect("an engine");
    let set = vec![member(&interpreters, None)];
    interpreters.install(interpreters.prepare(set).expect("a set"));
    interpreters
}

fn member(interpreters: &Interpreters, settings: Option<&str>) -> SetMember {
    let policy = kindsight_plugins::built_in("policy").expect("a built-in interpreter");
    let interpreter = interpreters.load(policy.wasm).expect("a component");
    SetMember {
        settings: settings.map(Into::into),
        ..SetMember::from((Source::BuiltIn, interpreter))
    }
}

/// `count` different objects of a Kind it judges.
fn budgets(count: usize) -> Arc<[Object]> {
    let budget = |number| {
        let json = format!(
            r#"{{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {{"name": "b", "generation": {number}}}}}"#
        );
        Object::from_json(json).expect("an object")
    };
    (1..=count).map(budget).collect()
}

fn live(interpreters: &Interpreters) -> Arc<CallStats> {
    let set = interpreters.published();
    Arc::clone(set.stats("policy").expect("it is live"))
}

#[test]
fn calls_and_answers_from_the_memo_are_counted() {
    let interpreters = start(one_worker());
    let nothing_yet = CallSnapshot::default();
    assert_eq!(live(&interpreters).snapshot(), nothing_yet);
    for _ in 0..3 {
        interpreters.judge(&budgets(10), 0);
    }
    let snapshot = live(&interpreters).snapshot();
    assert_eq!((snapshot.calls, snapshot.remembered), (10, 20));
    assert_eq!(snapshot.faults_total(), 0);
    assert_eq!(snapshot.instances, 1);
    let Latency {
        p50_us,
        p90_us,
        p99_us,
        max_us,
    } = snapshot.latency;
    assert!(0 < p50_us && p50_us <= p90_us && p90_us <= p99_us && p99_us <= max_us);
    let memory = snapshot.memory_high_water_bytes;
    assert!((65_536..16 << 20).contains(&memory), "{memory} bytes");
}

#[test]
fn instances_are_counted_until_they_are_gone() {
    let per_call = Limits {
        isolation: Isolation::PerCall,
        ..one_worker()
    };
    let interpreters = start(per_call);
    interpreters.judge(&budgets(3), 0);
    assert_eq!(live(&interpreters).snapshot().instances, 0);
    let interpreters = start(one_worker());
    interpreters.judge(&budgets(3), 0);
    let stats = live(&interpreters);
    assert_eq!(stats.snapshot().instances, 1);
    drop(interpreters);
    assert_eq!(stats.snapshot().instances, 0);
}

#[test]
fn counts_last_as_long_as_an_interpreter_is_live_without_a_break() {
    let interpreters = start(one_worker());
    let publish =
        |set: Vec<SetMember>| interpreters.install(interpreters.prepare(set).expect("a set"));
    interpreters.judge(&budgets(2), 0);
    publish(vec![member(&interpreters, None)]);
    interpreters.judge(&budgets(4), 0);
    let before = live(&interpreters);
    assert_eq!(
        (before.snapshot().calls, before.snapshot().remembered),
        (4, 2)
    );
    publish(vec![member(&interpreters, Some("{}"))]);
    assert_eq!(
        live(&interpreters).snapshot().calls,
        0,
        "other settings have their own statistics"
    );
    assert_eq!(
        before.snapshot().calls,
        4,
        "the old statistics can still be read"
    );
    publish(Vec::new());
    assert!(interpreters.published().stats("policy").is_none());
    publish(vec![member(&interpreters, None)]);
    assert_eq!(live(&interpreters).snapshot().calls, 0);
}
