//! Requests through the complete router, without a network.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use kindsight_api::status::Dialect;
use kindsight_model::{
    ClusterName, ContextId, DigName, LogicalCloudName, Object, Phase, RecordSubject, Verdict,
};
use kindsight_read_model::ReadModelWriter;
use kindsight_status::{
    ActionView, AppView, ApplicationKey, ClusterInput, ContextView, Expected, RecordView, project,
};
use serde_json::Value;
use tower::ServiceExt;

use crate::{AllowedNames, AppState, Judge, Limits, Slots, router};
use catalog::SampleCatalog;

mod access;
mod allowed;
mod answers;
mod applications;
mod catalog;
mod commands;
mod compared;
mod confirmations;
mod connections;
mod cross_origin;
mod dialect;
mod documented;
mod interpreters;
mod k8splugin;
mod limited;
mod metrics;
mod notify;
mod page;
mod pushes;
mod request_ids;
mod scopes;
mod session;
mod session_oidc;
mod streams;
mod tls;
mod waits;

const STATUS: &str = "/v2/projects/testvfw/composite-apps/compositevfw/v1/deployment-intent-groups/vfw_deployment_intent_group/status";
const CLUSTER_STATUS: &str = "/v2/cluster-providers/vfw-cluster-provider/clusters/edge01/status";
const LOGICAL_CLOUD_STATUS: &str = "/v2/projects/testvfw/logical-clouds/lc1/status";

/// Returns `Ready` for every object, except for some Kinds with a special behaviour.
struct AlwaysReady;

impl Judge for AlwaysReady {
    fn judge(
        &self,
        objects: Vec<Object>,
        now_ms: i64,
    ) -> Pin<Box<dyn Future<Output = Vec<Verdict>> + Send + '_>> {
        Box::pin(async move {
            let kinds: BTreeSet<&str> = objects.iter().map(|object| &*object.gvk.kind).collect();
            assert!(!kinds.contains("Panic"), "told to panic");
            if kinds.contains("Never") {
                std::future::pending::<()>().await;
            }
            let verdict = Verdict::host(Phase::Ready, "", format!("at {now_ms}"));
            vec![verdict; objects.len()]
        })
    }
}

fn context(id: &ContextId, app: &str, kind: &str, name: &str) -> ContextView {
    let manifest =
        format!(r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"{name}"}}}}"#);
    let manifest = Object::from_json(manifest).unwrap();
    let input = ClusterInput {
        cluster: ClusterName::new("vfw-cluster-provider", "edge01").unwrap(),
        namespace: "default".into(),
        expected: vec![Expected::new(manifest, None)],
        reported: None,
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    ContextView {
        id: Some(id.clone()),
        status: Some("Instantiated".into()),
        apps: vec![AppView::new(
            app.into(),
            vec![Arc::new(project(input, None, 0))],
        )],
        ..ContextView::default()
    }
}

fn record(state: &str, id: &ContextId) -> RecordView {
    RecordView {
        actions: vec![ActionView {
            state: serde_json::from_value(state.into()).unwrap(),
            instance: Some(id.clone()),
            time: "2020-08-21T05:36:54.186Z".into(),
            revision: 0,
        }],
        ..RecordView::default()
    }
}

/// A read model with the applications of the tests.
fn published() -> ReadModelWriter {
    let [dig, cluster]: [ContextId; 2] = ["7", "8"].map(|id| id.parse().unwrap());
    let dig_name = DigName::new(
        "testvfw",
        "compositevfw",
        "v1",
        "vfw_deployment_intent_group",
    )
    .unwrap();
    let cluster_name = ClusterName::new("vfw-cluster-provider", "edge01").unwrap();
    let mut writer = ReadModelWriter::default();
    let dig_name = RecordSubject::Group(dig_name);
    writer.publish_record(&dig_name, Some(record("Instantiated", &dig)));
    let cluster_name = RecordSubject::Cluster(cluster_name);
    writer.publish_record(&cluster_name, Some(record("Applied", &cluster)));
    let cloud = ActionView {
        revision: 1,
        ..record("Instantiated", &cluster).actions.remove(0)
    };
    let cloud = RecordView {
        actions: vec![cloud],
        ..RecordView::default()
    };
    let cloud_name = LogicalCloudName::new("testvfw", "lc1").unwrap();
    writer.publish_record(&RecordSubject::LogicalCloud(cloud_name), Some(cloud));
    for context in [
        context(&dig, "sink", "ConfigMap", "sink-configmap"),
        context(&cluster, "network-intents", "Network", "private-net"),
    ] {
        let key = ApplicationKey::Context(context.id.clone().unwrap());
        writer.publish(&key, context, Vec::new());
    }
    applications::publish(&mut writer);
    writer
}

fn state(limits: Limits) -> AppState {
    state_of(&published(), limits)
}

fn state_of(model: &ReadModelWriter, limits: Limits) -> AppState {
    AppState {
        replica_of: None,
        read_model: model.read_model().clone(),
        judge: Arc::new(AlwaysReady),
        confirm: Arc::new(confirmations::SampleClusters),
        waits: Arc::new(waits::SampleWaits::default()),
        pushes: Arc::new(pushes::SamplePushes),
        scopes: Arc::new(scopes::SampleScopes),
        catalog: Arc::new(SampleCatalog::default()),
        lifecycle: None,
        clusters: None,
        notifications: None,
        instances: None,
        missing: Arc::new(Vec::new),
        notes: Arc::new(Vec::new),
        clock: Arc::new(|| 1_597_988_400_000),
        access: None,
        allowed_names: Arc::new(AllowedNames::default()),
        dialect: Dialect::default(),
        limits,
        slots: Slots::new(&limits),
        metrics: Arc::new(metrics::SampleMetrics::default()),
    }
}

/// A completely read answer.
struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    fn header(&self, name: header::HeaderName) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// Checks that the answer is a problem document, and returns its detail.
    fn problem(&self, status: StatusCode) -> String {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(
            self.header(header::CONTENT_TYPE),
            "application/problem+json"
        );
        let json = self.json();
        assert_eq!(json["type"], "about:blank");
        assert_eq!(json["status"], status.as_u16());
        assert_eq!(json["title"], status.canonical_reason().unwrap());
        json["detail"].as_str().unwrap().to_owned()
    }
}

/// Sends a body with the content type of its route.
async fn send(router: Router, method: &str, uri: &str, body: impl Into<Body>) -> Answered {
    let is_unnamed = method == "POST" && uri.starts_with("/v2/interpreters?");
    let is_load = is_unnamed || (method == "PUT" && !uri.contains("/settings"));
    let media_type = if is_load || uri.starts_with("/v2/compare") {
        "application/wasm"
    } else {
        "application/json"
    };
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header(header::CONTENT_TYPE, media_type)
        .body(body.into())
        .unwrap();
    answered(router, request).await
}

async fn answered(router: Router, request: Request<Body>) -> Answered {
    let response = router.oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    Answered {
        status: parts.status,
        headers: parts.headers,
        text: String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

async fn get(uri: &str) -> Answered {
    send(router(state(Limits::default())), "GET", uri, Body::empty()).await
}

async fn post(uri: &str, body: &str) -> Answered {
    send(
        router(state(Limits::default())),
        "POST",
        uri,
        body.to_owned(),
    )
    .await
}
