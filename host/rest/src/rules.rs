//! Access rules: the rights that each route needs.
//!
//! A route without a rule is refused, and a test compares this table with the OpenAPI document and with `docs/access.md`.

use std::collections::HashMap;

use axum::http::Method;
use kindsight_access::{Rights, Role};

/// The rights that a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// None; the answer has no details without the role `viewer` for everything.
    Open,
    /// An authenticated user.
    User,
    /// The role `viewer` for at least one subject. The handler answers only about subjects that the user may see.
    Viewer,
    /// The role `viewer` for everything.
    ViewerOfEverything,
    /// The role `operator`, or `viewer` for at least one subject. The handler removes counts over subjects that the user
    /// may not see.
    OperatorOrAnyViewer,
    /// The role `operator`, or `viewer` for everything.
    OperatorOrViewer,
    /// The role `operator`.
    Operator,
    /// The role `viewer`, `approver` or `deployer` for at least one subject. The handler checks the subject.
    AnyOfGroup,
    /// The role `approver` for at least one subject. The handler checks the subject.
    Approver,
    /// The role `deployer` for at least one subject. The handler checks the subject.
    Deployer,
    /// The role `agent` for at least one cluster. The handler checks the cluster.
    Agent,
}

impl Rule {
    /// Returns whether a user with these rights may use the route.
    pub(crate) fn allows(self, rights: &Rights) -> bool {
        let viewer = rights.subjects(Role::Viewer);
        let operator = rights.subjects(Role::Operator);
        match self {
            Self::Open | Self::User => true,
            Self::Viewer => !viewer.is_nothing(),
            Self::ViewerOfEverything => viewer.is_everything(),
            Self::OperatorOrAnyViewer => !viewer.is_nothing() || !operator.is_nothing(),
            Self::OperatorOrViewer => viewer.is_everything() || !operator.is_nothing(),
            Self::Operator => !operator.is_nothing(),
            Self::AnyOfGroup => [Role::Viewer, Role::Approver, Role::Deployer]
                .iter()
                .any(|role| !rights.subjects(*role).is_nothing()),
            Self::Approver => !rights.subjects(Role::Approver).is_nothing(),
            Self::Deployer => !rights.subjects(Role::Deployer).is_nothing(),
            Self::Agent => !rights.subjects(Role::Agent).is_nothing(),
        }
    }

    /// The needed rights, for errors and for the documentation.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "none",
            Self::User => "an authenticated user",
            Self::Viewer => "the role `viewer`",
            Self::ViewerOfEverything => "the role `viewer` for everything",
            Self::OperatorOrAnyViewer => "the role `operator` or `viewer`",
            Self::OperatorOrViewer => "the role `operator`, or `viewer` for everything",
            Self::Operator => "the role `operator`",
            Self::AnyOfGroup => "the role `viewer`, `approver` or `deployer`",
            Self::Approver => "the role `approver`",
            Self::Deployer => "the role `deployer`",
            Self::Agent => "the role `agent`",
        }
    }
}

const GROUP: &str = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}";
const CLUSTER: &str = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}";
const LOGICAL_CLOUD: &str = "/v2/projects/{project}/logical-clouds/{logical-cloud}";
const INSTANCE: &str = "/v1/instance/{id}";
const INTERPRETERS: &str = "/v2/interpreters";
const INTERPRETER: &str = "/v2/interpreters/{name}";

