//! Machines without executables and without Go.

use std::env;
use std::process::{Command, Output};

/// Runs another test in an environment in which no executable can be found or built.
fn run(variables: &[(&str, &str)]) -> Output {
    let empty = tempfile::tempdir().expect("a folder");
    Command::new(env::current_exe().expect("this executable"))
        .args(["--exact", "etcd::a_paused_etcd_hangs_until_it_is_resumed"])
        .env_remove("CI")
        .env_remove("KUBEBUILDER_ASSETS")
        .env("PATH", empty.path())
        .env("XDG_CACHE_HOME", empty.path())
        .envs(variables.iter().copied())
        .output()
        .expect("its output")
}

const LINE: &str = "tests on real clusters did not run: no Go toolchain on the PATH to build etcd with, \
                    and KUBEBUILDER_ASSETS does not have it; install Go from https://go.dev/dl";

#[test]
fn a_test_says_in_one_line_why_it_did_not_run() {
    let output = run(&[]);
    assert!(output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.trim_end(), LINE);
}

#[test]
fn a_test_that_cannot_run_fails_in_ci() {
    let output = run(&[("CI", "true")]);
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(LINE), "{text}");
}
