//! Agents with credentials, over TLS. Their source is this test.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use kindsight_cluster::{Authority, Client, Credentials};
use kindsight_clusters::{ClusterEvent, ClusterSource, PushedCluster};
use kindsight_model::ClusterName;
use kindsight_push::{Credentials as PushCredentials, PushOptions, Pusher, SPOOL_BYTES_MAX};
use kindsight_server::access::{AccessSettings, TlsSettings, TokenFile};
use kindsight_server::{Server, Settings};
use kindsight_store::RedbStore;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use ureq::http::Method;

use crate::code_cache;
use crate::stage::PATIENCE;

const ROLES: &str = r#"
[[binding]]
role = "viewer"
users = ["token:agent"]

[[binding]]
role = "agent"
users = ["token:agent", "certificate:agent"]
clusters = ["p+edge*"]
"#;

/// A server over TLS with the clusters `p+edge01` and `p+other`, and the token of an agent for the first one.
struct SecureStage {
    client: Client,
    url: String,
    authority: Authority,
    token: String,
    runtime: Runtime,
    folder: TempDir,
}

impl SecureStage {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let authority = Authority::new("tests");
        let identity = authority.server(None);
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        let tokens = file("tokens.toml", "version = 1");
        let name = "agent".parse().expect("a name");
        let expires = "2999-01-01T00:00:00Z".parse().expect("a time");
        let token = TokenFile::create(&tokens, name, expires).expect("a token");
        let token = token.text.to_string();
        let ca = file("ca.crt", authority.certificate());
        let store = Arc::new(RedbStore::in_memory().expect("a store"));
        let pushed = |name: &str| {
            let name: ClusterName = name.parse().expect("a name");
            ClusterSource::Pushed(PushedCluster::new(name))
        };
        let settings = Settings {
            clusters: vec![pushed("p+edge01"), pushed("p+other")],
            tls: Some(TlsSettings {
                cert: file("server.crt", &identity.certificate),
                key: file("server.key", &identity.key),
                client_ca: Some(ca),
                client_crl: None,
            }),
            access: Some(AccessSettings {
                roles: file("roles.toml", ROLES),
                tokens: Some(tokens),
                verifiers: Vec::new(),
                code_flow: None,
            }),
            cache: Some(code_cache::folder()),
            ..Settings::new(store)
        };
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let url = format!("https://{}", server.address());
        runtime.spawn(async move { server.failed().await });
        let credentials = Credentials::Token(token.clone());
        Self {
            client: Client::new(&url, Some(authority.certificate()), &credentials),
            url,
            authority,
            token,
            runtime,
            folder,
        }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    /// Starts an agent whose source says that everything was reported.
    fn push(&self, cluster: &str, credentials: PushCredentials) -> CancellationToken {
        let options = PushOptions {
            to: self.url.clone(),
            credentials,
            ca: Some(self.folder.path().join("ca.crt")),
            cluster: cluster.parse().expect("a name"),
            spool_dir: self.folder.path().join(format!("spool-{cluster}")),
            spool_bytes_max: SPOOL_BYTES_MAX,
        };
        let cluster = options.cluster.clone();
        let (pusher, _needs) = Pusher::new(options).expect("a pusher");
        let (events_tx, events) = mpsc::channel(4);
        events_tx
            .try_send(ClusterEvent::Synced { cluster })
            .expect("room");
        let shutdown = CancellationToken::new();
        let running = pusher.run(events, shutdown.clone());
        self.runtime.spawn(async move {
            running.await;
            drop(events_tx);
        });
        shutdown
    }

    fn is_connected(&self, cluster: &str) -> bool {
        let answer = self.client.get("/v2/clusters").unwrap_or_default();
        let mut clusters = answer["clusters"].as_array().into_iter().flatten();
        let (provider, name) = cluster.split_once('+').expect("a provider");
        clusters.any(|known| {
            let is_it = known["cluster"] == name && known["cluster-provider"] == provider;
            is_it && known["connection"] == "connected"
        })
    }

    fn wait_until_connected(&self, cluster: &str) {
        let began = Instant::now();
        while !self.is_connected(cluster) {
            let clusters = || self.client.get("/v2/clusters").unwrap_or_default();
            assert!(began.elapsed() < PATIENCE, "{:#}", clusters());
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}

#[test]
fn an_agent_reads_its_token_again_when_the_file_changes() {
    let stage = SecureStage::start();
    let file = stage.file("agent.token", "kindsight_unknown_token");
    let agent = stage.push("p+edge01", PushCredentials::TokenFile(file.clone()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(!stage.is_connected("p+edge01"));
    fs::write(&file, &stage.token).expect("a file");
    stage.wait_until_connected("p+edge01");
    agent.cancel();
}

#[test]
fn an_agent_can_have_a_client_certificate() {
    let stage = SecureStage::start();
    let own = stage.authority.client("agent", "tests", None);
    let credentials = PushCredentials::Certificate {
        certificate: stage.file("agent.crt", &own.certificate),
        key: stage.file("agent.key", &own.key),
    };
    let agent = stage.push("p+edge01", credentials);
    stage.wait_until_connected("p+edge01");
    agent.cancel();
}

#[test]
fn an_agent_is_refused_for_a_cluster_that_its_role_does_not_name() {
    let stage = SecureStage::start();
    let path = |cluster: &str| {
        format!(
            "/v2/cluster-providers/p/clusters/{cluster}/reports?format=1&agent=a&epoch=1&sequence=0"
        )
    };
    let post = |client: &Client, cluster: &str| {
        let body = json!("x");
        let answer = client.request(
            Method::POST,
            &path(cluster),
            Some(("application/gzip", &body)),
        );
        let answer = answer.expect("an answer");
        (answer.status, answer.body.to_string())
    };
    let (status, text) = post(&stage.client, "other");
    assert_eq!(status, 403, "{text}");
    assert!(
        text.contains("needs the role `agent` for this cluster"),
        "{text}"
    );
    // Its own cluster: the body is read.
    let (status, text) = post(&stage.client, "edge01");
    assert_eq!(status, 422, "{text}");
    assert!(text.contains("not gzip"), "{text}");
    // No cluster of this name is configured.
    assert_eq!(post(&stage.client, "edge99").0, 404);
    let nobody = Client::new(
        &stage.url,
        Some(stage.authority.certificate()),
        &Credentials::Nobody,
    );
    assert_eq!(post(&nobody, "edge01").0, 401);
}
