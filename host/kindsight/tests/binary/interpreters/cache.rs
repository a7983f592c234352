//! The cache of compiled interpreters: files that were tampered with are detected.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::stage::{CRANE, Stage, crane, digest, judged, version, wait_for};

#[test]
fn compiled_code_that_was_tampered_with_is_compiled_again() {
    let stage = Stage::new(1);
    let server = stage.serve();
    let (status, outcome) = server.put(CRANE, crane());
    assert_eq!(status, 200, "{outcome}");
    let v2 = version(2);
    assert_eq!(server.put(CRANE, &v2).0, 200);
    wait_for(&server, &v2);
    let mode = fs::metadata(stage.cache()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(server.stop());

    // The code of version 1 under the name of version 2, complete and with a valid seal.
    let (first, second) = (compiled(&stage, crane()), compiled(&stage, &v2));
    let (good, foreign) = (fs::read(&second).unwrap(), fs::read(&first).unwrap());
    fs::write(&second, &foreign).unwrap();
    let server = stage.serve();
    let live = judged(&server);
    assert_eq!((live.state.as_str(), live.digest), ("Parked", digest(&v2)));
    let compiled_again = fs::read(&second).unwrap();
    assert!(compiled_again != foreign, "it was not replaced");
    assert!(server.stop());

    // One bit of the machine code.
    let mut changed = good.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(&second, &changed).unwrap();
    let server = stage.serve();
    assert_eq!(judged(&server).digest, digest(&v2));
    assert!(fs::read(&second).unwrap() != changed, "it was not replaced");

    // Removes the cache while the host serves.
    fs::remove_dir_all(stage.cache()).unwrap();
    let v3 = version(3);
    assert_eq!(server.put(CRANE, &v3).0, 200);
    assert_eq!(wait_for(&server, &v3).state, "Parked");
    let (status, outcome) = server.post(&format!("{CRANE}/rollback"), "");
    assert_eq!(status, 200, "{outcome}");
    wait_for(&server, &v2);
    assert!(server.stop());
}

/// Path of the compiled code of a component.
fn compiled(stage: &Stage, bytes: &[u8]) -> PathBuf {
    let digest = digest(bytes);
    let name = digest.trim_start_matches("sha256:");
    let mut entries = fs::read_dir(stage.cache())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let found = entries.find(|path| {
        let file = path.file_name().unwrap().to_str().unwrap();
        file.starts_with(name)
    });
    found.unwrap()
}
