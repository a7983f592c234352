//! Answers and errors of status queries, of judging and of the service itself.

use super::*;

#[tokio::test]
async fn a_group_has_a_status() {
    let answer = get(STATUS).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/json");
    assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
    let json = answer.json();
    assert_eq!(json["name"], "vfw_deployment_intent_group");
    assert_eq!(json["rsync-status"]["Pending"], 1);
}

#[tokio::test]
async fn an_equal_query_after_a_change_has_the_changed_answer() {
    let mut writer = published();
    let router = router(state_of(&writer, Limits::default()));
    let status = async |uri: &str| send(router.clone(), "GET", uri, Body::empty()).await.json();
    let first = status(STATUS).await;
    assert_eq!(status(STATUS).await, first);
    let id: ContextId = "7".parse().unwrap();
    let changed = context(&id, "sink", "ConfigMap", "other-configmap");
    writer.publish(&ApplicationKey::Context(id.clone()), changed, Vec::new());
    let second = status(STATUS).await;
    let resource = &second["apps"][0]["clusters"][0]["resources"][0];
    assert_eq!(resource["name"], "other-configmap");
    let counts = status(&format!("{STATUS}?output=summary")).await;
    assert_eq!(counts["apps"], Value::Null, "another query");
}

#[tokio::test]
async fn a_cluster_has_a_status() {
    let json = get(&format!("{CLUSTER_STATUS}?type=cluster")).await.json();
    assert_eq!(json["name"], "vfw-cluster-provider+edge01");
    assert_eq!(json["cluster-status"]["Unknown"], 1);
}

#[tokio::test]
async fn a_logical_cloud_has_a_status() {
    let json = get(&format!("{LOGICAL_CLOUD_STATUS}?type=cluster"))
        .await
        .json();
    assert_eq!(
        (&json["project"], &json["name"]),
        (&"testvfw".into(), &"lc1".into())
    );
    assert_eq!(json["cluster-status"]["Unknown"], 1);
    assert_eq!(json["state"]["Actions"][0]["Revision"], 1);
    let wrong = LOGICAL_CLOUD_STATUS.replace("lc1", "l%20c");
    let answer = get(&wrong).await;
    answer.problem(StatusCode::BAD_REQUEST);
    assert_eq!(answer.json()["problems"][0]["parameter"], "logical-cloud");
}

#[tokio::test]
async fn head_is_answered_without_a_body() {
    let router = router(state(Limits::default()));
    let answer = send(router, "HEAD", STATUS, Body::empty()).await;
    assert_eq!((answer.status, &*answer.text), (StatusCode::OK, ""));
}

#[tokio::test]
async fn parts_of_the_path_and_of_the_query_are_decoded() {
    let encoded = STATUS.replace("testvfw", "test%76fw");
    let uri = format!("{encoded}?cluster=vfw-cluster-provider%2Bedge01&resource=sink%2Dconfigmap");
    let json = get(&uri).await.json();
    assert_eq!(json["apps"][0]["clusters"][0]["cluster"], "edge01");
}

#[tokio::test]
async fn a_plus_that_is_not_encoded_is_explained() {
    let answer = get(&format!("{STATUS}?cluster=vfw-cluster-provider+edge01")).await;
    answer.problem(StatusCode::BAD_REQUEST);
    let expected = answer.json()["problems"][0]["expected"].clone();
    assert!(expected.as_str().unwrap().contains("%2B"), "{expected}");
}

