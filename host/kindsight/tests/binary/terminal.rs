//! Colours and progress, on a real pseudo-terminal and in a pipe.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use anstream::adapter::strip_str;
use serde_json::json;
use tempfile::TempDir;

use crate::goldens::{DIG, fill_store, reports};
use crate::monitor::Monitor;
use crate::process::{Server, kindsight, run, text};

/// The code of green, which is the colour of Ready and Present.
const GREEN: &str = "\u{1b}[38;5;28m";
/// The code of bold red, which is the style of Failed.
const RED: &str = "\u{1b}[1m\u{1b}[38;5;160m";
/// The code of purple, which is the colour of Unknown.
const PURPLE: &str = "\u{1b}[38;5;97m";

const OBJECTS: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0"}, "status": {"phase": "Failed", "reason": "Evicted"}}
{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"type": "ClusterIP"}}
"#;

fn objects(folder: &Path) -> String {
    let file = folder.join("objects.jsonl");
    std::fs::write(&file, OBJECTS).unwrap();
    file.display().to_string()
}

/// Standard output and standard error of a command whose terminal is a pseudo-terminal.
fn on_terminal(args: &[&str], variables: &[(&str, &str)]) -> String {
    let command = [&[env!("CARGO_BIN_EXE_kindsight")], args]
        .concat()
        .join(" ");
    in_script(&command, variables)
}

fn in_script(command: &str, variables: &[(&str, &str)]) -> String {
    let prepared = kindsight(&[]);
    let mut script = Command::new("script");
    for (name, value) in prepared.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    // A build server is taken for a terminal with colours.
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        script.env_remove(name);
    }
    script
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied());
    script.args(["--quiet", "--command", command, "/dev/null"]);
    let output = script.stdin(Stdio::null()).output().expect("script");
    text(&output.stdout)
}

#[test]
fn states_have_colours_on_a_terminal_and_columns_keep_their_widths() {
    let folder = tempfile::tempdir().unwrap();
    let file = objects(folder.path());
    let piped = run(&["interpret", &file], "");
    let plain = text(&piped.stdout);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let shown = on_terminal(&["interpret", &file], &[]);
    assert!(shown.contains(&format!("{GREEN}Present")), "{shown:?}");
    assert!(shown.contains(&format!("{RED}Failed")), "{shown:?}");
    let stripped = strip_str(&shown).to_string().replace("\r\n", "\n");
    assert!(stripped.ends_with(&plain), "{stripped}\n{plain}");
}

#[test]
fn colours_can_be_required_and_forbidden() {
    let folder = tempfile::tempdir().unwrap();
    let file = objects(folder.path());
    for (args, variables) in [
        (&["interpret", &file, "--color", "never"][..], &[][..]),
        (&["interpret", &file], &[("NO_COLOR", "1")]),
        (
            &["--color", "auto", "interpret", &file],
            &[("TERM", "dumb")],
        ),
    ] {
        let shown = on_terminal(args, variables);
        assert!(shown.contains("Present"), "{shown:?}");
        assert!(
            !shown.contains("[38;5;"),
            "{args:?} {variables:?}: {shown:?}"
        );
    }
    let always = run(&["interpret", &file, "--color", "always"], "");
    assert!(text(&always.stdout).contains(&format!("{GREEN}Present")));
    let forced = kindsight(&["interpret", &file])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(text(&forced.stdout).contains(&format!("{GREEN}Present")));
    let wrong = run(&["interpret", "--color", "green"], "");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("auto, always, never"));
}

#[test]
fn the_first_compilation_shows_its_progress_on_a_terminal_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = objects(folder.path());
    let cache = TempDir::new().unwrap();
    let variables = [("XDG_CACHE_HOME", cache.path().to_str().unwrap())];
    let shown = on_terminal(&["interpret", &file], &variables);
    assert!(shown.contains("interpreters compiled"), "{shown:?}");
    let silent = TempDir::new().unwrap();
    let piped = kindsight(&["interpret", &file])
        .env("XDG_CACHE_HOME", silent.path())
        .output()
        .unwrap();
    assert_eq!(text(&piped.stderr), "");
}

#[test]
fn a_copy_of_a_store_shows_its_progress_on_a_terminal_alone() {
    let folder = tempfile::tempdir().unwrap();
    fill_store(folder.path());
    let from = format!("file:{}/store.redb", folder.path().display());
    let to = |name: &str| format!("file:{}/{name}", folder.path().display());
    let shown = on_terminal(&["store", "copy", "--from", &from, "--to", &to("a")], &[]);
    assert!(shown.contains("keys are copied"), "{shown:?}");
    assert!(strip_str(&shown).to_string().contains("keys copied; all"));
    let piped = run(&["store", "copy", "--from", &from, "--to", &to("b")], "");
    assert!(piped.status.success());
    assert_eq!(text(&piped.stderr), "");
}

