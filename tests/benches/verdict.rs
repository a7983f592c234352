//! What one verdict costs, by Kind, on objects a cluster reported.
//!
//! In each group, on the same bytes:
//! - `native`: the rule as native code, on the object cut down to the fields it asks for;
//! - `warm`: the same rule as a component, in an instance that is there already, with all that
//!   surrounds a call; without the cutting down, which is measured beside it and taken off;
//! - `trim`: that cutting down;
//! - `fresh`: as `warm`, in an instance of its own, cutting down included;
//! - `memo`: an object that was judged before; without the cutting down;
//! - `memo-and-trim`: the same, with it.
//!
//! `warm` is to be at most twice `native`, `memo` at most half a microsecond.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
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

    fn worker(&self, isolation: Isolation, memo_bytes_max: usize) -> impl FnMut() {
        let mut worker = Worker::new(limits(isolation), Arc::new(Memo::new(memo_bytes_max)));
        let siblings = Siblings::none();
        move || {
            black_box(worker.judge(&self.set, black_box(&self.object), &siblings, 0));
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

/// Calls that are timed together, so that what reading the clock costs does not count.
const CALLS: u32 = 16;

fn time(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..CALLS {
        run();
    }
    start.elapsed().as_secs_f64()
}

/// Measures `run` without the `part` it begins with, everything in the same way: both in turns, as a machine is not equally fast
/// all the time, and the median, as it sometimes stops altogether.
fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut part: impl FnMut(),
    mut run: impl FnMut(),
) {
    const LEAST_S: f64 = 1e-9;
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            let turns = 0..times.div_ceil(CALLS.into());
            let mut each: Vec<f64> = turns
                .map(|_| {
                    let part = time(&mut part);
                    (time(&mut run) - part) / f64::from(CALLS)
                })
                .collect();
            let middle = each.len() / 2;
            let (_, median, _) = each.select_nth_unstable_by(middle, f64::total_cmp);
            let times = u32::try_from(times).unwrap_or(u32::MAX);
            Duration::from_secs_f64(median.max(LEAST_S) * f64::from(times))
        });
    });
}

fn bench<I: Interpreter>(criterion: &mut Criterion, plugin: &str, object: Object) {
    const MEMO_BYTES_MAX: usize = 1 << 20;
    let mut group = criterion.benchmark_group(format!("verdict/{}", object.gvk.kind));
    let case = Case::new(plugin, object);
    let native = || {
        let verdict = harness::interpret_trimmed::<I>(black_box(&case.trimmed));
        black_box(verdict).expect("a verdict");
    };
    let warm = || case.worker(Isolation::Warm, 0);
    let judged = || {
        let mut again = case.worker(Isolation::Warm, MEMO_BYTES_MAX);
        again();
        again
    };
    measure(&mut group, "native", || {}, native);
    measure(&mut group, "warm", case.trim(), warm());
    measure(&mut group, "trim", || {}, case.trim());
    measure(
        &mut group,
        "fresh",
        || {},
        case.worker(Isolation::PerCall, 0),
    );
    measure(&mut group, "memo", case.trim(), judged());
    measure(&mut group, "memo-and-trim", || {}, judged());
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
