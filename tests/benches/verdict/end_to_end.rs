//! Changed objects from end to end: the bytes of a bundle become verdicts.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kindsight_interpreter::{Interpreters, Isolation, Published, Siblings, Worker};
use kindsight_model::{Object, Phase, Source, Verdict, decode_bundle};
use kindsight_sdk::harness;
use serde_json::{Value, json};

use super::{limits, reported, seconds, worker};

/// Objects of one bundle.
const OBJECTS: usize = 64;
/// Number of bundles. All their objects differ, so every reported object is a changed object.
const BUNDLES: usize = 64;
/// Memory of the memo: it holds some of the bundles and never answers.
const MEMO_BYTES_MAX: usize = 1 << 20;
const KINDS: [(&str, &str); 5] = [
    ("Deployment", "deploymentStatuses"),
    ("Pod", "podStatuses"),
    ("Job", "jobStatuses"),
    ("Gateway", "resourceStatuses"),
    ("Network", "resourceStatuses"),
];

/// A native rule of one Kind.
type Rule = fn(&[u8], Option<i64>) -> Result<kindsight_sdk::Verdict, kindsight_sdk::Failure>;

const RULES: [Rule; 5] = [
    harness::judge_view::<kindsight_plugin_apps::Apps>,
    harness::judge_view::<kindsight_plugin_core::Core>,
    harness::judge_view::<kindsight_plugin_batch::Batch>,
    harness::judge_view::<kindsight_plugin_gateway::Gateway>,
    harness::judge_view::<kindsight_plugin_generic::Generic>,
];

/// Prints the time of one changed object by components and by native rules, and the parts of it.
pub(crate) fn print() {
    let interpreters = Interpreters::start(limits(Isolation::Pooled), None).expect("a machine");
    let load = |plugin: &str| {
        let built_in = kindsight_plugins::built_in(plugin).expect("a built-in interpreter");
        let interpreter = interpreters.load(built_in.wasm).expect("a component");
        (Source::BuiltIn, interpreter)
    };
    let live = ["apps", "core", "batch", "gateway", "generic"].map(load);
    interpreters.publish(live.into()).expect("a set");
    let set = interpreters.published();
    let bundles: Vec<Vec<u8>> = (0..BUNDLES).map(bundle).collect();
    let bytes: usize = bundles.iter().map(Vec::len).sum();
    let mut next = 0;
    let mut bundle = || {
        next = (next + 1) % BUNDLES;
        bundles[next].as_slice()
    };
    let mut component = worker(Isolation::Pooled, MEMO_BYTES_MAX);
    let mut native = worker(Isolation::Pooled, MEMO_BYTES_MAX);
    let mut turns = Vec::new();
    // One bundle per turn, because a busy machine interrupts longer turns.
    for _ in 0..801 {
        let decode = seconds(1, &mut || drop(decode_bundle(bundle())));
        let component = seconds(1, &mut || by_component(&mut component, &set, bundle()));
        let native = seconds(1, &mut || by_native_rule(&mut native, &set, bundle()));
        turns.push([decode, component, native, component / native]);
    }
    let median = |part: usize| {
        let mut values: Vec<f64> = turns.iter().map(|turn| turn[part]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let us = |part: usize| Duration::from_secs_f64(median(part) / 64.0).as_secs_f64() * 1e6;
    println!(
        "a changed object of {} bytes in a bundle: read {:.2} us  by component {:.2} us  by native rule {:.2} us  end to end / native {:.2}",
        bytes / BUNDLES / OBJECTS,
        us(0),
        us(1),
        us(2),
        median(3),
    );
}

fn by_component(worker: &mut Worker, set: &Arc<Published>, bytes: &[u8]) {
    let objects = decode_bundle(bytes).expect("a bundle").report.objects;
    let siblings = Siblings::of(objects);
    for object in siblings.objects().iter() {
        let verdict = worker.judge(set, object, &siblings, 0);
        assert_ne!(verdict.phase, Phase::Unknown, "{verdict:?}");
    }
}

fn by_native_rule(worker: &mut Worker, set: &Arc<Published>, bytes: &[u8]) {
    let objects = decode_bundle(bytes).expect("a bundle").report.objects;
    let siblings = Siblings::of(objects);
    for object in siblings.objects().iter() {
        let verdict = worker.judge_natively(set, object, &siblings, 0, |view, now_ms| {
            judge(object, view, now_ms)
        });
        assert_ne!(verdict.phase, Phase::Unknown, "{verdict:?}");
    }
}

/// Converts the rule's verdict as the host converts an answer.
fn judge(object: &Object, view: &[u8], now_ms: Option<i64>) -> Verdict {
    let kind = KINDS
        .iter()
        .position(|(kind, _)| *kind == &*object.gvk.kind);
    let rule = RULES[kind.expect("one of the Kinds")];
    let judged = rule(view, now_ms).expect("a verdict");
    let mut verdict = Verdict::host(Phase::Present, &judged.reason, judged.message.as_ref());
    verdict.recheck_at_ms = judged.recheck_at_ms;
    verdict
}

/// A bundle of the five Kinds. Its objects differ from the objects of all other bundles.
fn bundle(number: usize) -> Vec<u8> {
    let mut status = json!({});
    for at in 0..OBJECTS {
        let (kind, list) = KINDS[at % KINDS.len()];
        let json = &reported(kind).json;
        let mut object: Value = serde_json::from_str(json).expect("JSON");
        object["metadata"]["name"] = json!(format!("object-{at}"));
        // A Deployment and a Job have one Pod each.
        let labels = json!({"app": format!("app-{}", at / KINDS.len())});
        if matches!(kind, "Deployment" | "Job") {
            object["spec"]["selector"] = json!({"matchLabels": labels});
        }
        object["metadata"]["labels"] = labels;
        object["status"]["message"] = json!(format!("variant {number} of {at}"));
        let item = match list {
            "resourceStatuses" => json!({"res": STANDARD.encode(object.to_string())}),
            _ => object,
        };
        let list = &mut status[list];
        match list.as_array_mut() {
            Some(items) => items.push(item),
            None => *list = json!([item]),
        }
    }
    let bundle = json!({
        "kind": "ResourceBundleState",
        "metadata": {"labels": {"emco/deployment-id": "1-app"}},
        "status": status,
    });
    bundle.to_string().into_bytes()
}
