//! `kindsight token`, on a token file.

use std::fs;

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
    assert!(!fs::read_to_string(file).unwrap().contains(secret));
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

/// Users confuse the file of a token, the token file, and the token.
#[test]
fn a_token_in_the_place_of_a_file_or_a_name_is_not_shown() {
    let secret = "i0NsTBFAabcdefghijklmnopqrstuvwxyz0123456789";
    let token = format!("kindsight.ci.{secret}");
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, roles, tokens) = (path("ci.token"), path("roles.toml"), path("tokens.toml"));
    fs::write(&file, &token).unwrap();
    fs::write(&roles, "").unwrap();
    fs::write(&tokens, "version = 1").unwrap();
    let data = path("data");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data-dir", &data];
    for (arguments, expected) in [
        (
            [&serve[..], &["--tokens", &file, "--roles", &roles]].concat(),
            "line 1, ",
        ),
        (
            [&serve[..], &["--tokens", &tokens, "--roles", &file]].concat(),
            "line 1, ",
        ),
        ([&serve[..], &["--config", &file]].concat(), "line 1, "),
        ([&serve[..], &["--kubeconfig", &file]].concat(), "line 1 "),
        (vec!["token", "list", "--tokens", &file], "line 1, "),
        (
            vec!["token", "revoke", &token, "--tokens", &tokens],
            "expected the name of a token",
        ),
        (
            vec!["token", "new", &token, "--expires=1d", "--tokens", &tokens],
            "expected the name of a token",
        ),
        (
            vec!["clusters", "--token-file", &token],
            "--token-file and KINDSIGHT_TOKEN_FILE name a file",
        ),
        (
            vec!["clusters", "--server", &token],
            "there is no server `[hidden token]`",
        ),
        (vec!["serve", "--listen", &token], "[hidden token]"),
    ] {
        let output = run(&arguments, "");
        let error = text(&output.stderr);
        assert!(!output.status.success(), "{error}");
        assert!(error.contains(expected), "{expected}: {error}");
        let printed = error + &text(&output.stdout);
        assert!(!printed.contains(secret), "{printed}");
    }
}
