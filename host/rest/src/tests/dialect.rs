//! EMCO's newer dialect: the choice of it, its answers and its errors over HTTP.

use kindsight_status::StoreAway;
use serde_json::json;

use super::*;

const V22: &str = "application/vnd.emco.v22+json";
const OURS: &str = "application/vnd.kindsight+json";

/// The answer of a server with this setting to a request with this value of `Accept`.
async fn asked(setting: Dialect, accept: &str, uri: &str) -> Answered {
    let state = AppState {
        dialect: setting,
        ..state(Limits::default())
    };
    let mut request = Request::builder().uri(uri);
    if !accept.is_empty() {
        request = request.header(header::ACCEPT, accept);
    }
    answered(router(state), request.body(Body::empty()).unwrap()).await
}

async fn emco(uri: &str) -> Answered {
    asked(Dialect::V22, "", uri).await
}

/// Checks that the answer is an error in the form of EMCO's services: one line of text.
fn check_refusal(answer: &Answered, status: StatusCode, text: &str) {
    assert_eq!((answer.status, &*answer.text), (status, text));
    let media_type = answer.header(header::CONTENT_TYPE);
    assert_eq!(media_type, "text/plain; charset=utf-8");
    assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    assert_eq!(answer.header(header::VARY), "accept");
}

#[tokio::test]
async fn an_answer_is_one_line_of_json_in_the_order_of_emco() {
    let answer = emco(&format!("{STATUS}?status=ready&output=detail")).await;
    let expected = concat!(
        r#"{"project":"testvfw","compositeApp":"compositevfw","compositeAppVersion":"v1","#,
        r#""name":"vfw_deployment_intent_group","states":{"statusctxid":"","actions":["#,
        r#"{"state":"Instantiated","instance":"7","time":"2020-08-21T05:36:54.186Z","revision":0}]},"#,
        r#""deployedStatus":"Instantiated","readyStatus":"NotReady","readyCounts":{"NotPresent":1},"#,
        r#""apps":[{"name":"sink","clusters":[{"clusterProvider":"vfw-cluster-provider","#,
        r#""cluster":"edge01","connectivity":"Unknown","resources":["#,
        r#"{"GVK":{"Group":"","Version":"v1","Kind":"ConfigMap"},"name":"sink-configmap","#,
        r#""detail":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"sink-configmap"}},"#,
        r#""readyStatus":"NotPresent"}]}]}]}"#,
        "\n",
    );
    assert_eq!(answer.text, expected);
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/json");
    assert_eq!(answer.header(header::VARY), "accept");
    assert_eq!(answer.header(header::WARNING), "");
}

#[tokio::test]
async fn equal_urls_have_an_answer_for_each_dialect() {
    let router = router(state(Limits::default()));
    for (accept, member) in [(OURS, "rsync-status"), (V22, "rsyncStatus")].repeat(2) {
        let request = Request::builder().uri(STATUS);
        let request = request.header(header::ACCEPT, accept);
        let answer = answered(router.clone(), request.body(Body::empty()).unwrap()).await;
        assert!(answer.json()[member].is_object(), "{}", answer.text);
    }
}

