//! Cost of interpreters: compiling and loading each built-in interpreter, the memory of a hundred interpreters, the
//! memory after a burst of reports, and the memory of reported objects.
//!
//! `cargo bench -p kindsight-tests --bench load`

#[path = "load/held.rs"]
mod held;

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_interpreter::{CodeCache, Interpreters, Limits};
use kindsight_model::{Object, Source, Verdict};

/// Time after a burst until its memory must be returned to the system.
const LATER: Duration = Duration::from_secs(2);

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HUNDRED: usize = 100;
/// Reports of one burst.
const BURST_REPORTS: usize = 100;
/// Objects of one report.
const BURST_OBJECTS: usize = 1000;

/// Memory this process has in use, in kilobytes.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aot");
    let start = || {
        let cache = CodeCache::open(&path).expect("a cache");
        Interpreters::start(Limits::default(), Some(cache)).expect("an engine")
    };
    let interpreters = start();
    println!(
        "{:<18} {:>8} {:>12} {:>12}",
        "component", "bytes", "compiled", "from cache"
    );
    for built_in in kindsight_plugins::BUILT_IN {
        let time = || {
            let begin = Instant::now();
            interpreters.load(built_in.wasm).expect("a component");
            begin.elapsed()
        };
        let (compiled, cached) = (time(), time());
        println!(
            "{:<18} {:>8} {compiled:>12.1?} {cached:>12.1?}",
            built_in.name,
            built_in.wasm.len()
        );
    }
    drop(interpreters);

    let components: Vec<Vec<u8>> = (0..HUNDRED)
        .map(|number| {
            let group = format!("g{number}.example.com");
            let text = format!(r#"{{"name": "it{number}", "kinds": [["{group}", "*", "Thing"]]}}"#);
            kindsight_tests::hostile(&text)
        })
        .collect();
    // Once to fill the cache, so that memory for compiling is not counted.
    let filling = start();
    for component in &components {
        filling.load(component).expect("a component");
    }
    drop(filling);
    let interpreters = start();
    let before = resident_kb();
    let begin = Instant::now();
    let loaded = components
        .iter()
        .map(|component| (Source::Upload, interpreters.load(component).expect("it")));
    let loaded: Vec<(Source, Arc<_>)> = loaded.collect();
    interpreters.publish(loaded).expect("a set");
    println!(
        "{HUNDRED} interpreters: loaded from the cache in {:?}, {} KiB each",
        begin.elapsed(),
        resident_kb().saturating_sub(before) / HUNDRED as u64
    );
    burst();
    held::print();
}

/// Judges many reports that are in memory together, drops them, and prints the memory at each step.
fn burst() {
    let interpreters = Interpreters::start(Limits::default(), None).expect("an engine");
    let built_in = kindsight_plugins::BUILT_IN.iter();
    let built_in = built_in.map(|plugin| {
        let loaded = interpreters
            .load_built_in(plugin.wasm)
            .expect("a component");
        (Source::BuiltIn, loaded)
    });
    interpreters.publish(built_in.collect()).expect("a set");
    for round in 1..=3 {
        let before = resident_kb();
        let reports: Vec<(Arc<[Object]>, Vec<Verdict>)> = (0..BURST_REPORTS)
            .map(|number| {
                let objects = report(round * BURST_REPORTS + number);
                let verdicts = interpreters.judge(&objects, 0);
                (objects, verdicts)
            })
            .collect();
        let objects: usize = reports.iter().map(|(objects, _)| objects.len()).sum();
        let held = resident_kb();
        drop(reports);
        // An allocator may give memory back a little later, and with the next allocations.
        std::thread::sleep(LATER);
        drop(interpreters.judge(&report(round), 0));
        println!(
            "burst {round} of {objects} objects: {before} KiB before, {held} KiB held, {} KiB after; memo {:?}",
            resident_kb(),
            interpreters.memo()
        );
    }
}

/// A report of Pods that all differ.
fn report(number: usize) -> Arc<[Object]> {
    let pod = |at| {
        let json = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{number}-{at}","namespace":"d","annotations":{{"a":"{}"}}}},"spec":{{}},"status":{{"phase":"Running","startTime":"{number}-{at}","conditions":[{{"type":"Ready","status":"False","reason":"R","message":"{}"}}]}}}}"#,
            "x".repeat(900),
            "y".repeat(at % 300),
        );
        Object::from_json(json).expect("an object")
    };
    (0..BURST_OBJECTS).map(pod).collect()
}
