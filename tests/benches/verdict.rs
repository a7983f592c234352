//! What one verdict costs, by Kind, on objects a cluster reported.
//!
//! In each group, on the same bytes, the object cut down to the fields its interpreter asks for:
//! - `native`: the rule as native code;
//! - `warm`: the same rule as a component, in an instance that is there already, with everything
//!   that surrounds a call;
//! - `fresh`: as `warm`, in an instance made for this one call;
//! - `memo`: an input that was judged before;
//!
//! and on the object as it was reported:
//! - `trim`: cutting it down;
//! - `trim and warm`, `trim and memo`: what a changed and an unchanged object cost from end to end.
//!
//! `cargo bench -p kindsight-tests --bench verdict`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::Criterion;
use kindsight_interpreter::{
    Fields, Interpreters, Isolation, Limits, Memo, Published, Siblings, Source, Worker,
};
use kindsight_model::{Object, decode_bundle};
use kindsight_sdk::{Interpreter, harness};

/// What the monitor in one cluster of the recording reported.
macro_rules! bundle {
    ($app:literal) => {
        include_bytes!(concat!(
            "../../host/kindsight/recording/clusters/vfw-cluster-provider+edge01/2755581958183303505-",
            $app,
            ".json"
        ))
    };
}

const BUNDLES: [&[u8]; 3] = [bundle!("firewall"), bundle!("packetgen"), bundle!("sink")];

/// One Kind's object and the interpreter that judges it.
struct Case {
    object: Object,
    trimmed: String,
    fields: Fields,
    set: Arc<Published>,
    _interpreters: Interpreters,
}

fn limits(isolation: Isolation) -> Limits {
    Limits {
        isolation,
        workers: 1,
        ..Limits::default()
    }
}

impl Case {
    fn new(plugin: &str, object: Object) -> Self {
        let interpreters = Interpreters::start(limits(Isolation::Warm), None).expect("a machine");
        let component = kindsight_plugins::built_in(plugin).expect("a built-in interpreter");
        let interpreter = interpreters.load(component.wasm).expect("a component");
        let mut kinds = interpreter.description().kinds.iter();
        let fields = kinds
            .find(|handled| handled.pattern.matches(&object.gvk))
            .map(|handled| handled.fields.clone())
            .expect("a Kind it judges");
        interpreters
            .publish(vec![(Source::BuiltIn, interpreter)])
            .expect("one interpreter");
        let mut trimmed = String::new();
        fields.trim(&object.json, &mut trimmed).expect("JSON");
        Self {
            object,
            trimmed,
            fields,
            set: interpreters.published(),
            _interpreters: interpreters,
        }
    }

    /// Judges the object as it was reported.
    fn whole(&self, isolation: Isolation, memo_bytes_max: usize) -> impl FnMut() {
        let mut worker = Worker::new(limits(isolation), Arc::new(Memo::new(memo_bytes_max)));
        let siblings = Siblings::none();
        move || {
            black_box(worker.judge(&self.set, black_box(&self.object), &siblings, 0));
        }
    }

    /// Judges the object as it is cut down for the interpreter: the bytes the native rule reads.
    fn trimmed(&self, isolation: Isolation, memo_bytes_max: usize) -> impl FnMut() {
        let mut worker = Worker::new(limits(isolation), Arc::new(Memo::new(memo_bytes_max)));
        let gvk = &self.object.gvk;
        move || {
            black_box(worker.judge_trimmed(&self.set, gvk, black_box(&self.trimmed), 0));
        }
    }

    fn trim(&self) -> impl FnMut() {
        let mut text = String::new();
        move || {
            text.clear();
            let trimmed = self.fields.trim(black_box(&self.object.json), &mut text);
            black_box(trimmed).expect("JSON");
        }
    }
}

fn bench<I: Interpreter>(criterion: &mut Criterion, plugin: &str, object: Object) {
    const MEMO_BYTES_MAX: usize = 1 << 20;
    let mut group = criterion.benchmark_group(format!("verdict/{}", object.gvk.kind));
    let case = Case::new(plugin, object);
    group.bench_function("native", |bencher| {
        bencher.iter(|| harness::interpret_trimmed::<I>(black_box(&case.trimmed)));
    });
    for (name, run) in [
        (
            "warm",
            Box::new(case.trimmed(Isolation::Warm, 0)) as Box<dyn FnMut()>,
        ),
        ("fresh", Box::new(case.trimmed(Isolation::PerCall, 0))),
        (
            "memo",
            Box::new(case.trimmed(Isolation::Warm, MEMO_BYTES_MAX)),
        ),
        ("trim", Box::new(case.trim())),
        ("trim and warm", Box::new(case.whole(Isolation::Warm, 0))),
        (
            "trim and memo",
            Box::new(case.whole(Isolation::Warm, MEMO_BYTES_MAX)),
        ),
    ] {
        let mut run = run;
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

fn reported(kind: &str) -> Object {
    BUNDLES
        .iter()
        .flat_map(|bundle| decode_bundle(bundle).expect("a bundle").objects)
        .find(|object| *object.gvk.kind == *kind)
        .expect("an object of that Kind")
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .sample_size(30)
        .configure_from_args();
    bench::<kindsight_plugin_apps::Apps>(&mut criterion, "apps", reported("Deployment"));
    bench::<kindsight_plugin_core::Core>(&mut criterion, "core", reported("Pod"));
    bench::<kindsight_plugin_batch::Batch>(&mut criterion, "batch", reported("Job"));
    bench::<kindsight_plugin_gateway::Gateway>(&mut criterion, "gateway", reported("Gateway"));
    bench::<kindsight_plugin_generic::Generic>(&mut criterion, "generic", reported("Network"));
    criterion.final_summary();
}
