//! Publishing while others judge.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use kindsight_interpreter::{Interpreters, Limits};
use kindsight_model::{Object, Phase, Source};

use crate::{hostile, start, thing};

/// Enough for several slices, so that several workers share one batch.
const OBJECTS: usize = 300;
const SWAPS: usize = 300;
const READERS: usize = 3;

/// Judges until `done`, and once at least; answers with the versions it met.
fn read(interpreters: &Interpreters, reader: usize, done: &AtomicBool) -> BTreeSet<Arc<str>> {
    let mut versions = BTreeSet::new();
    let mut round = 0;
    loop {
        round += 1;
        let spec = |number| {
            format!(
                r#"{{"reader": {reader}, "round": {}, "number": {number}}}"#,
                round % 7
            )
        };
        let batch: Arc<[Object]> = (0..OBJECTS).map(|number| thing(&spec(number))).collect();
        let judged = interpreters.judge_each(&batch, 0);
        assert_eq!(judged.len(), OBJECTS);
        assert!(judged.iter().all(|judged| judged.phase == Phase::Ready));
        let by = judged
            .iter()
            .map(|judged| judged.by.as_ref().expect("an interpreter"));
        let met: BTreeSet<Arc<str>> = by.map(|by| Arc::clone(&by.version)).collect();
        assert_eq!(met.len(), 1, "one batch, one set");
        versions.extend(met);
        if done.load(Ordering::Relaxed) {
            return versions;
        }
    }
}

#[test]
fn a_batch_is_judged_by_one_set_however_often_it_is_swapped() {
    let interpreters = start(Limits {
        workers: 3,
        ..Limits::default()
    });
    let versions = ["1.0.0", "2.0.0"].map(|version| {
        hostile(
            &interpreters,
            &format!(r#"{{"name": "it", "version": "{version}"}}"#),
        )
    });
    let publish = |number: usize| {
        let version = Arc::clone(&versions[number % 2]);
        interpreters
            .publish(vec![(Source::Upload, version)])
            .expect("a set")
    };
    publish(0);
    let done = AtomicBool::new(false);
    let met = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let (interpreters, done) = (&interpreters, &done);
                scope.spawn(move || read(interpreters, reader, done))
            })
            .collect();
        for number in 0..SWAPS {
            publish(number);
            // This thread judges before each swap too, so that swaps and readers run at the same time.
            let batch: Arc<[Object]> = [thing(&format!(r#"{{"swap": {number}}}"#))].into();
            let judged = interpreters.judge_each(&batch, 0);
            let by = judged[0].by.as_ref().expect("an interpreter");
            assert_eq!(by.digest.as_str(), versions[number % 2].digest().as_str());
        }
        done.store(true, Ordering::Relaxed);
        let met = readers
            .into_iter()
            .map(|reader| reader.join().expect("no panic"));
        met.flatten().collect::<BTreeSet<_>>()
    });
    assert!(!met.is_empty());
    assert_eq!(interpreters.published().generation(), SWAPS as u64 + 1);
}

#[test]
fn a_set_that_is_taken_down_answers_no_more() {
    let interpreters = start(Limits::default());
    let interpreter = hostile(&interpreters, r#"{"name": "it"}"#);
    let batch: Arc<[Object]> = [thing("{}")].into();
    for set in [vec![(Source::Upload, interpreter)], vec![]] {
        let live = !set.is_empty();
        interpreters.publish(set).expect("a set");
        assert_eq!(interpreters.judge_each(&batch, 0)[0].by.is_some(), live);
    }
}
