//! Interpreters that the plugin uploads, promotes, rolls back and removes.

use std::fs;

use crate::interpreters::stage::{crane, digest, version};
use crate::process::text;

use super::stage::{AS, READER, Stage};

/// `ann` has only the Role of the documentation, so each verb of the Role is necessary here. Her token is a token of an
/// operator.
pub(super) fn change_with_the_right_to_use_the_proxy(stage: &Stage) {
    let file = |name: &str, bytes: &[u8]| {
        let path = stage.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let (first, next) = (file("crane.wasm", crane()), file("next.wasm", &version(2)));
    let token = stage.folder.path().join("ci").display().to_string();
    let done = |args: &[&str]| {
        let service = ["--service", "default/kindsight:443", "--token-file", &token];
        let args = [&["interpreters"], args, &service].concat();
        let output = stage.command_with("ann", &args).output().unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    };
    let refused = stage.refused(&["interpreters", "load", &first, AS, READER]);
    assert!(refused.contains("403"), "{refused}");
    let loaded = done(&["load", &first]);
    assert!(loaded.contains("crane 1.0.0 is live"), "{loaded}");
    assert!(loaded.contains(&digest(crane())), "{loaded}");
    let accepted = done(&["load", &next, "--candidate"]);
    assert!(accepted.contains("crane 2.0.0 is accepted"), "{accepted}");
    let promoted = done(&["promote", "crane", "--digest", &digest(&version(2))]);
    assert!(promoted.contains("crane 2.0.0 is live"), "{promoted}");
    let back = done(&["rollback", "crane"]);
    assert!(back.contains("crane 1.0.0 is live again"), "{back}");
    let removed = done(&["remove", "crane"]);
    assert!(
        removed.contains("crane is removed from upload"),
        "{removed}"
    );
    let listed = done(&["list"]);
    let line = listed.lines().find(|line| line.starts_with("crane "));
    let words = line
        .unwrap_or_else(|| panic!("{listed}"))
        .split_whitespace();
    assert_eq!(
        words.take(4).collect::<Vec<_>>(),
        ["crane", "-", "-", "none"]
    );
}