#[test]
fn the_tables_of_a_server_have_colours_and_waits_have_a_line_on_a_terminal() {
    let data = tempfile::tempdir().unwrap();
    fill_store(data.path());
    let server = Server::start(data.path(), &reports(data.path(), Monitor::V22));
    let ask = |args: &[&str]| on_terminal(&[args, &["--server", &server.url]].concat(), &[]);
    let status = ask(&["status", DIG]);
    assert!(status.contains(&format!("{GREEN}Present")), "{status:?}");
    assert!(status.contains(&format!("{PURPLE}Unknown")), "{status:?}");
    assert!(status.contains("as a whole: \u{1b}["), "{status:?}");
    let applications = ask(&["applications"]);
    assert!(applications.contains("\u{1b}[38;5;"), "{applications:?}");
    let history = ask(&["history", DIG]);
    assert!(history.contains(&format!("{GREEN}Present")), "{history:?}");
    let clusters = ask(&["clusters"]);
    assert!(
        clusters.contains(&format!("{GREEN}connected")),
        "{clusters:?}"
    );
    let interpreters = ask(&["interpreters", "list"]);
    assert!(
        interpreters.contains(&format!("{GREEN}live")),
        "{interpreters:?}"
    );

    let program = env!("CARGO_BIN_EXE_kindsight");
    let url = &server.url;
    let watch = format!("timeout --signal=INT 5 {program} status {DIG} --server {url} --watch");
    let watched = in_script(&watch, &[]);
    assert!(watched.contains(&format!("{GREEN}Present")), "{watched:?}");
    let watched = in_script(&watch, &[("NO_COLOR", "1")]);
    assert!(watched.contains("Present"), "{watched:?}");
    assert!(!watched.contains("[38;5;"), "{watched:?}");

    let waited = ask(&["status", "nothing", "--wait", "--timeout", "2s"]);
    assert!(waited.contains("waiting: there is no application `nothing` yet"));
    assert!(!waited.contains("kindsight: waiting"), "{waited:?}");
    assert!(
        waited.contains("nothing is not ready after 2s"),
        "{waited:?}"
    );
    let loaded = data.path().join("no.wasm");
    std::fs::write(&loaded, "no component").unwrap();
    let refused = ask(&["interpreters", "load", loaded.to_str().unwrap()]);
    assert!(refused.contains("uploading"), "{refused:?}");
    assert!(
        refused.contains("kindsight: the server answers 4"),
        "{refused:?}"
    );
}

#[test]
fn help_and_errors_of_the_command_line_follow_the_flag_of_colours() {
    for args in [
        &["serve", "--help"][..],
        &["serve", "--listen", "nowhere"],
        &["nothing"],
    ] {
        let coloured = on_terminal(args, &[]);
        assert!(coloured.contains("\u{1b}["), "{coloured:?}");
        for color in [&["--color", "never"][..], &["--color=never"]] {
            let plain = on_terminal(&[color, args].concat(), &[]);
            assert!(!plain.contains("\u{1b}["), "{plain:?}");
        }
    }
}

#[test]
fn the_wait_for_clusters_at_the_start_is_shown_on_a_terminal_alone() {
    // An API server that accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let content = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "silent",
        "clusters": [{"name": "silent", "cluster": {"server": format!("https://{address}")}}],
        "users": [{"name": "user", "user": {"token": "none"}}],
        "contexts": [{"name": "silent", "context": {"cluster": "silent", "user": "user"}}],
    });
    std::fs::write(&kubeconfig, content.to_string()).unwrap();
    let data = folder.path().join("data");
    // This server compiles the interpreters, so that the others answer within their time.
    assert!(Server::start(&data, &[]).stop());
    let serve = format!(
        "timeout --signal=INT 8 {} serve --listen 127.0.0.1:0 --data-dir {} --kubeconfig {}",
        env!("CARGO_BIN_EXE_kindsight"),
        data.display(),
        kubeconfig.display()
    );
    let shown = in_script(&serve, &[]);
    assert!(shown.contains("serving on"), "{shown:?}");
    assert!(shown.contains("waiting for 1 of 1 clusters"), "{shown:?}");
    let piped = Command::new("sh").args(["-c", &serve]).output();
    let log = text(&piped.unwrap().stderr);
    assert!(log.contains("serving on"), "{log}");
    assert!(!log.contains("waiting for"), "{log}");
}
