//! The compiled interpreters that the tests of all programs share, so that each server does not compile them again for
//! several seconds.

use std::path::PathBuf;

/// The folder for compiled components. Its key is beside it.
pub(crate) fn folder() -> PathBuf {
    let shared = concat!(env!("CARGO_TARGET_TMPDIR"), "/code-cache");
    std::fs::create_dir_all(shared).expect("a folder for the cache");
    PathBuf::from(shared).join("aot")
}
