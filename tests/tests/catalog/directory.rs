//! The watched directory, over real files.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_catalog::{ComponentDirectory, watch_directory};
use tokio_util::sync::CancellationToken;

use crate::{Host, component};

/// Puts a complete file into a folder. The directory does not read the unfinished one.
fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let unfinished = folder.join("unfinished");
    fs::write(&unfinished, bytes).expect("it is written");
    fs::rename(&unfinished, folder.join(name)).expect("it is renamed");
}

pub(crate) fn wait_until(what: &str, is_done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_done() {
        assert!(begin.elapsed().as_secs() < 60, "still not: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An update moves a Kind or a name from one file to another, and the other file is read first.
#[test]
fn a_file_is_tried_again_when_another_file_no_longer_claims_the_same() {
    let both = r#"{"name": "b", "kinds": [["x", "*", "Thing"], ["y", "*", "Thing"]]}"#;
    let taken = r#"{"name": "a", "kinds": [["x", "*", "Thing"]]}"#;
    let left = r#"{"name": "b", "version": "2.0.0", "kinds": [["y", "*", "Thing"]]}"#;
    let [both, taken, left] = [both, taken, left].map(kindsight_tests::hostile);
    for (before, moved, after, expected) in [
        (both, taken, left, "a 1.0.0"),
        (
            component("x", "1.0.0"),
            component("x", "2.0.0"),
            component("y", "1.0.0"),
            "x 2.0.0",
        ),
    ] {
        let host = Host::new();
        let folder = tempfile::tempdir().expect("a folder");
        let directory = ComponentDirectory {
            path: folder.path().to_owned(),
            component_bytes_max: 32 * 1024 * 1024,
            replaces_built_in: false,
        };
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        let shutdown = CancellationToken::new();
        let watching = watch_directory(Arc::clone(&host.catalog), directory, shutdown.clone());
        let watching = runtime.spawn(watching);
        put(folder.path(), "b.wasm", &before);
        wait_until("the first file is live", || host.judges("x") != "nobody");
        put(folder.path(), "a.wasm", &moved);
        wait_until("the other file is refused", || {
            !host.catalog.refused().is_empty()
        });
        put(folder.path(), "b.wasm", &after);
        wait_until(expected, || host.judges("x") == expected);
        shutdown.cancel();
        let ended = runtime.block_on(watching).expect("no panic");
        ended.expect("it was watched to the end");
    }
}
