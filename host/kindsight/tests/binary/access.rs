//! Access control end to end: a viewer of two of five applications, over TLS, with a token of each method.

mod audit;
mod insecure;
mod objects;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kindsight_cluster::{
    Authority, Binaries, Binary, Cluster, Etcd, Issuer, IssuerPrograms, Options, write_kubeconfig,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::objects::{config_map, selected_across_applications};
use crate::process::{Server, kindsight, run, text};

/// Time in which the server must be ready, and must notice any change.
const PATIENCE: Duration = Duration::from_mins(2);
/// Seconds after which `curl` leaves a stream.
const STREAM_SECONDS: &str = "2";

const VISIBLE: [&str; 2] = ["shop", "cart"];
const HIDDEN: [&str; 3] = ["bank", "mint", "vault"];

/// A server with access control, which watches a cluster with five applications.
struct Stage {
    folder: TempDir,
    cluster: Cluster,
    server: Server,
    issuer: Issuer,
    _etcd: Etcd,
}

impl Stage {
    /// `None` if a program is missing.
    fn start() -> Option<Self> {
        if Command::new("curl").arg("--version").output().is_err() {
            println!("NOT RUN: this test needs curl");
            assert!(std::env::var_os("CI").is_none(), "curl is missing");
            return None;
        }
        let (binaries, programs) = (
            Binaries::or_skip(Binary::API_SERVER)?,
            IssuerPrograms::or_skip()?,
        );
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &Options::api_server("edge"));
        for name in VISIBLE.iter().chain(&HIDDEN) {
            cluster.apply(&config_map(name));
        }
        for object in selected_across_applications() {
            cluster.apply(&object);
            cluster.client().apply_status(&object);
        }
        let issuer = Issuer::start(&programs);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        write_kubeconfig(
            &folder.path().join("kubeconfig"),
            &[("edge", &cluster, cluster.admin())],
        );
        write_files(folder.path());
        let arguments = [
            format!("--kubeconfig={}", path("kubeconfig")),
            format!("--tls-cert={}", path("server.pem")),
            format!("--tls-key={}", path("server.key")),
            format!("--tls-client-ca={}", path("clients.pem")),
            format!("--roles={}", path("roles.toml")),
            format!("--tokens={}", path("tokens")),
            format!("--oidc-issuer={}", issuer.url()),
            "--oidc-audience=kindsight-cli".to_owned(),
            "--token-review-cluster=kubeconfig+edge".to_owned(),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let server = Server::start_unready(&folder.path().join("data"), &[], &arguments);
        let stage = Self {
            folder,
            cluster,
            server,
            issuer,
            _etcd: etcd,
        };
        stage.wait_until_listed();
        Some(stage)
    }

