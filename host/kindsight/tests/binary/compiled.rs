//! The compiled interpreters that the data folders of the tests share.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::LazyLock;

use crate::process::kindsight;

/// The data folder of a server that compiled the interpreters of this build.
static COMPILED: LazyLock<&Path> = LazyLock::new(|| {
    let data = concat!(env!("CARGO_TARGET_TMPDIR"), "/compiled");
    let mut server = kindsight(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data])
        .stderr(Stdio::piped())
        .spawn()
        .expect("start a server");
    let log = BufReader::new(server.stderr.take().expect("its log"));
    let mut lines = log.lines().map_while(Result::ok);
    let serves = lines.any(|line| line.contains("serving on"));
    server.kill().expect("end the server");
    server.wait().expect("the end of the server");
    assert!(serves, "the server ended before it served");
    Path::new(data)
});

/// Gives a data folder compiled interpreters, unless it has some. Without them, each server would compile all
/// interpreters for several seconds.
pub(crate) fn share(data: &Path) {
    let (folder, key) = (data.join("aot"), data.join("aot.key"));
    if folder.exists() {
        return;
    }
    let mut private = fs::DirBuilder::new();
    let made = private.recursive(true).mode(0o700).create(&folder);
    made.expect("a folder for the compiled interpreters");
    fs::copy(COMPILED.join("aot.key"), key).expect("a copy of the key");
    for code in fs::read_dir(COMPILED.join("aot")).expect("compiled interpreters") {
        let code = code.expect("a compiled interpreter");
        // A server replaces such a file, and never writes into it, so all data folders can share it.
        let shared = folder.join(code.file_name());
        if fs::hard_link(code.path(), &shared).is_err() {
            fs::copy(code.path(), shared).expect("a copy of a compiled interpreter");
        }
    }
}
