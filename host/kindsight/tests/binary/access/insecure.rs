//! Starts without TLS or without access control on an address that other machines reach.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{PATIENCE, path, write_files};
use crate::compiled;
use crate::process::kindsight;

const NO_TLS: &str = "--insecure-no-tls: requests and tokens are not encrypted";
const NO_AUTH: &str =
    "--insecure-no-auth: every client that can connect may read and change everything";

/// The log of a server on all addresses, from its start until it contains each of these texts.
fn log(folder: &Path, arguments: &[&str], last: &[&str]) -> String {
    let log = folder.join("log");
    let data = folder.join("data");
    compiled::share(&data);
    let mut server = kindsight(&["serve", "--listen", "0.0.0.0:0", "--data-dir", path(&data)])
        .args(arguments)
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let printed = loop {
        let text = fs::read_to_string(&log).unwrap();
        if last.iter().all(|last| text.contains(last)) {
            break text;
        }
        assert!(began.elapsed() < PATIENCE, "it does not serve: {text}");
        std::thread::sleep(Duration::from_millis(50));
    };
    server.kill().unwrap();
    server.wait().unwrap();
    printed
}

#[test]
fn each_start_without_protection_prints_a_warning_for_each_flag() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let file = |name: &str| folder.path().join(name);
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let (roles, tokens) = (file("roles.toml"), file("tokens"));
    let tls = ["--tls-cert", path(&certificate), "--tls-key", path(&key)];
    let access = ["--roles", path(&roles), "--tokens", path(&tokens)];
    let (no_tls, no_auth) = (["--insecure-no-tls"], ["--insecure-no-auth"]);
    let starts: [(Vec<&str>, &[&str]); 4] = [
        ([&tls[..], &access].concat(), &[]),
        ([&no_tls[..], &access].concat(), &[NO_TLS]),
        ([&tls[..], &no_auth].concat(), &[NO_AUTH]),
        ([&no_tls[..], &no_auth].concat(), &[NO_TLS, NO_AUTH]),
    ];
    // A later start over the same data prints the warnings again.
    for (arguments, expected) in starts.iter().chain(starts.last()) {
        let log = log(folder.path(), arguments, &["serving on "]);
        let warnings = [NO_TLS, NO_AUTH].into_iter();
        let printed: Vec<_> = warnings.filter(|warning| log.contains(warning)).collect();
        assert_eq!(&printed, expected, "{log}");
    }
}

#[test]
fn no_log_level_hides_the_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--insecure-no-tls", "--insecure-no-auth", "--log", "error"];
    log(folder.path(), &arguments, &[NO_TLS, NO_AUTH]);
}

#[test]
fn a_flag_that_has_no_effect_is_reported_as_such() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let file = |name: &str| folder.path().join(name);
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let (roles, tokens) = (file("roles.toml"), file("tokens"));
    let arguments = [
        ["--tls-cert", path(&certificate)],
        ["--tls-key", path(&key)],
        ["--roles", path(&roles)],
        ["--tokens", path(&tokens)],
        ["--insecure-no-tls", "--insecure-no-auth"],
    ];
    let printed = log(folder.path(), arguments.as_flattened(), &["serving on "]);
    assert!(!printed.contains(NO_TLS) && !printed.contains(NO_AUTH));
    for flag in ["--insecure-no-tls", "--insecure-no-auth"] {
        let expected = format!("{flag}: no effect, because ");
        assert!(printed.contains(&expected), "{printed}");
    }
}
