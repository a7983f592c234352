//! Access control: credentials, the rights of each route, and the data that a user may see.

mod ended_rights;
mod token_header;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use expect_test::expect_file;
use kindsight_access::{AccessControl, AccessSettings, CodeFlow, TokenFile, VerifyToken};
use tempfile::TempDir;

use super::applications::SHOP;
use super::*;
use crate::openapi;
use crate::rules::{RULES, Rule};

/// A server with access control, and one user with a token.
pub(super) struct Guarded {
    folder: TempDir,
    pub(super) control: Arc<AccessControl>,
    pub(super) token: String,
}

impl Guarded {
    /// `bindings` are the bindings of the user `token:ci`, each without its user.
    pub(super) fn new(bindings: &[&str]) -> Self {
        Self::with(&of_user(bindings), Vec::new(), None)
    }

    /// A server with a role file, and with methods besides the token file.
    pub(super) fn with(
        bindings: &str,
        verifiers: Vec<Arc<dyn VerifyToken>>,
        code_flow: Option<CodeFlow>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (roles, tokens) = (folder.path().join("roles"), folder.path().join("tokens"));
        fs::write(&roles, bindings).unwrap();
        let expires = "2999-01-01T00:00:00Z".parse().unwrap();
        let token = TokenFile::create(&tokens, "ci".parse().unwrap(), expires).unwrap();
        let settings = AccessSettings {
            roles,
            tokens: Some(tokens),
            verifiers,
            code_flow,
        };
        Self {
            control: Arc::new(AccessControl::new(settings).unwrap()),
            token: token.text.to_string(),
            folder,
        }
    }

    pub(super) fn router(&self) -> Router {
        router(AppState {
            access: Some(Arc::clone(&self.control)),
            missing: Arc::new(|| vec!["the first listing of cluster secret+edge".to_owned()]),
            ..state(Limits::default())
        })
    }

    async fn send(&self, method: &str, uri: &str, authorization: &[&str]) -> Answered {
        let mut request = Request::builder().method(method).uri(uri);
        for value in authorization {
            request = request.header(header::AUTHORIZATION, *value);
        }
        answered(self.router(), request.body(Body::empty()).unwrap()).await
    }

    async fn get(&self, uri: &str) -> Answered {
        self.send("GET", uri, &[&self.bearer()]).await
    }

    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

fn of_user(bindings: &[&str]) -> String {
    let mut text = String::new();
    for binding in bindings {
        writeln!(text, "[[binding]]\nusers = [\"token:ci\"]\n{binding}").unwrap();
    }
    text
}

pub(super) const VIEWER: &str = "role = \"viewer\"";
pub(super) const OPERATOR: &str = "role = \"operator\"";
const APPROVER: &str = "role = \"approver\"";
const DEPLOYER: &str = "role = \"deployer\"";
const AGENT: &str = "role = \"agent\"\nclusters = [\"*+edge01\"]";
const SHOP_VIEWER: &str = "role = \"viewer\"\napplications = [\"web/shop\"]";

/// Every route of the OpenAPI document: method and path.
fn routes() -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap().clone();
    let of_path = |(path, item): (String, Value)| {
        let methods: Vec<String> = item.as_object().unwrap().keys().cloned().collect();
        let methods = methods.into_iter().map(|method| method.to_uppercase());
        methods
            .map(|method| (method, path.clone()))
            .collect::<Vec<_>>()
    };
    paths.into_iter().flat_map(of_path).collect()
}

/// A path with names of its parameters.
fn filled(path: &str, names: &[(&str, &str)]) -> String {
    let fill = |path: String, (name, value): &(&str, &str)| path.replace(name, value);
    names.iter().fold(path.to_owned(), fill)
}

const HIDDEN: [(&str, &str); 9] = [
    ("{project}", "testvfw"),
    ("{composite-app}", "compositevfw"),
    ("{version}", "v1"),
    ("{deployment-intent-group}", "vfw_deployment_intent_group"),
    ("{cluster-provider}", "vfw-cluster-provider"),
    ("{cluster}", "edge01"),
    ("{logical-cloud}", "lc1"),
    ("{name}", "apps"),
    ("{receiver}", "ops"),
];

#[test]
fn every_route_has_one_rule() {
    let mut ruled = BTreeMap::new();
    for (method, path, rest, rule) in RULES {
        let of = ((*method).to_owned(), format!("{path}{rest}"));
        assert_eq!(ruled.insert(of, rule), None, "{method} {path}{rest}");
    }
    let routes: BTreeSet<_> = routes().into_iter().collect();
    assert_eq!(routes, ruled.into_keys().collect());
}

