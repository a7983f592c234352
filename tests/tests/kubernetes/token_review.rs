//! Reviews of tokens by a real API server.

use std::thread;
use std::time::{Duration, Instant};

use kindsight_access::{TokenError, Verified, VerifyToken as _};
use kindsight_cluster::{Binaries, Binary, Cluster, Credentials, Etcd, Options, write_kubeconfig};
use kindsight_clusters::{ClusterSource, KubernetesCluster};
use kindsight_model::ClusterName;
use kindsight_server::TokenReviews;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::stage::{PATIENCE, roles};

/// The token of the reviewer, which may only create reviews.
const REVIEWER: &str = "reviewertoken";

/// An API server, and a verifier that asks it.
struct Stage {
    cluster: Cluster,
    reviews: TokenReviews,
    runtime: Runtime,
    _etcd: Etcd,
}

impl Stage {
    /// `None` if the executables are not available.
    fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        let etcd = Etcd::start(&binaries);
        let options = Options::api_server("edge01").user("reviewer", &[], REVIEWER);
        let cluster = Cluster::start(&etcd, &options);
        let kubeconfig = cluster.folder().join("reviewer");
        let credentials = Credentials::Token(REVIEWER.to_owned());
        write_kubeconfig(&kubeconfig, &[("edge01", &cluster, &credentials)]);
        let name: ClusterName = "provider+edge01".parse().expect("a name");
        let watched = KubernetesCluster::from_kubeconfig(name.clone(), kubeconfig, None);
        let watched = vec![ClusterSource::Kubernetes(Box::new(watched))];
        let (_, watched) = watch::channel(watched);
        Some(Self {
            cluster,
            reviews: TokenReviews::new(&name, &watched).expect("a watched cluster"),
            runtime: Runtime::new().expect("an executor"),
            _etcd: etcd,
        })
    }

    /// Grants what `deploy/` grants for reviews.
    fn grant(&self) {
        let mut roles = roles().into_iter();
        let role = roles.find(|role| role["metadata"]["name"] == "kindsight-token-review");
        self.cluster.apply(&role.expect("the role"));
        self.cluster.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "reviewer"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                "name": "kindsight-token-review",
            },
            "subjects": [{"kind": "User", "name": "reviewer", "apiGroup": "rbac.authorization.k8s.io"}],
        }));
    }

    /// A token of the `ServiceAccount` `ci`, for an audience or for the API server.
    fn token(&self, audience: Option<&str>) -> String {
        self.cluster.apply(&json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "ci"},
        }));
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"audiences": audience.into_iter().collect::<Vec<_>>()},
        });
        let path = "/api/v1/namespaces/default/serviceaccounts/ci/token";
        let answer = self.cluster.client().create(path, &request);
        let token = answer["status"]["token"].as_str();
        token.expect("a token").to_owned()
    }

    /// Verifies a token. No error may contain the token.
    fn verify(&self, token: &str) -> Result<Verified, TokenError> {
        let verified = self.runtime.block_on(self.reviews.verify(token));
        if let Err(error) = &verified {
            assert!(!format!("{error:?} {error}").contains(token), "{error:?}");
        }
        verified
    }

    fn assert_refused(&self, token: &str) {
        let verified = self.verify(token);
        assert!(
            matches!(verified, Err(TokenError::Refused(_))),
            "{verified:?}"
        );
    }

    fn assert_unavailable(&self, token: &str, expected: &str) {
        match self.verify(token) {
            Err(TokenError::Unavailable(why)) => assert!(why.contains(expected), "{why}"),
            verified => panic!("{verified:?}"),
        }
    }
}

#[test]
fn a_token_is_accepted_only_for_the_audience_and_while_its_account_exists() {
    let Some(mut stage) = Stage::start() else {
        return;
    };
    let token = stage.token(Some("kindsight"));
    stage.assert_unavailable(&token, "not allowed: ");
    stage.grant();
    let begin = Instant::now();
    // The API server takes a moment to learn the role.
    while stage.verify(&token).is_err() {
        assert!(begin.elapsed() < PATIENCE, "no review");
        thread::sleep(Duration::from_millis(50));
    }
    let Verified { user, expires_ms } = stage.verify(&token).expect("a user");
    assert_eq!(user.name(), "kubernetes:system:serviceaccount:default:ci");
    let group = "kubernetes:system:serviceaccounts:default".to_owned();
    assert!(user.groups().contains(&group), "{user:?}");
    assert_eq!(expires_ms, None);

    stage.assert_refused(&stage.token(None));
    stage.assert_refused(&stage.token(Some("vault")));
    // A token of a static file has no audience, so that it is accepted only for the API server itself.
    stage.assert_refused(REVIEWER);
    for garbage in ["", "garbage", "a.b.c", &"x".repeat(16 * 1024)] {
        let verified = stage.runtime.block_on(stage.reviews.verify(garbage));
        assert!(
            matches!(verified, Err(TokenError::Refused(_))),
            "{verified:?}"
        );
    }
    let (head, signature) = token.rsplit_once('.').expect("a JWT");
    stage.assert_refused(&format!("{head}.{}", signature.to_uppercase()));

    stage.cluster.kill();
    stage.assert_unavailable(&token, "provider+edge01");
    stage.cluster.start_again();
    assert!(stage.verify(&token).is_ok());
    stage
        .cluster
        .delete("/api/v1/namespaces/default/serviceaccounts/ci");
    let begin = Instant::now();
    // The API server remembers accepted tokens for some seconds.
    while stage.verify(&token).is_ok() {
        assert!(begin.elapsed() < PATIENCE, "still accepted");
        thread::sleep(Duration::from_millis(50));
    }
    stage.assert_refused(&token);
}
