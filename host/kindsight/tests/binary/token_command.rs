//! `kindsight token`, on a token file.

use tempfile::TempDir;

use crate::process::{run, text};

#[test]
fn tokens_are_created_listed_and_revoked() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("tokens.toml");
    let file = file.to_str().unwrap();
    let command = |arguments: &[&str]| {
        let output = run(&[&["token", "--tokens", file], arguments].concat(), "");
        (
            output.status.success(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (is_created, token, shown) = command(&["new", "ci", "--expires", "90d"]);
    assert!(is_created, "{shown}");
    let secret = token.trim().strip_prefix("kindsight.ci.").unwrap();
    assert_eq!(secret.len(), 43, "{token}");
    assert!(!std::fs::read_to_string(file).unwrap().contains(secret));
    let (_, list, _) = command(&["list"]);
    assert!(list.lines().nth(1).unwrap().starts_with("ci "), "{list}");
    let (is_created, _, error) = command(&["new", "ci", "--expires", "1d"]);
    assert!(
        !is_created && error.contains("a token named `ci` exists"),
        "{error}"
    );
    assert!(command(&["revoke", "ci"]).0);
    let (is_revoked, _, error) = command(&["revoke", "ci"]);
    assert!(
        !is_revoked && error.contains("no token is named `ci`"),
        "{error}"
    );
    let error = text(&run(&["token", "list"], "").stderr);
    assert!(error.contains("--tokens FILE must name"), "{error}");
}