#[test]
fn the_documented_table_is_the_table_of_the_code() {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/access.md");
    const BEGIN: &str = "<!-- routes: made from the code by host/rest/src/tests/access.rs -->\n";
    const END: &str = "<!-- end of routes -->\n";
    let text = fs::read_to_string(FILE).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the begin of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let mut table = "| route | needed rights |\n|---|---|\n".to_owned();
    for (method, path, rest, rule) in RULES {
        writeln!(table, "| `{method} {path}{rest}` | {} |", rule.as_str()).unwrap();
    }
    expect_file![FILE].assert_eq(&format!("{before}{BEGIN}{table}{END}{after}"));
}

#[tokio::test]
async fn a_request_without_a_valid_token_is_refused_on_every_route_but_the_open_ones() {
    let guarded = Guarded::new(&[VIEWER, OPERATOR]);
    let wrong = format!("{}x", guarded.bearer());
    let twice = [&*guarded.bearer(), &*guarded.bearer()];
    let basic = guarded.bearer().replace("Bearer", "Basic");
    for (method, path) in routes() {
        let uri = filled(&path, &HIDDEN);
        let presented: [&[&str]; 5] = [&[], &[&wrong], &twice, &[&basic], &["Bearer "]];
        for authorization in presented {
            let answer = guarded.send(&method, &uri, authorization).await;
            if let "/"
            | "/page/{file}"
            | "/v2/session"
            | "/v2/session/oidc"
            | "/v2/session/oidc/callback"
            | "/healthz"
            | "/readyz" = &*path
            {
                assert!(!answer.text.contains("secret+edge"), "{}", answer.text);
                continue;
            }
            if answer.status == StatusCode::TOO_MANY_REQUESTS {
                assert!(!answer.header(header::RETRY_AFTER).is_empty());
                assert_eq!(authorization, [&wrong]);
                continue;
            }
            let detail = answer.problem(StatusCode::UNAUTHORIZED);
            assert_eq!(answer.header(header::WWW_AUTHENTICATE), "Bearer");
            assert!(!detail.contains("kindsight."), "{detail}");
        }
    }
    let unknown = guarded.send("GET", "/v3", &[]).await;
    unknown.problem(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn each_role_may_use_the_routes_of_its_rules_alone() {
    let roles = [SHOP_VIEWER, VIEWER, OPERATOR, APPROVER, DEPLOYER, AGENT];
    let roles = roles.iter().map(std::slice::from_ref);
    for bindings in roles.chain([&[][..]]) {
        let guarded = Guarded::new(bindings);
        for (method, path, rest, rule) in RULES {
            // The only bodies are those of commands, which are refused later.
            let uri = filled(&format!("{path}{rest}"), &HIDDEN);
            if uri.ends_with("/watch") {
                continue;
            }
            let answer = guarded.send(method, &uri, &[&guarded.bearer()]).await;
            let is_viewer = bindings == [VIEWER];
            let is_allowed = match rule {
                Rule::Open | Rule::User => true,
                Rule::Viewer => is_viewer || bindings == [SHOP_VIEWER],
                Rule::ViewerOfEverything => is_viewer,
                Rule::OperatorOrAnyViewer => {
                    is_viewer || bindings == [SHOP_VIEWER] || bindings == [OPERATOR]
                }
                Rule::OperatorOrViewer => is_viewer || bindings == [OPERATOR],
                Rule::Operator => bindings == [OPERATOR],
                Rule::AnyOfGroup => {
                    !bindings.is_empty() && bindings != [OPERATOR] && bindings != [AGENT]
                }
                Rule::Approver => bindings == [APPROVER],
                Rule::Deployer => bindings == [DEPLOYER],
                Rule::Agent => bindings == [AGENT],
            };
            let is_forbidden = answer.status == StatusCode::FORBIDDEN;
            assert_eq!(is_forbidden, !is_allowed, "{bindings:?} {method} {uri}");
            if is_forbidden {
                let detail = answer.problem(StatusCode::FORBIDDEN);
                assert!(detail.contains("token:ci") && detail.contains(rule.as_str()));
            }
        }
    }
}

/// The sample catalog has an interpreter with calls, faults and a candidate, and a refused component.
#[tokio::test]
async fn the_list_of_interpreters_has_counts_only_for_users_who_may_see_everything() {
    for bindings in [&[SHOP_VIEWER][..], &[VIEWER], &[OPERATOR, SHOP_VIEWER]] {
        let list = Guarded::new(bindings).get("/v2/interpreters").await;
        assert_eq!(list.status, StatusCode::OK, "{}", list.text);
        let apps = &list.json()["interpreters"][0];
        assert_eq!(apps["name"], "apps");
        assert_eq!(apps["version"], "1.0.0");
        assert_eq!(apps["kinds"][0], "apps/*/Deployment");
        let is_complete = bindings != [SHOP_VIEWER];
        for name in [
            "calls",
            "faults",
            "faulting",
            "candidate",
            "unavailable",
            "trips",
        ] {
            assert_eq!(apps[name].is_null(), !is_complete, "{bindings:?} {name}");
        }
        assert_eq!(list.json()["refused"].is_array(), is_complete);
    }
}

#[tokio::test]
async fn no_answer_names_what_the_user_may_not_see() {
    let guarded = Guarded::new(&[SHOP_VIEWER]);
    let hidden = ["testvfw", "compositevfw", "vfw_", "lc1", "edge01", "sink"];
    let uris = routes().into_iter().filter(|(method, _)| method == "GET");
    let uris = uris.map(|(_, path)| filled(&path, &HIDDEN));
    // This stream has no end; its first event is the list.
    let uris = uris.filter(|uri| uri != "/v2/applications/watch");
    let queries = ["", "?name=x", "?cluster=none%2Bnone", "?instance=1"];
    for uri in uris {
        for query in queries {
            let answer = guarded.get(&format!("{uri}{query}")).await;
            // An error may repeat the names of the request.
            let answer_without_names = HIDDEN.iter().filter(|(name, _)| *name != "{name}");
            let text = answer_without_names.fold(answer.text.clone(), |text, (_, value)| {
                if uri.contains(value) {
                    text.replace(value, "")
                } else {
                    text
                }
            });
            if uri == "/openapi.json" {
                continue;
            }
            for name in hidden {
                assert!(!text.contains(name), "{uri}{query} names {name}: {text}");
            }
            if uri.contains('{')
                || uri.contains("/projects/")
                || uri.contains("/cluster-providers/")
            {
                assert!(
                    answer.status.is_client_error(),
                    "{uri}{query}: {}",
                    answer.text
                );
            }
        }
    }
    let shop = guarded.get(SHOP).await;
    assert_eq!(shop.status, StatusCode::OK, "{}", shop.text);
    let list = guarded.get("/v2/applications").await.json();
    assert_eq!(list["applications"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(
        guarded.get("/v2/clusters").await.json()["clusters"],
        serde_json::json!([])
    );
}

#[tokio::test]
async fn a_list_of_clusters_counts_no_hidden_objects() {
    let of_cluster = "role = \"viewer\"\nclusters = [\"*+*\"]";
    for (binding, is_shown) in [(VIEWER, true), (of_cluster, false)] {
        let list = Guarded::new(&[binding]).get("/v2/clusters").await.json();
        let cluster = &list["clusters"][0];
        assert_eq!(cluster["cluster"], "prod", "{list}");
        assert_eq!(cluster["watches"], 50, "{list}");
        for member in ["objects", "faults"] {
            assert_eq!(cluster[member].is_null(), !is_shown, "{list}");
        }
    }
}

#[tokio::test]
async fn hidden_data_are_answered_like_missing_data() {
    let everyone = router(state(Limits::default()));
    let guarded = Guarded::new(&[SHOP_VIEWER]);
    for uri in [STATUS, CLUSTER_STATUS, LOGICAL_CLOUD_STATUS] {
        let hidden = guarded.get(uri).await;
        let absent = ["compositevfw", "edge01", "lc1"];
        let absent = absent
            .iter()
            .fold(uri.to_owned(), |uri, name| uri.replace(name, "absent"));
        let missing = guarded.get(&absent).await;
        let seen = send(everyone.clone(), "GET", uri, Body::empty()).await;
        assert_eq!(seen.status, StatusCode::OK);
        hidden.problem(StatusCode::NOT_FOUND);
        let names = ["compositevfw", "edge01", "lc1"];
        let hidden = names
            .iter()
            .fold(hidden.text, |text, name| text.replace(name, "absent"));
        assert_eq!(hidden, missing.text);
    }
}

#[tokio::test]
async fn the_details_of_readiness_are_for_viewers_of_everything() {
    for (bindings, is_shown) in [(&[VIEWER][..], true), (&[SHOP_VIEWER], false), (&[], false)] {
        let answer = Guarded::new(bindings).get("/readyz").await;
        let detail = answer.problem(StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(detail.contains("secret+edge"), is_shown, "{detail}");
    }
}

#[tokio::test]
async fn a_stream_ends_when_its_reader_loses_the_right() {
    let guarded = Guarded::new(&[SHOP_VIEWER]);
    let following = Arc::clone(&guarded.control);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { following.follow().await });
    for uri in [format!("{SHOP}/watch"), "/v2/applications/watch".to_owned()] {
        fs::write(guarded.folder.path().join("roles"), of_user(&[SHOP_VIEWER])).unwrap();
        let stream = loop {
            let request = Request::builder().uri(&uri);
            let request = request.header(header::AUTHORIZATION, guarded.bearer());
            let stream = guarded
                .router()
                .oneshot(request.body(Body::empty()).unwrap());
            let stream = stream.await.unwrap();
            if stream.status() == StatusCode::OK {
                break stream;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        };
        fs::write(guarded.folder.path().join("roles"), "").unwrap();
        // The body ends.
        let text = to_bytes(stream.into_body(), usize::MAX).await.unwrap();
        assert!(text.starts_with(b"event: snapshot"));
    }
}
