//! Lists of applications and clusters, and the status of applications that were found.

use kindsight_model::{
    ClusterFacts, Coverage, Digest, InterpretedBy, KindCoverage, KindState, ReportMode, Scope,
};
use kindsight_status::{
    Before, ConnectionState, ConnectionView, Reported, TransitionCause, transitions,
};

use super::*;

pub(super) const SHOP: &str =
    "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/web/status";

pub(super) fn shop() -> DigName {
    DigName::found("shop", Some("web")).unwrap()
}

/// A verdict of an interpreter.
fn crashing() -> Verdict {
    let by = InterpretedBy::new("apps".parse().unwrap(), "1.0.0", Digest::of(b"apps"));
    let verdict = Verdict {
        since_ms: Some(0),
        ..Verdict::host(Phase::Failed, "Crashing", "it crashes")
    };
    verdict.given_by(&Arc::new(by))
}

/// Publishes a found application that failed, and a lost connection to its cluster.
pub(super) fn publish(writer: &mut ReadModelWriter) {
    let cluster = ClusterName::new("kubeconfig", "prod").unwrap();
    let front = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"front","namespace":"web"}}"#;
    let input = ClusterInput {
        cluster: cluster.clone(),
        namespace: "".into(),
        expected: Vec::new(),
        reported: Some(Reported {
            objects: [Object::from_json(front).unwrap()].into(),
            verdicts: vec![crashing()],
            hooks: [].into(),
            ..Reported::default()
        }),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    let view = project(input, None, 0);
    let unanswered = "kubeconfig+prod: Crane.example.org: it answers 500";
    let view = view.with_unanswered([unanswered.into()].into());
    let view = ContextView {
        meta: Some(shop()),
        apps: vec![AppView::new("front".into(), vec![Arc::new(view)])],
        ..ContextView::default()
    };
    let of = ApplicationKey::Found(shop());
    let cause = TransitionCause::Interpreters;
    let transitions = transitions(Before::Nothing, &view, cause, 0);
    writer.publish(&of, view, transitions);
    let connection = ConnectionView {
        owner: kindsight_status::ClusterOwner {
            host: Some("10.0.0.1:9015".into()),
            fence: 7,
            is_remote: false,
        },
        state: ConnectionState::Stale,
        since_ms: 0,
        reason: Some("the cluster cannot be reached: refused".into()),
        faults: ["report `x.json`: bad".into()].into(),
        heard_ms: Some(0),
        facts: Some(Arc::new(ClusterFacts {
            origin: "admin@prod".into(),
            identity: None,
            mode: ReportMode::Direct,
            selector: Some("team=web".into()),
            server_version: Some("v1.34.1".into()),
            objects: 1,
            watches: 50,
            sessions: 2,
            watch_failures: 3,
            ..ClusterFacts::default()
        })),
        coverage: Some(secrets_are_forbidden()),
    };
    writer.publish_connection(&cluster, Some(connection));
}

#[tokio::test]
async fn every_application_is_listed() {
    let answer = get("/v2/applications").await;
    assert_eq!(answer.status, StatusCode::OK);
    let json = answer.json();
    let names = json["applications"].as_array().unwrap().iter();
    let names: Vec<_> = names
        .map(|application| &application["composite-app-name"])
        .collect();
    assert_eq!(names, ["shop", "compositevfw"]);
    let shop = &json["applications"][0];
    assert_eq!(shop["ready-status"], "Failed");
    assert_eq!(shop["worst"]["name"], "front");
    assert_eq!(shop["since"], "1970-01-01T00:00:00Z");
}

