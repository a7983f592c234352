//! Users with one role each, who try every route of the OpenAPI document.

use std::fs;
use std::time::Duration;

use kindsight_model::DigName;
use kindsight_server::access::TokenFile;
use kindsight_server::k8splugin::{ConfiguredInstance, InstanceSettings};
use serde_json::Value;

use crate::http::{self, Answer, Request};
use crate::stage::Stage;
use crate::transport::Transport;

/// Time for which the client reads an answer that has no end.
const STREAM_READ: Duration = Duration::from_millis(500);

/// Bindings of each user. The name of a user is `token:` and the name of the token.
const ROLES: &str = r#"
[[binding]]
role = "viewer"
users = ["token:one"]
applications = ["p/visible/*/*"]

[[binding]]
role = "viewer"
users = ["token:none"]
applications = []

[[binding]]
role = "viewer"
users = ["token:everything"]

[[binding]]
role = "operator"
users = ["token:operator"]

[[binding]]
role = "approver"
users = ["token:approver"]

[[binding]]
role = "deployer"
users = ["token:deployer"]

[[binding]]
role = "agent"
users = ["token:agent"]
clusters = ["provider+*"]
"#;

/// The users. `stranger` has no role. The operator is last, because only the operator's commands change anything.
const USERS: [&str; 8] = [
    "stranger",
    "none",
    "one",
    "everything",
    "approver",
    "deployer",
    "agent",
    "operator",
];

/// The end of the path of a group.
const GROUP: &str = "/{deployment-intent-group}";
const NETWORK_INTENTS: &str = "/network-intents";

/// Applications: one that the user `one` may see, one that this user may not see, and one that does not exist. The
/// names of the second one occur in no answer to this user, and no name is part of another word.
const APPLICATIONS: [&str; 3] = ["visible", "xhidden", "xabsent"];

/// A server with two applications, and the tokens of its users in the order of [`USERS`].
struct Walk {
    stage: Stage,
    tokens: Vec<String>,
}

/// Each application as an instance with its name as the ID.
fn instances() -> InstanceSettings {
    let instances = APPLICATIONS.map(|name| ConfiguredInstance {
        id: name.to_owned(),
        application: DigName::new("p", name, "v1", "d").ok(),
        ..ConfiguredInstance::default()
    });
    InstanceSettings {
        instances: instances.into(),
        ..InstanceSettings::default()
    }
}

impl Walk {
    fn start(transport: Transport) -> Self {
        let mut tokens = Vec::new();
        let stage = Stage::with(transport, |settings, _| {
            for (name, id) in APPLICATIONS.into_iter().zip(["1", "2"]) {
                let name = DigName::new("p", name, "v1", "d").expect("a name");
                crate::stage::fill(&settings.store, &name, id, 1);
            }
            settings.k8splugin = Some(instances());
            let access = settings.access.as_ref().expect("access control");
            let own = fs::read_to_string(&access.roles).expect("a role file");
            fs::write(&access.roles, own + ROLES).expect("a file");
            let file = access.tokens.as_deref().expect("a token file");
            let expires = "2999-01-01T00:00:00Z".parse().expect("a time");
            tokens = USERS
                .iter()
                .map(|user| {
                    let name = user.parse().expect("a name");
                    let token = TokenFile::create(file, name, expires);
                    token.expect("a token").text.to_string()
                })
                .collect();
        });
        Self { stage, tokens }
    }

    /// Every route of the served document: method and path.
    fn routes(&self) -> Vec<(String, String)> {
        let document = self.stage.get("/openapi.json").json();
        let paths = document["paths"].as_object().expect("paths").clone();
        let routes = paths.into_iter().flat_map(|(path, item)| {
            let methods = item.as_object().expect("methods").clone();
            let methods = methods.into_iter();
            methods
                .map(|(method, _)| (method.to_uppercase(), path.clone()))
                .collect::<Vec<_>>()
        });
        routes.collect()
    }

    /// Sends a request with the token of a user. A stream is read for [`STREAM_READ`].
    fn send(&self, token: &str, method: &str, target: &str) -> Answer {
        let media_type = if method == "PUT" && !target.ends_with("settings") {
            "application/wasm"
        } else {
            "application/json"
        };
        let request = Request {
            method,
            target,
            headers: &[
                ("Authorization", &format!("Bearer {token}")),
                ("Content-Type", media_type),
            ],
            body: if method == "GET" { b"" } else { b"{}" },
        };
        let stream = self.stage.connect().expect("a connection");
        if target.ends_with("/watch") {
            let timeout = Some(STREAM_READ);
            stream.tcp().set_read_timeout(timeout).expect("a timeout");
        }
        let answer = http::send_raw(stream, &request.bytes(self.stage.address()));
        answer.unwrap_or_else(|error| panic!("{method} {target}: {error}"))
    }

    /// The interpreters without their counts of calls: what the commands of an operator change.
    fn interpreters(&self) -> Value {
        let mut list = self.stage.get("/v2/interpreters").json();
        let interpreters = list["interpreters"].as_array_mut().expect("a list");
        for interpreter in interpreters {
            interpreter["calls"] = Value::Null;
        }
        list
    }
}

