//! `kubectl kindsight`, through the service proxy of a real API server.
//!
//! The proxy refuses loopback addresses, so the test runs again in a network namespace of its own. There, kindsight
//! listens on an address of a pair of virtual interfaces. The namespace ends with its processes.

mod interpreters;
mod namespace;
mod stage;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{kindsight, text};
use namespace::enters_namespace;
use stage::{AS, PATIENCE, READER, Stage};

/// The documentation of the plugin, which has the Role of its users.
const DOCUMENT: &str = include_str!("../../../../docs/kubectl.md");

/// The rights of `ann` to pass requests on to the Service, and nothing else.
fn rights_of_ann() -> [Value; 2] {
    let (_, role) = DOCUMENT.split_once("```yaml\n").expect("a Role");
    let (role, _) = role.split_once("```").expect("the end of the Role");
    let mut role: Value = serde_saphyr::from_str(role).expect("YAML");
    // The Service of this test is in another namespace.
    role["metadata"] = json!({"name": "kindsight"});
    [
        role,
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "kindsight"},
            "subjects": [{"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"kind": "Role", "name": "kindsight", "apiGroup": "rbac.authorization.k8s.io"},
        }),
    ]
}

#[test]
fn a_missing_kubeconfig_is_named() {
    let home = tempfile::tempdir().unwrap();
    let mut command = kindsight(&["clusters", "--context", "prod"]);
    let command = command.env("HOME", home.path()).env_remove("KUBECONFIG");
    let error = text(&command.output().unwrap().stderr);
    let file = home.path().join(".kube/config");
    let file = format!("{}: No such file or directory", file.display());
    assert!(error.contains(&file), "{error}");
    let mut command = kindsight(&["clusters", "--kubeconfig", "/nonexistent"]);
    let error = text(&command.output().unwrap().stderr);
    assert!(error.contains("/nonexistent: No such file"), "{error}");
}

#[test]
fn the_plugin_reaches_a_server_through_the_proxy_of_its_api_server() {
    if !enters_namespace("kubectl::the_plugin_reaches_a_server_through_the_proxy_of_its_api_server")
    {
        return;
    }
    let Some(stage) = Stage::start() else {
        return;
    };
    finds_the_service(&stage);
    sends_no_credential_of_the_kubeconfig(&stage);
    takes_the_token_of_a_named_server(&stage);
    needs_only_the_right_to_use_the_proxy(&stage);
    interpreters::change_with_the_right_to_use_the_proxy(&stage);
    follows_changes(&stage);
}

fn finds_the_service(stage: &Stage) {
    let found = stage.out(&["status", "shop", AS, READER]);
    assert!(found.contains("settings"), "{found}");
    let waited = stage.run(&["status", "shop", "--wait", "--hold", "1s", AS, READER]);
    assert!(waited.status.success(), "{}", text(&waited.stderr));
    let named = stage.out(&["clusters", AS, READER, "--service", "default/kindsight:443"]);
    assert!(named.contains("kubeconfig+edge"), "{named}");
    let help = stage.out(&["status", "--help"]);
    assert!(help.contains("Usage: kubectl kindsight status"), "{help}");
    let wrong = stage.refused(&["clusters", "--service", "default/other"]);
    assert!(wrong.contains("\"other\" not found"), "{wrong}");
    let wrong = stage.refused(&["clusters", AS, READER, "--service", "default/kindsight:9"]);
    assert!(wrong.contains("the API server of the cluster: "), "{wrong}");
    let wrong = stage.refused(&["clusters", "--context", "none"]);
    assert!(
        wrong.contains("the kubeconfig cannot be used: it has no context `none`"),
        "{wrong}"
    );
    let wrong = stage.refused(&["clusters", "--server", "https://x.example"]);
    assert!(wrong.contains("reaches a server directly"), "{wrong}");
    let wrong = stage.refused(&["clusters", AS, "default/nobody"]);
    assert!(
        wrong.contains("issue a token of the ServiceAccount default/nobody"),
        "{wrong}"
    );
    let own = kindsight(&["clusters", "--service", "default/kindsight", AS, READER])
        .env("KUBECONFIG", stage.folder.path().join("kubeconfig"))
        .output()
        .unwrap();
    assert!(
        text(&own.stdout).contains("kubeconfig+edge"),
        "{}",
        text(&own.stderr)
    );
}

fn sends_no_credential_of_the_kubeconfig(stage: &Stage) {
    let without = stage.refused(&["clusters"]);
    assert!(without.contains("401"), "{without}");
    assert!(without.contains("the request had no token"), "{without}");
    assert!(without.contains(AS), "{without}");
    // The API server removes the header with its own token: kindsight sees a request without a credential.
    let path = "/api/v1/namespaces/default/services/https:kindsight:443/proxy/v2/clusters";
    let answer = stage
        .cluster
        .client()
        .request(ureq::http::Method::GET, path, None);
    let answer = answer.unwrap();
    assert_eq!(answer.status, 401);
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains("needs a token"), "{detail}");
}

fn takes_the_token_of_a_named_server(stage: &Stage) {
    let config = stage.folder.path().join("client.toml");
    let run = |args: &[&str]| {
        let mut command = stage.command(args);
        command
            .env("KINDSIGHT_CLIENT_CONFIG", &config)
            .output()
            .unwrap()
    };
    let named = run(&["clusters", "--server", "prod"]);
    assert!(
        text(&named.stdout).contains("edge"),
        "{}",
        text(&named.stderr)
    );
    let unnamed = run(&["clusters"]);
    assert_eq!(
        unnamed.status.code(),
        Some(1),
        "a default server may be of another cluster"
    );
    let file = stage.folder.path().join("ci").display().to_string();
    assert!(
        stage
            .out(&["clusters", "--token-file", &file])
            .contains("edge")
    );
}

fn needs_only_the_right_to_use_the_proxy(stage: &Stage) {
    let file = stage.folder.path().join("ci").display().to_string();
    let args = [
        "clusters",
        "--service",
        "default/kindsight:443",
        "--token-file",
        &file,
    ];
    let run = |args: &[&str]| stage.command_with("ann", args).output().unwrap();
    let before = run(&args);
    assert!(
        text(&before.stderr).contains("403"),
        "{}",
        text(&before.stderr)
    );
    assert!(text(&before.stderr).contains("services \"https:kindsight:443\" is forbidden"));
    for object in rights_of_ann() {
        stage.cluster.apply(&object);
    }
    let began = Instant::now();
    loop {
        let allowed = run(&args);
        if text(&allowed.stdout).contains("edge") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{}", text(&allowed.stderr));
        std::thread::sleep(Duration::from_millis(200));
    }
    let searched = run(&["clusters", "--token-file", &file]);
    assert!(text(&searched.stderr).contains("--service NAMESPACE/NAME:PORT"));
}

fn follows_changes(stage: &Stage) {
    let mut child = stage
        .command(&["status", "shop", "--watch", AS, READER])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let mut next = |part: &str| lines.any(|line| line.contains(part));
    assert!(next("ConfigMap/settings Present"), "the stream begins");
    assert!(
        stage
            .cluster
            .delete("/api/v1/namespaces/default/configmaps/settings")
    );
    assert!(next("NotPresent"), "the stream shows a change");
    child.kill().and_then(|()| child.wait()).unwrap();
}
