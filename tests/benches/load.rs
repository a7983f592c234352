//! Cost of interpreters: compiling and loading each built-in one, and the memory of a hundred.
//!
//! `cargo bench -p kindsight-tests --bench load`

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use kindsight_interpreter::{AotCache, Interpreters, Limits};
use kindsight_model::Source;

const HUNDRED: usize = 100;

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
        let cache = AotCache::open(&path).expect("a cache");
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
        .map(|it| (Source::Upload, interpreters.load(it).expect("it")));
    let loaded: Vec<(Source, Arc<_>)> = loaded.collect();
    interpreters.publish(loaded).expect("a set");
    println!(
        "{HUNDRED} interpreters: loaded from the cache in {:?}, {} KiB each",
        begin.elapsed(),
        resident_kb().saturating_sub(before) / HUNDRED as u64
    );
}
