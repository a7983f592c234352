use std::sync::Arc;
use std::thread;

use kindsight_model::{Object, Source};

use super::*;
use crate::{Interpreters, Limits};

fn one_worker() -> Limits {
    Limits {
        workers: 1,
        ..Limits::default()
    }
}

/// Starts with one live built-in interpreter.
fn start(limits: Limits) -> Interpreters {
    let interpreters = Interpreters::start(limits, None).expect("an engine");
    let policy = kindsight_plugins::built_in("policy").expect("a built-in interpreter");
    let policy = interpreters.load(policy.wasm).expect("a component");
    let set = vec![(Source::BuiltIn, policy)];
    interpreters.publish(set).expect("a set");
    interpreters
}

/// `count` different objects of a Kind that it judges.
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
fn many_threads_lose_no_count() {
    const THREADS: u64 = 4;
    const CALLS: u64 = 10_000;
    let stats = CallStats::default();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let stats = &stats;
            scope.spawn(move || {
                stats.instance_began();
                for call in 0..CALLS {
                    let begun = stats.begin();
                    stats.record_memory(usize::try_from(thread * CALLS + call).expect("a size"));
                    let fault = match call % 100 {
                        0 => Some(Fault::StackOverflow),
                        1 => Some(Fault::Trapped(String::new())),
                        2 => Some(Fault::InvalidObject(String::new())),
                        _ => None,
                    };
                    stats.end(begun, fault.as_ref());
                }
                stats.instance_ended();
            });
        }
    });
    let snapshot = stats.snapshot();
    let each = THREADS * CALLS / 100;
    let faults = [
        ("InterpreterStackOverflow", each),
        ("InterpreterTrapped", each),
    ];
    assert_eq!(snapshot.calls, THREADS * CALLS);
    assert_eq!(snapshot.faults, BTreeMap::from(faults));
    assert_eq!(snapshot.faults_total(), 2 * each);
    assert_eq!(snapshot.invalid_inputs, each);
    assert_eq!(snapshot.memory_high_water_bytes, THREADS * CALLS - 1);
    assert_eq!(snapshot.instances, 0);
    let lately = stats.recent(Instant::now());
    assert_eq!((lately.calls, lately.faults), (THREADS * CALLS, 2 * each));
}

#[test]
fn the_first_calls_are_timed_and_some_of_the_later_ones() {
    let stats = CallStats::default();
    let timed = |calls: u64| (0..calls).filter(|_| stats.begin().0.is_some()).count();
    assert_eq!(timed(TIMED_FIRST), 1024);
    assert_eq!(timed(800), 100);
}

#[test]
fn faults_are_counted_by_kind() {
    let interpreters = start(one_worker());
    let set = interpreters.published();
    let none = Limits {
        memory_bytes_max: 0,
        ..Limits::default()
    };
    let stats = Arc::new(CallStats::default());
    let mut worker = crate::Worker::isolated(none, Arc::clone(&stats));
    for object in budgets(3).iter() {
        worker.judge(&set, object, &crate::Siblings::none(), 0);
    }
    let snapshot = stats.snapshot();
    let faults = BTreeMap::from([("InterpreterOutOfMemory", 3)]);
    assert_eq!((snapshot.calls, &snapshot.faults), (3, &faults));
    assert_eq!(snapshot.instances, 0);
    assert_eq!(
        live(&interpreters).snapshot(),
        CallSnapshot::default(),
        "an isolated worker has its own statistics"
    );
}