#[tokio::test]
async fn a_list_is_filtered_and_wrong_filters_are_reported() {
    let listed = async |query: &str| {
        let json = get(&format!("/v2/applications?{query}")).await.json();
        json["applications"].as_array().unwrap().len()
    };
    assert_eq!(listed("state=failed&cluster=kubeconfig%2Bprod").await, 1);
    assert_eq!(listed("state=ready").await, 0);
    assert_eq!(listed("name=vfw_deployment_intent_group").await, 1);
    let answer = get("/v2/applications?name=shpo").await;
    answer.problem(StatusCode::NOT_FOUND);
    let expected = answer.json()["problems"][0]["expected"].clone();
    assert_eq!(expected, "one of `-/shop/-/web`");
    for query in ["state=well", "x=1", "cluster=prod"] {
        let answer = get(&format!("/v2/applications?{query}")).await;
        answer.problem(StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn a_found_application_is_answered_on_the_route_of_groups() {
    let json = get(SHOP).await.json();
    assert_eq!(
        (&json["project"], &json["name"]),
        (&"-".into(), &"web".into())
    );
    assert_eq!(json["ready-status"], "Failed");
    let json = get(&format!("{SHOP}?type=rsync")).await.json();
    assert_eq!(json.get("ready-status"), None);
    get(&format!("{SHOP}?instance="))
        .await
        .problem(StatusCode::BAD_REQUEST);
    get(&SHOP.replace("/web/", "/other/"))
        .await
        .problem(StatusCode::NOT_FOUND);
    for wrong in ["/shop/v1/", "/-/-/", "/a..%20/-/"] {
        let answer = get(&SHOP.replace("/shop/-/", wrong)).await;
        assert_eq!(
            answer.problem(StatusCode::BAD_REQUEST),
            "the path is not valid"
        );
        assert_eq!(
            answer.json()["problems"].as_array().unwrap().len(),
            1,
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn every_cluster_is_listed_with_its_connection() {
    let json = get("/v2/clusters").await.json();
    assert_eq!(
        json,
        serde_json::json!({"clusters": [{
            "cluster-provider": "kubeconfig",
            "cluster": "prod",
            "origin": "admin@prod",
            "mode": "direct",
            "selector": "team=web",
            "connection": "stale",
            "since": "1970-01-01T00:00:00Z",
            "error": "the cluster cannot be reached: refused",
            "server-version": "v1.34.1",
            "coverage": "partial",
            "not-covered": ["Secret: forbidden"],
            "objects": 1,
            "watches": 50,
            "last-event": "1970-01-01T00:00:00Z",
            "faults": ["report `x.json`: bad"],
            // Its owner has not listed it yet.
            "owner": {"host": "10.0.0.1:9015"},
        }]})
    );
    get("/v2/clusters?name=prod")
        .await
        .problem(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_history_is_answered_and_wrong_queries_are_reported() {
    let history = SHOP.replace("/status", "/history");
    let json = get(&format!("{history}?resource=front&limit=1"))
        .await
        .json();
    let transition = &json["transitions"][0];
    assert_eq!(json["transitions"].as_array().unwrap().len(), 1);
    assert_eq!(transition["to"]["state"], "Failed");
    assert_eq!(transition["cause"], "interpreters");
    assert_eq!(transition["interpreter"]["name"], "apps");
    let json = get(&history).await.json();
    assert_eq!(json["transitions"].as_array().unwrap().len(), 2);
    // A recorded application without transitions.
    let recorded = get(&STATUS.replace("/status", "/history")).await.json();
    assert_eq!(
        (&recorded["instance"], &recorded["transitions"]),
        (&"7".into(), &Value::from(vec![0; 0]))
    );
    for (wrong, status) in [
        ("?resource=other", StatusCode::NOT_FOUND),
        ("?limit=0", StatusCode::BAD_REQUEST),
        ("?type=cluster", StatusCode::BAD_REQUEST),
        ("?instance=7", StatusCode::BAD_REQUEST),
    ] {
        get(&format!("{history}{wrong}")).await.problem(status);
    }
    let answer = get(&history.replace("/web/", "/other/")).await;
    answer.problem(StatusCode::NOT_FOUND);
    let answer = get(&format!(
        "{}?instance=9",
        STATUS.replace("/status", "/history")
    ))
    .await;
    answer.problem(StatusCode::NOT_FOUND);
}

fn secrets_are_forbidden() -> Coverage {
    let mut coverage = Coverage::nothing();
    let forbidden = KindCoverage::caused(KindState::Forbidden, "forbidden");
    coverage.set("", "Secret", Scope::Cluster, forbidden);
    coverage
}
