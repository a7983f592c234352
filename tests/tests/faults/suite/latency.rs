//! Latency that a hostile interpreter adds to a healthy one called at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_interpreter::{Interpreters, Limits};
use kindsight_model::{Object, Phase, Source};

use crate::{hostile, object, start, thing};

const CALLS: usize = 400;

/// Calls the healthy interpreter, and returns the time of each verdict, shortest first.
fn ask(interpreters: &Interpreters, round: usize) -> Vec<Duration> {
    let mut took = Vec::new();
    for number in 0..CALLS {
        // Never the same object, so that no memo answers.
        let spec = format!(r#"{{"round": {round}, "number": {number}}}"#);
        let batch: Arc<[Object]> = [object("healthy.example.com", &spec)].into();
        let begun = Instant::now();
        let judged = interpreters.judge_each(&batch, 0);
        took.push(begun.elapsed());
        assert_eq!(judged.len(), 1);
        let by = judged[0].by.as_ref().expect("an interpreter");
        assert_eq!(&*by.name, "healthy");
        assert_eq!(judged[0].phase, Phase::Ready, "{:?}", judged[0]);
    }
    took.sort_unstable();
    took
}

/// Calls an interpreter that never returns, until `done`; returns the number of calls.
fn loop_until(interpreters: &Interpreters, done: &AtomicBool) -> usize {
    let mut calls = 0;
    while !done.load(Ordering::Relaxed) {
        let spec = format!(r#"{{"do": "loop", "number": {calls}}}"#);
        let batch: Arc<[Object]> = [thing(&spec)].into();
        let judged = interpreters.judge_each(&batch, 0);
        assert_eq!(&*judged[0].reason, "InterpreterTimedOut");
        calls += 1;
    }
    calls
}

#[test]
fn a_healthy_interpreter_answers_beside_one_that_loops() {
    let interpreters = start(Limits {
        workers: 2,
        ..Limits::default()
    });
    let set = [
        r#"{"name": "hostile"}"#,
        r#"{"name": "healthy", "kinds": [["healthy.example.com", "*", "Thing"]]}"#,
    ]
    .map(|description| (Source::Upload, hostile(&interpreters, description)));
    interpreters.publish(set.into()).expect("a set");
    let alone = ask(&interpreters, 0);
    let done = AtomicBool::new(false);
    let (beside, loops) = thread::scope(|scope| {
        let looping = scope.spawn(|| loop_until(&interpreters, &done));
        thread::sleep(Duration::from_millis(20));
        let mut beside = ask(&interpreters, 1);
        // Long enough for several deadlines of the other interpreter.
        let begun = Instant::now();
        let mut round = 2;
        while begun.elapsed() < Duration::from_millis(300) {
            beside.extend(ask(&interpreters, round));
            round += 1;
        }
        beside.sort_unstable();
        done.store(true, Ordering::Relaxed);
        (beside, looping.join().expect("no panic"))
    });
    assert!(loops > 0);
    let at = |took: &[Duration], percent: usize| took[took.len() * percent / 100];
    for percent in [50, 90, 99] {
        println!(
            "p{percent}: {:?} alone, {:?} beside one that loops",
            at(&alone, percent),
            at(&beside, percent)
        );
    }
}