/// Every route: method, the path as one or two parts, and rule.
pub(crate) const RULES: &[(&str, &str, &str, Rule)] = &[
    ("GET", "/", "", Rule::Open),
    ("GET", "/page/{file}", "", Rule::Open),
    ("GET", "/healthz", "", Rule::Open),
    ("GET", "/readyz", "", Rule::Open),
    ("GET", "/metrics", "", Rule::ViewerOfEverything),
    ("GET", "/openapi.json", "", Rule::User),
    ("GET", "/scopes/{name}", "", Rule::Viewer),
    ("GET", "/v2/session", "", Rule::Open),
    ("POST", "/v2/session", "", Rule::Open),
    ("DELETE", "/v2/session", "", Rule::Open),
    ("GET", "/v2/session", "/oidc", Rule::Open),
    ("GET", "/v2/session", "/oidc/callback", Rule::Open),
    ("GET", "/v2/applications", "", Rule::Viewer),
    ("GET", "/v2/applications/watch", "", Rule::Viewer),
    ("GET", "/v2/clusters", "", Rule::Viewer),
    ("GET", "/v2/notify", "", Rule::Operator),
    ("POST", "/v2/notify/{receiver}/resend", "", Rule::Operator),
    ("POST", "/v2/notify/{receiver}/test", "", Rule::Operator),
    ("GET", GROUP, "", Rule::AnyOfGroup),
    ("PUT", GROUP, "", Rule::Deployer),
    ("DELETE", GROUP, "", Rule::Deployer),
    ("POST", GROUP, "/approve", Rule::Approver),
    ("POST", GROUP, "/instantiate", Rule::Deployer),
    ("POST", GROUP, "/update", Rule::Deployer),
    ("POST", GROUP, "/rollback", Rule::Deployer),
    ("POST", GROUP, "/dry-run", Rule::Deployer),
    ("POST", GROUP, "/terminate", Rule::Deployer),
    ("POST", GROUP, "/stop", Rule::Deployer),
    ("GET", GROUP, "/status", Rule::Viewer),
    ("GET", GROUP, "/status/watch", Rule::Viewer),
    ("GET", GROUP, "/status/confirmation", Rule::Viewer),
    ("GET", GROUP, "/history", Rule::Viewer),
    ("GET", CLUSTER, "", Rule::Operator),
    ("PUT", CLUSTER, "", Rule::Operator),
    ("DELETE", CLUSTER, "", Rule::Operator),
    ("GET", CLUSTER, "/network-intents", Rule::AnyOfGroup),
    ("PUT", CLUSTER, "/network-intents", Rule::Deployer),
    ("DELETE", CLUSTER, "/network-intents", Rule::Deployer),
    ("POST", CLUSTER, "/network-intents/apply", Rule::Deployer),
    (
        "POST",
        CLUSTER,
        "/network-intents/terminate",
        Rule::Deployer,
    ),
    ("POST", CLUSTER, "/network-intents/dry-run", Rule::Deployer),
    ("GET", "/v2/replication", "", Rule::ViewerOfEverything),
    ("POST", CLUSTER, "/reports", Rule::Agent),
    ("GET", CLUSTER, "/reports/needs", Rule::Agent),
    ("GET", CLUSTER, "/status", Rule::Viewer),
    ("GET", CLUSTER, "/status/watch", Rule::Viewer),
    ("GET", CLUSTER, "/status/confirmation", Rule::Viewer),
    ("GET", LOGICAL_CLOUD, "/status", Rule::Viewer),
    ("GET", LOGICAL_CLOUD, "/status/watch", Rule::Viewer),
    ("GET", LOGICAL_CLOUD, "/status/confirmation", Rule::Viewer),
    ("GET", "/v1/instance", "", Rule::Viewer),
    ("GET", INSTANCE, "", Rule::Viewer),
    ("GET", INSTANCE, "/status", Rule::Viewer),
    ("GET", CLUSTER, "/fixture", Rule::ViewerOfEverything),
    ("POST", "/v2/interpret", "", Rule::Viewer),
    ("POST", "/v2/compare", "", Rule::Operator),
    ("GET", "/v2/missing-rules", "", Rule::Viewer),
    ("GET", INTERPRETERS, "", Rule::OperatorOrAnyViewer),
    ("POST", INTERPRETERS, "", Rule::Operator),
    ("DELETE", INTERPRETERS, "", Rule::Operator),
    ("GET", INTERPRETER, "", Rule::OperatorOrViewer),
    ("PUT", INTERPRETER, "", Rule::Operator),
    ("DELETE", INTERPRETER, "", Rule::Operator),
    ("POST", INTERPRETER, "/shadow", Rule::Operator),
    ("POST", INTERPRETER, "/promote", Rule::Operator),
    ("POST", INTERPRETER, "/rollback", Rule::Operator),
    ("POST", INTERPRETER, "/disable", Rule::Operator),
    ("POST", INTERPRETER, "/enable", Rule::Operator),
    ("PUT", INTERPRETER, "/settings", Rule::Operator),
    ("DELETE", INTERPRETER, "/settings", Rule::Operator),
];

/// Routes that a replica answers: method, and the path as one or two parts. Their answers depend on the replicated state,
/// or are about the server itself. A replica refuses all other routes.
const REPLICA: &[(&str, &str, &str)] = &[
    ("GET", "/", ""),
    ("GET", "/page/{file}", ""),
    ("GET", "/healthz", ""),
    ("GET", "/readyz", ""),
    ("GET", "/metrics", ""),
    ("GET", "/openapi.json", ""),
    ("GET", "/v2/session", ""),
    ("POST", "/v2/session", ""),
    ("DELETE", "/v2/session", ""),
    ("GET", "/v2/session", "/oidc"),
    ("GET", "/v2/session", "/oidc/callback"),
    ("GET", "/v2/applications", ""),
    ("GET", "/v2/applications/watch", ""),
    ("GET", "/v2/clusters", ""),
    ("GET", "/v2/notify", ""),
    ("POST", "/v2/notify/{receiver}/test", ""),
    ("GET", GROUP, "/status"),
    ("GET", GROUP, "/status/watch"),
    ("GET", GROUP, "/history"),
    ("GET", "/v2/replication", ""),
    ("GET", CLUSTER, "/status"),
    ("GET", CLUSTER, "/status/watch"),
    ("GET", LOGICAL_CLOUD, "/status"),
    ("GET", LOGICAL_CLOUD, "/status/watch"),
    ("GET", "/v1/instance", ""),
    ("GET", INSTANCE, ""),
    ("GET", INSTANCE, "/status"),
];

/// Returns whether a replica answers a route.
pub(crate) fn is_answered_by_replica(method: &Method, path: &str) -> bool {
    let method = read_as(method);
    REPLICA.iter().any(|(of, first, rest)| {
        *of == method && path.strip_prefix(first).is_some_and(|end| end == *rest)
    })
}

/// The method of the route: `HEAD` is answered like `GET`.
fn read_as(method: &Method) -> &str {
    if *method == Method::HEAD {
        Method::GET.as_str()
    } else {
        method.as_str()
    }
}

/// The rules by path and method.
#[derive(Debug)]
pub(crate) struct Rules(HashMap<String, HashMap<&'static str, Rule>>);

impl Default for Rules {
    fn default() -> Self {
        let mut rules: HashMap<String, HashMap<&str, Rule>> = HashMap::new();
        for (method, path, rest, rule) in RULES {
            let of_path = rules.entry(format!("{path}{rest}")).or_default();
            of_path.insert(method, *rule);
        }
        Self(rules)
    }
}

impl Rules {
    /// The rule of a request; `None` for a route without a rule. A path that is no route, and a method that a route does
    /// not answer, need an authenticated user.
    pub(crate) fn find(&self, method: &Method, path: Option<&str>) -> Option<Rule> {
        let Some(path) = path else {
            return Some(Rule::User);
        };
        let of_path = self.0.get(path)?;
        Some(of_path.get(read_as(method)).copied().unwrap_or(Rule::User))
    }
}
