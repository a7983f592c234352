//! Cost of one verdict, by Kind, on objects a cluster reported.
//!
//! In each group, on the same input bytes of a call:
//! - `native`: the rule as native code;
//! - `warm`: the same rule as a component, in a pooled instance, with everything that surrounds a
//!   call;
//! - `fresh`: as `warm`, in an instance made for this one call;
//! - `memo`: an input that was judged before;
//!
//! and on the object as it was reported:
//! - `read`: reading its JSON;
//! - `cut`: cutting it down to the fields its interpreter declares, as the input of the call;
//! - `cut and warm`, `cut and memo`: a changed and an unchanged object that was read.
//!
//! Three tables follow:
//! 1. `warm / native` and its parts, which take turns every half a millisecond. If the speed of the machine drifts,
//!    both are affected alike, so this quotient is more reliable than a quotient of the times above.
//! 2. The parts of a warm call, measured with a guest that does not judge.
//! 3. Changed objects from end to end, and the parts of this path: the bytes of a bundle of 64 objects of the five
//!    Kinds become verdicts, by components and by the same rules as native code, on one thread.
//!
//! `cargo bench -p kindsight-tests --bench verdict`; only the tables: `-- ratios`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "verdict/end_to_end.rs"]
mod end_to_end;
#[path = "verdict/parts.rs"]
mod parts;

use criterion::Criterion;
use kindsight_interpreter::{Interpreters, Isolation, Limits, Memo, Published, Siblings, Worker};
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
    view: Vec<u8>,
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

fn worker(isolation: Isolation, memo_bytes_max: usize) -> Worker {
    Worker::new(limits(isolation), Arc::new(Memo::new(memo_bytes_max)))
}

impl Case {
    fn new(plugin: &str, object: Object) -> Self {
        let interpreters = Interpreters::start(limits(Isolation::Pooled), None).expect("a machine");
        let component = kindsight_plugins::built_in(plugin).expect("a built-in interpreter");
        let interpreter = interpreters.load(component.wasm).expect("a component");
        interpreters
            .publish(vec![(Source::BuiltIn, interpreter)])
            .expect("one interpreter");
        let set = interpreters.published();
        let mut worker = worker(Isolation::Pooled, 0);
        Self {
            view: worker.fill(&set, &object, &Siblings::none()).to_vec(),
            object,
            set,
            _interpreters: interpreters,
        }
    }

    /// Cuts and judges the object as it was reported and read.
    fn whole(&self, isolation: Isolation, memo_bytes_max: usize) -> impl FnMut() {
        let mut worker = worker(isolation, memo_bytes_max);
        let siblings = Siblings::none();
        move || {
            black_box(worker.judge(&self.set, black_box(&self.object), &siblings, 0));
        }
    }

    /// Judges the object's input bytes, which the native rule reads too.
    fn call(&self, isolation: Isolation, memo_bytes_max: usize) -> impl FnMut() {
        let mut worker = worker(isolation, memo_bytes_max);
        let gvk = &self.object.gvk;
        worker.fill(&self.set, &self.object, &Siblings::none());
        move || {
            black_box(worker.judge_filled(&self.set, black_box(gvk), 0));
        }
    }

    fn cut(&self) -> impl FnMut() {
        let mut worker = worker(Isolation::Pooled, 0);
        let siblings = Siblings::none();
        move || {
            black_box(worker.fill(&self.set, black_box(&self.object), &siblings));
        }
    }

    fn read(&self) -> impl FnMut() {
        move || {
            black_box(Object::from_json(Arc::clone(black_box(&self.object.json)))).expect("JSON");
        }
    }
}

fn bench<I: Interpreter>(criterion: &mut Criterion, plugin: &str, object: Object) {
    const MEMO_BYTES_MAX: usize = 1 << 20;
    let mut group = criterion.benchmark_group(format!("verdict/{}", object.gvk.kind));
    let case = Case::new(plugin, object);
    group.bench_function("native", |bencher| {
        bencher.iter(|| harness::judge_view::<I>(black_box(&case.view), Some(0)));
    });
    for (name, run) in [
        (
            "warm",
            Box::new(case.call(Isolation::Pooled, 0)) as Box<dyn FnMut()>,
        ),
        ("fresh", Box::new(case.call(Isolation::PerCall, 0))),
        (
            "memo",
            Box::new(case.call(Isolation::Pooled, MEMO_BYTES_MAX)),
        ),
        ("read", Box::new(case.read())),
        ("cut", Box::new(case.cut())),
        ("cut and warm", Box::new(case.whole(Isolation::Pooled, 0))),
        (
            "cut and memo",
            Box::new(case.whole(Isolation::Pooled, MEMO_BYTES_MAX)),
        ),
    ] {
        let mut run = run;
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

/// Prints the ratio of a warm call to a native one, and what precedes a call: medians of many short
/// turns, and the quartiles of the ratio.
fn ratio<I: Interpreter>(plugin: &str, object: Object) {
    const TURNS: usize = 401;
    const TURN: Duration = Duration::from_micros(500);
    let kind = Arc::clone(&object.gvk.kind);
    let case = Case::new(plugin, object);
    let mut warm = case.call(Isolation::Pooled, 0);
    let mut cut = case.cut();
    let mut read = case.read();
    let mut native = || {
        let _ = black_box(harness::judge_view::<I>(black_box(&case.view), Some(0)));
    };
    let calls = calls_within(TURN, &mut warm);
    let turns: Vec<[f64; 5]> = (0..TURNS)
        .map(|_| {
            let (native, warm) = (seconds(calls, &mut native), seconds(calls, &mut warm));
            let (cut, read) = (seconds(calls, &mut cut), seconds(calls, &mut read));
            [native, warm, cut, read, warm / native]
        })
        .collect();
    let at = |part: usize, quarter: usize| {
        let mut values: Vec<f64> = turns.iter().map(|turn| turn[part]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values[TURNS * quarter / 4]
    };
    println!(
        "{kind:<12} {:>6} of {:>6} bytes  read {:>6.2} us  cut {:>6.2} us  native {:>6.2} us  warm {:>6.2} us  warm / native {:.2} ({:.2} to {:.2})",
        case.view.len(),
        case.object.json.len(),
        at(3, 2) * 1e6,
        at(2, 2) * 1e6,
        at(0, 2) * 1e6,
        at(1, 2) * 1e6,
        at(4, 2),
        at(4, 1),
        at(4, 3),
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

/// Mean duration of one call in seconds, over `calls` calls.
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
        .flat_map(|bundle| {
            let report = decode_bundle(bundle).expect("a bundle").report;
            report.objects.iter().cloned().collect::<Vec<_>>()
        })
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
    parts::print();
    end_to_end::print();
}
