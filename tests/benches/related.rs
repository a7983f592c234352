//! Cost of related objects: 10,000 objects of one report of 30,000 objects, each with two related objects.
//!
//! The objects are judged with the rule `owned`, with the rule `selected-by`, and without a rule, by otherwise equal
//! components, without a memo, on one thread. The time includes the construction of the report's index in each turn.
//!
//! `cargo bench -p kindsight-tests --bench related`

use std::sync::Arc;
use std::time::Instant;

use kindsight_interpreter::{Interpreters, Limits, Memo, Published, Siblings, Worker};
use kindsight_model::{Coverage, Object, Phase, Source};

/// Objects that are judged.
const JUDGED: usize = 10_000;
/// Pods of each.
const PODS: usize = 2;
const TURNS: usize = 15;

/// Members of the guest's description, by the name of their line.
const RULES: [(&str, &str); 3] = [
    ("no rule", ""),
    ("owned", r#", "related-limit": 10"#),
    (
        "selected-by",
        r#", "related-limit": 10, "selector": "/spec/selector""#,
    ),
];

fn main() {
    let limits = Limits {
        workers: 1,
        ..Limits::default()
    };
    let interpreters = Interpreters::start(limits.clone(), None).expect("an engine");
    let sets = RULES.map(|(_, rule)| set(&interpreters, rule));
    let objects = report();
    let mut workers = RULES.map(|_| Worker::new(limits.clone(), Arc::new(Memo::new(0))));
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let mut times = [0.0; RULES.len()];
        for ((time, set), worker) in times.iter_mut().zip(&sets).zip(&mut workers) {
            *time = judge(worker, set, &objects);
        }
        turns.push(times);
    }
    let median = |value: &dyn Fn(&[f64; RULES.len()]) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values[TURNS / 2]
    };
    println!(
        "{JUDGED} objects among {}, {PODS} related each",
        objects.len()
    );
    for (position, (name, _)) in RULES.iter().enumerate() {
        let seconds = median(&|times| times[position]);
        println!(
            "{name:<12} {:>6.2} us an object  {:.2} times without a rule",
            seconds * 1e6 / f64::from(u32::try_from(JUDGED).expect("a few")),
            median(&|times| times[position] / times[0]),
        );
    }
}

/// The guest with a rule, or without one, that judges Things.
fn set(interpreters: &Interpreters, rule: &str) -> Arc<Published> {
    let text = format!(r#"{{"name": "it"{rule}}}"#);
    let guest = interpreters.load(&kindsight_tests::hostile(&text));
    let member = (Source::Upload, guest.expect("a component"));
    interpreters.publish(vec![member]).expect("a set");
    interpreters.published()
}

/// Seconds for all of them.
fn judge(worker: &mut Worker, set: &Published, objects: &Arc<[Object]>) -> f64 {
    let start = Instant::now();
    let siblings = Siblings::of(objects).covered(Coverage::partial());
    for object in objects.iter().take(JUDGED) {
        let verdict = worker.judge(set, object, &siblings, 0);
        assert_eq!(verdict.phase, Phase::Ready, "{verdict:?}");
    }
    start.elapsed().as_secs_f64()
}

/// Things with a selector each, then the Pods that they own and select.
fn report() -> Arc<[Object]> {
    let things = (0..JUDGED).map(|number| {
        format!(
            r#"{{"apiVersion":"hostile.example.com/v1","kind":"Thing","metadata":{{"name":"t{number}","namespace":"d","uid":"u{number}"}},"spec":{{"replicas":2,"selector":{{"matchLabels":{{"app":"a{number}","tier":"web"}}}}}},"status":{{"replicas":2}}}}"#
        )
    });
    let pods = (0..JUDGED * PODS).map(|number| {
        let thing = number / PODS;
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{number}","namespace":"d","labels":{{"app":"a{thing}","tier":"web"}},"ownerReferences":[{{"apiVersion":"hostile.example.com/v1","kind":"Thing","name":"t{thing}","uid":"u{thing}","controller":true}}]}},"spec":{{"nodeName":"n"}},"status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True"}}]}}}}"#
        )
    });
    let objects = things.chain(pods);
    let objects = objects.map(|json| Object::from_json(json).expect("an object"));
    objects.collect()
}