    fn wait_until_listed(&self) {
        let began = Instant::now();
        loop {
            let (_, answer) = self.get(&self.token("admin"), "/v2/applications");
            let is_listed = |name: &&str| answer.contains(&format!("\"{name}\""));
            if VISIBLE.iter().chain(&HIDDEN).all(is_listed) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "still {answer}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file with a token of the token file, as an argument of `curl`.
    fn token(&self, name: &str) -> Vec<String> {
        let token = fs::read_to_string(self.path(name)).unwrap();
        self.bearer(name, token.trim())
    }

    /// The arguments of `curl` for a token.
    fn bearer(&self, name: &str, token: &str) -> Vec<String> {
        fs::write(self.path(name), token).unwrap();
        let file = self.path(&format!("{name}.header"));
        fs::write(&file, format!("Authorization: Bearer {token}\n")).unwrap();
        vec!["--header".to_owned(), format!("@{}", file.display())]
    }

    /// A token of the issuer, for a user.
    fn oidc(&self, user: &str) -> Vec<String> {
        let now = Timestamp::now().as_second();
        let claims = json!({
            "sub": user, "aud": "kindsight-cli", "exp": now + 600, "iat": now, "groups": ["team-a"],
        });
        self.bearer("oidc", &self.issuer.token("RS256", &claims))
    }

    /// A token of a `ServiceAccount`, for an audience.
    fn service_account(&self, audience: &str) -> Vec<String> {
        self.cluster.apply(&json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "reader", "namespace": "default"},
        }));
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"audiences": [audience]},
        });
        let path = "/api/v1/namespaces/default/serviceaccounts/reader/token";
        let answer = self.cluster.client().create(path, &request);
        self.bearer(
            "service-account",
            answer["status"]["token"].as_str().unwrap(),
        )
    }

    /// The certificate of a client.
    fn certificate(&self) -> Vec<String> {
        let file = |name| self.path(name).display().to_string();
        vec![
            "--cert".to_owned(),
            file("ann.pem"),
            "--key".to_owned(),
            file("ann.key"),
        ]
    }

    /// Status code and text of a GET with `curl`. A stream is read for some seconds.
    fn get(&self, credential: &[String], path: &str) -> (String, String) {
        let mut curl = Command::new("curl");
        curl.args([
            "--silent",
            "--show-error",
            "--noproxy",
            "*",
            "--write-out",
            "\n%{http_code}",
        ]);
        if path.contains("/watch") {
            curl.args(["--max-time", STREAM_SECONDS]);
        }
        let output = curl
            .arg("--cacert")
            .arg(self.path("ca.pem"))
            .args(credential)
            .arg(format!("{}{path}", self.server.url))
            .output()
            .unwrap();
        let answer = text(&output.stdout);
        let (body, code) = answer.rsplit_once('\n').unwrap();
        (code.to_owned(), body.to_owned())
    }

    /// The paths of every GET route.
    fn paths(&self) -> Vec<String> {
        let (_, document) = self.get(&self.token("ci"), "/openapi.json");
        let document: Value = serde_json::from_str(&document).unwrap();
        let paths = document["paths"].as_object().unwrap().iter();
        let read = paths.filter(|(_, item)| item["get"].is_object());
        read.map(|(path, _)| path.clone()).collect()
    }

    /// Runs a command of the command line against the server.
    fn command(&self, arguments: &[&str], credential: &[&str]) -> (bool, String) {
        let output = kindsight(arguments)
            .args(["--server", &self.server.url, "--ca"])
            .arg(self.path("ca.pem"))
            .args(credential)
            .output()
            .unwrap();
        let shown = text(&output.stdout) + &text(&output.stderr);
        (output.status.success(), shown)
    }
}

const ROLES: &str = r#"
[[binding]]
role = "viewer"
users = [
  "token:ci", "oidc:alice", "certificate:ann",
  "kubernetes:system:serviceaccount:default:reader",
]
applications = ["-/shop", "-/cart"]

[[binding]]
role = "viewer"
users = ["token:admin"]
"#;

/// Writes certificates, roles, and the tokens `ci` and `admin`.
fn write_files(folder: &Path) {
    let authority = Authority::new("company");
    let identity = authority.server(None);
    let clients = Authority::new("clients");
    let ann = clients.client("ann", "team-a", None);
    for (name, content) in [
        ("ca.pem", authority.certificate()),
        ("server.pem", &identity.certificate),
        ("server.key", &identity.key),
        ("clients.pem", clients.certificate()),
        ("ann.pem", &ann.certificate),
        ("ann.key", &ann.key),
        ("roles.toml", ROLES),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    let tokens = folder.join("tokens").display().to_string();
    let tokens = tokens.as_str();
    for name in ["ci", "admin"] {
        let created = run(
            &["token", "new", name, "--expires", "1h", "--tokens", tokens],
            "",
        );
        assert!(created.status.success(), "{}", text(&created.stderr));
        fs::write(folder.join(name), created.stdout).unwrap();
    }
}

/// A path with the names of an application and of the cluster.
fn filled(path: &str, application: &str) -> String {
    let names = [
        ("{project}", "-"),
        ("{composite-app}", application),
        ("{version}", "-"),
        ("{deployment-intent-group}", "-"),
        ("{cluster-provider}", "kubeconfig"),
        ("{cluster}", "edge"),
        ("{logical-cloud}", application),
        ("{name}", "apps"),
    ];
    let fill = |path: String, (name, value): &(&str, &str)| path.replace(name, value);
    names.iter().fold(path.to_owned(), fill)
}

fn assert_names_none(answer: &str, hidden: &[&str], of: &str) {
    for name in hidden {
        assert!(!answer.contains(name), "{of} names {name}: {answer}");
    }
}

#[test]
fn a_viewer_of_two_applications_reads_nothing_about_the_other_three() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let credentials = [
        ("token", stage.token("ci")),
        ("OIDC", stage.oidc("alice")),
        ("TokenReview", stage.service_account("kindsight")),
        ("certificate", stage.certificate()),
    ];
    let paths = stage.paths();
    assert!(paths.len() > 15, "{paths:?}");
    for (method, credential) in &credentials {
        let (code, list) = stage.get(credential, "/v2/applications");
        assert_eq!(code, "200", "{method}: {list}");
        assert!(VISIBLE.iter().all(|name| list.contains(name)), "{list}");
        // Every route with each method would take minutes.
        let paths = paths
            .iter()
            .filter(|path| *method == "token" || !path.ends_with("/watch"));
        for path in paths {
            for query in [
                "",
                "?name=nothing",
                "?cluster=no%2Bcluster",
                "?app=none&explain=true",
            ] {
                let target = format!("{}{query}", filled(path, "shop"));
                let (_, answer) = stage.get(credential, &target);
                assert_names_none(&answer, &HIDDEN, &target);
                let target = format!("{}{query}", filled(path, "bank"));
                let (code, answer) = stage.get(credential, &target);
                assert_names_none(&answer, &HIDDEN[1..], &target);
                if path.contains("{composite-app}") && query.is_empty() {
                    assert_eq!(code, "404", "{method} {target}: {answer}");
                }
                if path.ends_with("/watch") {
                    break;
                }
            }
        }
    }
    command_line_shows_the_same(&stage);
    unknown_credentials_are_refused(&stage);
}