#[tokio::test]
async fn the_request_selects_the_dialect_and_the_setting_is_the_default() {
    let ready = format!("{STATUS}?status=ready");
    let (ours, emco) = ("rsync-status", "rsyncStatus");
    for (setting, accept, uri, member) in [
        (Dialect::Specification, "", STATUS, ours),
        (Dialect::V22, "", STATUS, emco),
        (Dialect::V22, "application/json, */*;q=0.5", STATUS, emco),
        (Dialect::Specification, V22, STATUS, emco),
        (Dialect::V22, OURS, STATUS, ours),
        (Dialect::Specification, "", &ready, "readyCounts"),
        (Dialect::V22, "", CLUSTER_STATUS, emco),
        (Dialect::V22, OURS, CLUSTER_STATUS, ours),
        (Dialect::V22, "", LOGICAL_CLOUD_STATUS, "readyCounts"),
        (Dialect::V22, OURS, LOGICAL_CLOUD_STATUS, ours),
    ] {
        let answer = asked(setting, accept, uri).await;
        assert!(
            answer.json()[member].is_object(),
            "{setting} {accept} {uri}: {}",
            answer.text
        );
        assert_eq!(answer.header(header::VARY), "accept");
    }
    // A parameter of EMCO's dialect is an error in a request for the dialect of the specification.
    let answer = asked(Dialect::V22, OURS, &ready).await;
    answer.problem(StatusCode::BAD_REQUEST);
    // These routes exist only in the dialect of the specification.
    for route in ["/status/watch?x=1", "/history?x=1"] {
        let answer = asked(Dialect::V22, V22, &STATUS.replace("/status", route)).await;
        answer.problem(StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn an_error_is_a_line_of_text() {
    let other = STATUS.replace("/v1/", "/v2/");
    let odd = STATUS.replace("testvfw", "a~b");
    for (uri, text) in [
        (&*format!("{STATUS}?type=x&app=-"), "Invalid query type\n"),
        (&format!("{STATUS}?app=%zz"), "invalid URL escape \"%zz\"\n"),
        (&format!("{STATUS}?instance"), "Invalid query instance\n"),
        (
            &format!("{STATUS}?instance=a%0d%0ab"),
            "No state information for a  b\n",
        ),
        (
            &other,
            "DeploymentIntentGroup not found: there is no `testvfw/compositevfw/v2/vfw_deployment_intent_group`; expected one of `testvfw/compositevfw/v1/vfw_deployment_intent_group`\n",
        ),
        (
            &odd,
            "DeploymentIntentGroup not found: `a~b` is not a valid name; expected 1 to 128 letters, digits, `-`, `_` or `.`, not `-` alone or only dots\n",
        ),
    ] {
        check_refusal(&emco(uri).await, StatusCode::BAD_REQUEST, text);
    }
    for (uri, text) in [
        (
            CLUSTER_STATUS.replace("edge01", "edge02"),
            "cluster state not found: there is no `vfw-cluster-provider+edge02`; expected one of `vfw-cluster-provider+edge01`\n",
        ),
        (
            LOGICAL_CLOUD_STATUS.replace("lc1", "lc2"),
            "Logical Cloud state not found: there is no `testvfw/lc2`; expected one of `testvfw/lc1`\n",
        ),
        (
            format!("{CLUSTER_STATUS}?instance=9"),
            "No state information for 9\n",
        ),
    ] {
        check_refusal(&emco(&uri).await, StatusCode::NOT_FOUND, text);
    }
    let answer = emco(&format!("{CLUSTER_STATUS}?output=x")).await;
    check_refusal(&answer, StatusCode::BAD_REQUEST, "Invalid query output\n");
}

#[tokio::test]
async fn a_stale_answer_has_a_header() {
    let mut model = published();
    let state = AppState {
        dialect: Dialect::V22,
        ..state_of(&model, Limits::default())
    };
    model.publish_store(Some(StoreAway {
        since_ms: 0,
        reason: "\"etcd\"\n→ refused".into(),
    }));
    let answer = send(router(state), "GET", STATUS, Body::empty()).await;
    assert_eq!(
        answer.header(header::WARNING),
        "110 kindsight \"the store of AppContexts is away: 'etcd'?? refused\""
    );
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn names_are_listed_in_either_dialect() {
    let resources = json!([{
        "name": "sink-configmap",
        "GVK": {"Group": "", "Version": "v1", "Kind": "ConfigMap"}
    }]);
    let cluster = |provider: &str| {
        let mut cluster = json!({"cluster": "edge01"});
        cluster[provider] = "vfw-cluster-provider".into();
        cluster
    };
    for (accept, provider, by_app) in [
        (OURS, "cluster-provider", "-by-app"),
        ("", "clusterProvider", "ByApp"),
    ] {
        let list = async |query: &str| {
            let uri = format!("{STATUS}?{query}");
            asked(Dialect::Specification, accept, &uri).await.json()
        };
        let apps = list("apps&clusters").await;
        assert_eq!(apps["apps"], json!(["sink"]));
        assert_eq!(apps["name"], "vfw_deployment_intent_group");
        let clusters = list("clusters=&app=sink").await;
        assert_eq!(
            clusters[format!("clusters{by_app}")],
            json!([{"app": "sink", "clusters": [cluster(provider)]}])
        );
        let mut expected = cluster(provider);
        (expected["app"], expected["resources"]) = ("sink".into(), resources.clone());
        let listed = list("resources=1").await;
        assert_eq!(listed[format!("resources{by_app}")], json!([expected]));
    }
    // An unknown name is answered with a problem document, as on every route.
    let uri = format!("{STATUS}?clusters&app=x");
    let answer = asked(Dialect::V22, OURS, &uri).await;
    answer.problem(StatusCode::NOT_FOUND);
    let uri = STATUS.replace("/status", "/status/watch?apps");
    let answer = asked(Dialect::V22, "", &uri).await;
    answer.problem(StatusCode::BAD_REQUEST);
    assert_eq!(
        answer.json()["problems"][0]["detail"],
        "a list of names cannot be followed"
    );
}
