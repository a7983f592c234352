//! The routes of ONAP's Kubernetes plugin.

use kindsight_api::k8splugin::{
    RbInstance, RbInstanceParameters, RbInstanceRefusal, RbInstanceRequest, RbInstanceStatus,
    RbInstanceSummary,
};
use kindsight_read_model::VisibleModel;

use super::*;
use crate::RbInstances;

/// One instance, `a`. Its status is stale.
pub(super) struct SampleInstances;

fn request() -> RbInstanceRequest {
    RbInstanceRequest {
        rb_name: "vfw".to_owned(),
        ..RbInstanceRequest::default()
    }
}

fn check(id: &str) -> Result<(), RbInstanceRefusal> {
    match id {
        "a" => Ok(()),
        "b" => Err(RbInstanceRefusal::Ambiguous(
            "it is in two clusters".to_owned(),
        )),
        _ => Err(RbInstanceRefusal::NotFound("there is none".to_owned())),
    }
}

impl RbInstances for SampleInstances {
    fn list(&self, _: &VisibleModel, by: &RbInstanceParameters) -> Vec<RbInstanceSummary> {
        let summary = RbInstanceSummary {
            id: "a".to_owned(),
            request: request(),
            release_name: String::new(),
            namespace: "web<1>".to_owned(),
        };
        let is_selected = by.rb_name.as_deref().is_none_or(|name| name == "vfw");
        is_selected.then_some(summary).into_iter().collect()
    }

    fn get(&self, _: &VisibleModel, id: &str) -> Result<RbInstance, RbInstanceRefusal> {
        check(id).map(|()| RbInstance {
            id: id.to_owned(),
            request: request(),
            namespace: String::new(),
            release_name: String::new(),
            resources: Vec::new(),
        })
    }

    fn status(
        &self,
        _: &VisibleModel,
        id: &str,
    ) -> Result<(RbInstanceStatus, Option<String>), RbInstanceRefusal> {
        check(id)?;
        let status = RbInstanceStatus {
            request: request(),
            ready: false,
            resource_count: 0,
            resources_status: Vec::new(),
        };
        Ok((status, Some("the cluster is \"away\"".to_owned())))
    }
}

async fn ask(uri: &str, limits: Limits) -> Answered {
    let state = AppState {
        instances: Some(Arc::new(SampleInstances)),
        ..state(limits)
    };
    send(router(state), "GET", uri, Body::empty()).await
}

#[tokio::test]
async fn answers_are_encoded_as_the_plugin_does() {
    let list = ask("/v1/instance?rb-name=vfw", Limits::default()).await;
    assert_eq!(list.json()[0]["id"], "a");
    // Go's encoder.
    assert!(
        list.text.ends_with("]\n") && list.text.contains("web\\u003c1\\u003e"),
        "{}",
        list.text
    );
    let none = ask("/v1/instance?rb-name=other", Limits::default()).await;
    assert_eq!(none.text, "[]\n");
    let instance = ask("/v1/instance/a", Limits::default()).await;
    assert_eq!(instance.json()["request"]["rb-name"], "vfw");
    let status = ask("/v1/instance/a/status", Limits::default()).await;
    assert_eq!(status.json()["resourcesStatus"], Value::Array(Vec::new()));
    assert_eq!(
        status.header(header::WARNING),
        "110 kindsight \"the cluster is 'away'\""
    );
}

#[tokio::test]
async fn errors_have_their_codes() {
    for (uri, status) in [
        ("/v1/instance/b", StatusCode::CONFLICT),
        ("/v1/instance/c/status", StatusCode::NOT_FOUND),
        ("/v1/instance?full=true", StatusCode::BAD_REQUEST),
        ("/v1/instance/a?full=true", StatusCode::BAD_REQUEST),
    ] {
        ask(uri, Limits::default()).await.problem(status);
    }
    let detail = get("/v1/instance").await.problem(StatusCode::NOT_FOUND);
    assert!(detail.contains("--k8splugin"), "{detail}");
    let limits = Limits {
        answer_bytes_max: 20,
        ..Limits::default()
    };
    let refused = ask("/v1/instance/a/status", limits).await;
    let detail = refused.problem(StatusCode::BAD_REQUEST);
    assert!(detail.contains("`answer-bytes-max`"), "{detail}");
}