/// Returns whether a user may use a route, independently of the table of the server.
fn may_use(user: &str, method: &str, path: &str) -> bool {
    let is_viewer = matches!(user, "one" | "everything");
    match (method, path) {
        ("GET", "/" | "/page/{file}" | "/healthz" | "/readyz" | "/openapi.json") => true,
        (_, path) if path.starts_with("/v2/session") => true,
        ("GET", "/metrics") => user == "everything",
        ("GET", "/v2/interpreters") => is_viewer || user == "operator",
        ("GET", "/v2/interpreters/{name}") => matches!(user, "everything" | "operator"),
        (_, path) if path.starts_with("/v2/interpreters") => user == "operator",
        ("POST", "/v2/compare") => user == "operator",
        (_, path) if path.starts_with("/v2/notify") => user == "operator",
        ("GET", path) if path.ends_with(GROUP) => {
            is_viewer || matches!(user, "approver" | "deployer")
        }
        ("GET", path) if path.ends_with(NETWORK_INTENTS) => {
            is_viewer || matches!(user, "approver" | "deployer")
        }
        (_, path) if path.contains(NETWORK_INTENTS) => user == "deployer",
        (_, path) if path.contains("/reports") => user == "agent",
        ("PUT" | "DELETE", path) if path.ends_with(GROUP) => user == "deployer",
        ("POST", path) if path.ends_with("/approve") => user == "approver",
        ("POST", path) if path.contains(GROUP) => user == "deployer",
        ("GET", path) if path.ends_with("/fixture") => user == "everything",
        ("GET", "/v2/replication") => user == "everything",
        (_, path) if path.ends_with("/clusters/{cluster}") => user == "operator",
        ("GET", path) if path.starts_with("/v2/") => is_viewer,
        ("GET", path) if path.starts_with("/v1/instance") => is_viewer,
        ("GET", "/scopes/{name}") | ("POST", "/v2/interpret") => is_viewer,
        _ => panic!("state in this function who may use {method} {path}"),
    }
}

/// A path with the names of an application, its cluster and an interpreter.
fn filled(path: &str, application: &str) -> String {
    let names = [
        ("{project}", "p"),
        ("{composite-app}", application),
        ("{version}", "v1"),
        ("{deployment-intent-group}", "d"),
        ("{cluster-provider}", "provider"),
        ("{cluster}", application),
        ("{logical-cloud}", application),
        ("{name}", "apps"),
        ("{receiver}", "ops"),
        ("{id}", application),
    ];
    let fill = |path: String, (name, value): &(&str, &str)| path.replace(name, value);
    names.iter().fold(path.to_owned(), fill)
}

pub(crate) fn each_role_uses_only_its_routes_and_sees_only_its_applications(transport: Transport) {
    let walk = Walk::start(transport);
    let routes = walk.routes();
    assert!(routes.len() > 30, "{routes:?}");
    let before = walk.interpreters();
    for (user, token) in USERS.iter().zip(&walk.tokens) {
        if *user == "operator" {
            assert_eq!(
                walk.interpreters(),
                before,
                "a user without the role changed it"
            );
        }
        for (method, path) in &routes {
            let [visible, hidden, absent] =
                APPLICATIONS.map(|name| walk.send(token, method, &filled(path, name)));
            let what = format!("{user} {method} {path}");
            for answer in [&visible, &hidden, &absent] {
                let is_refused = matches!(answer.status, 401 | 403);
                assert_eq!(
                    is_refused,
                    !may_use(user, method, path),
                    "{what} {answer:?}"
                );
                assert!(answer.status < 500, "{what} {answer:?}");
            }
            if *user != "everything" {
                assert_alike(path, &hidden, &absent, &what);
                assert!(!visible.body.contains("hidden"), "{what} {visible:?}");
            }
            let is_group = path.contains("{composite-app}") && !path.ends_with(GROUP);
            if (is_group || path.starts_with("/v1/instance/")) && method == "GET" {
                let [visible, hidden] = [&visible, &hidden].map(|it| it.status);
                match *user {
                    "one" => assert_eq!((visible, hidden), (200, 404), "{what}"),
                    "everything" => assert_eq!((visible, hidden), (200, 200), "{what}"),
                    _ => {}
                }
            }
        }
    }
    walk.stage.assert_healthy();
}

/// An answer about data that the user may not see is the answer about data that do not exist.
fn assert_alike(path: &str, hidden: &Answer, absent: &Answer, what: &str) {
    assert_eq!(hidden.status, absent.status, "{what} {hidden:?} {absent:?}");
    let repeats_names = filled(path, "xhidden") != filled(path, "xabsent");
    if repeats_names {
        let repeated = hidden.body.replace("xhidden", "xabsent");
        assert_eq!(repeated, absent.body, "{what}");
    } else {
        assert!(!hidden.body.contains("hidden"), "{what} {hidden:?}");
    }
}