fn command_line_shows_the_same(stage: &Stage) {
    let file = |name| stage.path(name).display().to_string();
    let [ci, oidc, reader] = ["ci", "oidc", "service-account"].map(file);
    let [ann, key] = ["ann.pem", "ann.key"].map(file);
    let presented: [&[&str]; 4] = [
        &["--token-file", &ci],
        &["--token-file", &oidc],
        &["--token-file", &reader],
        &["--client-cert", &ann, "--client-key", &key],
    ];
    for credential in presented {
        let (succeeded, shown) = stage.command(&["applications"], credential);
        assert!(
            succeeded && VISIBLE.iter().all(|name| shown.contains(name)),
            "{shown}"
        );
        assert_names_none(&shown, &HIDDEN, "applications");
        let (succeeded, shown) = stage.command(&["status", "shop"], credential);
        assert!(succeeded, "{shown}");
        let (succeeded, shown) = stage.command(&["status", "bank"], credential);
        assert!(!succeeded);
        assert_names_none(&shown, &HIDDEN[1..], "status bank");
        let (succeeded, shown) = stage.command(&["interpreters", "disable", "apps"], credential);
        assert!(
            !succeeded && shown.contains("the role `operator`"),
            "{shown}"
        );
    }
}

fn unknown_credentials_are_refused(stage: &Stage) {
    let unknown = [
        Vec::new(),
        stage.bearer("guess", "kindsight.ci.guess"),
        stage.bearer("none", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9."),
        // A token for the API server itself.
        stage.service_account("https://kubernetes.default.svc"),
    ];
    for credential in unknown {
        let (code, answer) = stage.get(&credential, "/v2/applications");
        assert_eq!(code, "401", "{credential:?}: {answer}");
    }
    // A user without a role.
    let (code, answer) = stage.get(&stage.oidc("eve"), "/v2/applications");
    assert_eq!(code, "403", "{answer}");
    let log_in = stage.command(&["applications"], &[]);
    assert!(!log_in.0 && log_in.1.contains("token"), "{}", log_in.1);
}

#[test]
fn an_address_that_other_machines_reach_needs_tls_and_access_control() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let serve = ["serve", "--listen", "0.0.0.0:0", "--data-dir", &data];
    let refused = |more: &[&str]| {
        let output = run(&[&serve[..], more].concat(), "");
        assert!(!output.status.success());
        text(&output.stderr)
    };
    assert!(refused(&[]).contains("--insecure-no-tls"));
    assert!(refused(&["--insecure-no-tls"]).contains("--insecure-no-auth"));
    let roles = folder.path().join("roles.toml");
    fs::write(&roles, ROLES).unwrap();
    let error = refused(&["--insecure-no-tls", "--roles", path(&roles)]);
    assert!(error.contains("no method of authentication"), "{error}");
    fs::write(&roles, "[[binding]]").unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, "version = 1").unwrap();
    let files = ["--roles", path(&roles), "--tokens", path(&tokens)];
    let error = refused(&[&["--insecure-no-tls"][..], &files].concat());
    assert!(error.contains("roles.toml"), "{error}");
}

fn path(of: &Path) -> &str {
    of.to_str().unwrap()
}
