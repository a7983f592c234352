//! Cost of one verdict, by Kind, on objects a cluster reported.
//!
//! In each group, on the same bytes, the object trimmed to the fields its interpreter declares:
//! - `native`: the rule as native code;
//! - `warm`: the same rule as a component, in a pooled instance, with everything that surrounds a
//!   call;
//! - `fresh`: as `warm`, in an instance made for this one call;
//! - `memo`: an input that was judged before;
//!
//! and on the object as it was reported:
//! - `trim`: trimming it;
//! - `trim and warm`, `trim and memo`: a changed and an unchanged object from end to end.
//!
//! Last comes a table of `warm / native`. There both take turns every half a millisecond, so that a
//! machine whose speed drifts slows both alike: trust it rather than a quotient of the times above.
//!
//! `cargo bench -p kindsight-tests --bench verdict`; only the table: `-- ratios`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use kindsight_interpreter::{
    Fields, Interpreters, Isolation, Limits, Memo, Published, Siblings, Worker,
};
use kindsight_model::{Object, Source, decode_bundle};
use kindsight_sdk::{Interpreter, harness};

/// Report of one app by the monitor of a cluster in the recording.
macro_rules! bundle {
    ($app:literal) => {
        include_bytes!(concat!(
            "../../host/server/recording/clusters/vfw-cluster-provider+edge01/2755581958183303505-",
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
        let interpreters = Interpreters::start(limits(Isolation::Pooled), None).expect("a machine");
        let component = kindsight_plugins::built_in(plugin).expect("a built-in interpreter");
        let interpreter = interpreters.load(component.wasm).expect("a component");
        let mut kinds = interpreter.description().kinds.iter();
        let fields = kinds
            .find(|handled| object.gvk.matches(&handled.pattern))
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

    /// Judges the object as trimmed for the interpreter: the bytes the native rule reads.
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
            Box::new(case.trimmed(Isolation::Pooled, 0)) as Box<dyn FnMut()>,
        ),
        ("fresh", Box::new(case.trimmed(Isolation::PerCall, 0))),
        (
            "memo",
            Box::new(case.trimmed(Isolation::Pooled, MEMO_BYTES_MAX)),
        ),
        ("trim", Box::new(case.trim())),
        ("trim and warm", Box::new(case.whole(Isolation::Pooled, 0))),
        (
            "trim and memo",
            Box::new(case.whole(Isolation::Pooled, MEMO_BYTES_MAX)),
        ),
    ] {
        let mut run = run;
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

/// Prints the ratio of a warm call to a native one: the median of many short turns, and the
/// quartiles.
fn ratio<I: Interpreter>(plugin: &str, object: Object) {
    const TURNS: usize = 401;
    const TURN: Duration = Duration::from_micros(500);
    let kind = Arc::clone(&object.gvk.kind);
    let case = Case::new(plugin, object);
    let mut warm = case.trimmed(Isolation::Pooled, 0);
    let mut native = || {
        let _ = black_box(harness::interpret_trimmed::<I>(black_box(&case.trimmed)));
    };
    let calls = calls_within(TURN, &mut native);
    let mut turns: Vec<[f64; 3]> = (0..TURNS)
        .map(|_| {
            let (native, warm) = (seconds(calls, &mut native), seconds(calls, &mut warm));
            [warm / native, native, warm]
        })
        .collect();
    turns.sort_unstable_by(|left, right| f64::total_cmp(&left[0], &right[0]));
    let [ratio, native, warm] = turns[TURNS / 2];
    println!(
        "{kind:<12} {:>6} bytes  native {:>6.2} us  warm {:>6.2} us  warm / native {ratio:.2} ({:.2} to {:.2})",
        case.trimmed.len(),
        native * 1e6,
        warm * 1e6,
        turns[TURNS / 4][0],
        turns[TURNS * 3 / 4][0],
    );
}

/// Number of calls of `run` that fit into `time`.
fn calls_within(time: Duration, run: &mut impl FnMut()) -> u32 {
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < time {
        run();
        calls += 1;
    }
    calls
}

/// Seconds that one of `calls` calls takes.
fn seconds(calls: u32, run: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        run();
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

fn reported(kind: &str) -> Object {
    BUNDLES
        .iter()
        .flat_map(|bundle| decode_bundle(bundle).expect("a bundle").objects)
        .find(|object| *object.gvk.kind == *kind)
        .expect("an object of that Kind")
}

/// Calls `$run` for every Kind that is measured.
macro_rules! for_every_kind {
    ($run:ident $(, $criterion:expr)?) => {
        $run::<kindsight_plugin_apps::Apps>($($criterion,)? "apps", reported("Deployment"));
        $run::<kindsight_plugin_core::Core>($($criterion,)? "core", reported("Pod"));
        $run::<kindsight_plugin_batch::Batch>($($criterion,)? "batch", reported("Job"));
        $run::<kindsight_plugin_gateway::Gateway>($($criterion,)? "gateway", reported("Gateway"));
        $run::<kindsight_plugin_generic::Generic>($($criterion,)? "generic", reported("Network"));
    };
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .sample_size(30)
        .configure_from_args();
    for_every_kind!(bench, &mut criterion);
    criterion.final_summary();
    for_every_kind!(ratio);
}