#[tokio::test]
async fn an_instance_without_a_value_lists_them() {
    for uri in ["instance", "instance="] {
        let json = get(&format!("{STATUS}?{uri}")).await.json();
        assert_eq!(json["instances"], serde_json::json!(["7"]));
    }
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_query_is_named() {
    let answer = get(&format!("{STATUS}?type=x&ouptut=all&app=%ff")).await;
    assert_eq!(
        answer.problem(StatusCode::BAD_REQUEST),
        "the query is not valid"
    );
    let json = answer.json();
    let problems = json["problems"].as_array().unwrap();
    let parameters: Vec<_> = problems.iter().map(|one| &one["parameter"]).collect();
    assert_eq!(parameters, ["type", "ouptut", "app"]);
}

#[tokio::test]
async fn unknown_names_are_not_found() {
    let missing_dig = STATUS.replace("/v1/", "/v2/");
    let missing_cluster = CLUSTER_STATUS.replace("edge01", "edge02");
    let missing_cloud = LOGICAL_CLOUD_STATUS.replace("lc1", "lc2");
    for (uri, parameter) in [
        (&*missing_dig, "deployment-intent-group"),
        (&*missing_cluster, "cluster"),
        (&*missing_cloud, "logical-cloud"),
        (&format!("{STATUS}?app=x"), "app"),
        (&format!("{STATUS}?instance=12"), "instance"),
    ] {
        let answer = get(uri).await;
        answer.problem(StatusCode::NOT_FOUND);
        assert_eq!(answer.json()["problems"][0]["parameter"], parameter);
    }
}

#[tokio::test]
async fn an_invalid_name_is_a_bad_request() {
    for bad in ["a%2Fb", "a~b", "%ff", "a%20b"] {
        let answer = get(&STATUS.replace("testvfw", bad)).await;
        answer.problem(StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn an_unknown_route_names_those_that_there_are() {
    let detail = get("/v1/status").await.problem(StatusCode::NOT_FOUND);
    assert!(detail.contains("/v2/interpret"), "{detail}");
}

#[tokio::test]
async fn a_wrong_method_lists_the_right_ones() {
    let answer = post(STATUS, "").await;
    answer.problem(StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.header(header::ALLOW), "GET,HEAD");
}

#[tokio::test]
async fn objects_are_judged_in_their_order() {
    let body = r#"[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"b"}}, 7]"#;
    let answer = post("/v2/interpret", body).await;
    assert_eq!(answer.status, StatusCode::OK);
    let expected = concat!(
        r#"{"verdicts":[{"apiVersion":"apps/v1","kind":"Deployment","namespace":"b","name":"a","#,
        r#""phase":"ready","state":"Ready","reason":"","message":"at 1597988400000"},"#,
        r#"{"apiVersion":"","kind":"","name":"","phase":"unknown","state":"Unknown","#,
        r#""reason":"NotAnObject","#,
        r#""message":"not a Kubernetes object: it does not start with `{`"}]}"#,
    );
    assert_eq!(answer.text, expected);
}

#[tokio::test]
async fn text_that_is_not_json_is_a_bad_request() {
    for body in ["", "apiVersion: v1", "7"] {
        post("/v2/interpret", body)
            .await
            .problem(StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn the_service_links_its_routes_and_reports_its_health() {
    assert_eq!(get("/healthz").await.text, "ok");
    assert_eq!(get("/readyz").await.text, "ok");
    let document = get("/openapi.json").await;
    assert_eq!(document.header(header::CONTENT_TYPE), "application/json");
    assert_eq!(
        document.json(),
        serde_json::from_str::<Value>(&crate::openapi()).unwrap()
    );
}

#[tokio::test]
async fn readyz_lists_warnings_after_its_first_line() {
    let state = AppState {
        notes: Arc::new(|| vec!["interpreter a is faulting".to_owned()]),
        ..state(Limits::default())
    };
    let answer = send(router(state), "GET", "/readyz", Body::empty()).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text, "ok\ninterpreter a is faulting");
}

#[tokio::test]
async fn readyz_lists_missing_parts() {
    let state = AppState {
        missing: Arc::new(|| vec!["the store".to_owned(), "interpreters".to_owned()]),
        ..state(Limits::default())
    };
    let answer = send(router(state), "GET", "/readyz", Body::empty()).await;
    let detail = answer.problem(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(detail, "not ready yet: the store; interpreters");
}

#[tokio::test]
async fn a_panic_fails_one_request_and_reveals_no_detail() {
    let router = router(state(Limits::default()));
    let answer = send(
        router.clone(),
        "POST",
        "/v2/interpret",
        r#"{"kind":"Panic"}"#,
    )
    .await;
    let detail = answer.problem(StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(detail, "an internal fault; it has been logged");
    assert_eq!(
        send(router, "GET", STATUS, Body::empty()).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn an_error_has_its_position() {
    let not_there = "names something that does not exist";
    for (method, uri, body, expected) in [
        (
            "GET",
            &*STATUS.replace("testvfw", "a~b"),
            "",
            "the path is not valid",
        ),
        (
            "GET",
            &STATUS.replace("testvfw", "other"),
            "",
            &format!("the path {not_there}"),
        ),
        (
            "GET",
            &format!("{STATUS}?app=other"),
            "",
            &format!("the query {not_there}"),
        ),
        (
            "GET",
            &format!("{STATUS}?instance=99"),
            "",
            &format!("the query {not_there}"),
        ),
        ("GET", "/v2/interpreters/A_b", "", "the path is not valid"),
        (
            "POST",
            "/v2/interpreters/apps/promote",
            r#"{"digest":"x"}"#,
            "the body is not valid",
        ),
        ("POST", "/v2/interpret?x=1", "[]", "the query is not valid"),
    ] {
        let router = router(state(Limits::default()));
        let answer = send(router, method, uri, body.to_owned()).await;
        assert_eq!(answer.json()["detail"], expected, "{uri}");
    }
}
