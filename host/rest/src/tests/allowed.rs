//! Checks of hosts and of the types of bodies.

use super::*;

async fn ask(uri: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Answered {
    ask_of(AllowedNames::default(), uri, method, headers, body).await
}

async fn ask_of(
    allowed: AllowedNames,
    uri: &str,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answered {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let state = AppState {
        allowed_names: Arc::new(allowed),
        missing: Arc::new(|| vec!["the first listing of cluster secret+edge".to_owned()]),
        ..state(Limits::default())
    };
    let request = request.body(Body::from(body.to_owned())).unwrap();
    answered(router(state), request).await
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn an_unknown_host_name_is_refused_on_every_route() {
    for (method, uri) in [
        ("GET", STATUS),
        ("GET", "/"),
        ("GET", "/v2/interpreters"),
        ("GET", "/nothing"),
        ("POST", "/v2/interpret"),
        ("PUT", "/v2/interpreters/apps"),
        ("DELETE", "/v2/interpreters/apps"),
        ("POST", "/healthz"),
    ] {
        let headers = [("host", "evil.example:9315"), JSON];
        let answer = ask(uri, method, &headers, "").await;
        let detail = answer.problem(StatusCode::MISDIRECTED_REQUEST);
        assert!(detail.contains("`evil.example:9315`"), "{detail}");
        assert!(detail.contains("`allowed-host`"), "{detail}");
    }
    let target = "http://evil.example/v2/interpreters";
    let answer = ask(target, "GET", &[("host", "localhost")], "").await;
    answer.problem(StatusCode::MISDIRECTED_REQUEST);
    let two = [("host", "localhost"), ("host", "evil.example")];
    let answer = ask("/", "GET", &two, "").await;
    answer.problem(StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn an_unknown_host_name_gets_health_without_details() {
    let foreign = [("host", "10.9.8.7:9015")];
    assert_eq!(ask("/healthz", "GET", &foreign, "").await.text, "ok");
    let detail = ask("/readyz", "GET", &foreign, "").await;
    let detail = detail.problem(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(detail, "not ready yet");
    let own = ask("/readyz", "GET", &[("host", "localhost")], "").await;
    let detail = own.problem(StatusCode::SERVICE_UNAVAILABLE);
    assert!(detail.contains("secret+edge"), "{detail}");
}

#[tokio::test]
async fn a_name_that_is_set_is_allowed() {
    for host in ["status.example", "*"] {
        let allowed = AllowedNames {
            hosts: vec![host.parse().unwrap()],
            ..AllowedNames::default()
        };
        let host = [("host", "status.example:443")];
        let answer = ask_of(allowed, STATUS, "GET", &host, "").await;
        assert_eq!(answer.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_page_of_another_origin_may_not_make_this_server_compute() {
    let headers = |more| [("host", "localhost:9015"), JSON, more];
    for more in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let answer = ask("/v2/interpret", "POST", &headers(more), "[]").await;
        answer.problem(StatusCode::FORBIDDEN);
    }
    let own = headers(("origin", "http://localhost:9015"));
    let answer = ask("/v2/interpret", "POST", &own, "[]").await;
    assert_eq!(answer.status, StatusCode::OK);
    let allowed = AllowedNames {
        origins: vec!["https://status.example".parse().unwrap()],
        ..AllowedNames::default()
    };
    let listed = [
        ("host", "localhost:9015"),
        JSON,
        ("origin", "https://Status.Example:443"),
        ("sec-fetch-site", "cross-site"),
    ];
    let answer = ask_of(allowed, "/v2/interpret", "POST", &listed, "[]").await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn a_body_of_a_wrong_type_is_refused_with_the_right_one() {
    let load = "`application/wasm`, `application/octet-stream`";
    for (method, uri, expected) in [
        ("POST", "/v2/interpret", "`application/json`"),
        ("PUT", "/v2/interpreters/apps", load),
        (
            "PUT",
            "/v2/interpreters/apps/settings",
            "`application/json`",
        ),
        (
            "POST",
            "/v2/interpreters/apps/promote",
            "`application/json`",
        ),
    ] {
        for headers in [
            &[][..],
            &[("content-type", "text/plain")],
            &[("content-type", "")],
            &[JSON, ("content-type", "text/plain;a=application/json")],
        ] {
            let answer = ask(uri, method, headers, "{}").await;
            let detail = answer.problem(StatusCode::UNSUPPORTED_MEDIA_TYPE);
            assert!(detail.contains(expected), "{detail}");
        }
    }
    let of_charset = [("content-type", "Application/JSON; charset=utf-8")];
    let answer = ask("/v2/interpret", "POST", &of_charset, "[]").await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn a_compressed_body_is_refused() {
    for coding in ["gzip", "br", "identity, gzip"] {
        let headers = [JSON, ("content-encoding", coding)];
        let answer = ask("/v2/interpret", "POST", &headers, "\x1f").await;
        let detail = answer.problem(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert!(detail.contains(&format!("`{coding}`")), "{detail}");
    }
    let headers = [JSON, ("content-encoding", "identity")];
    let answer = ask("/v2/interpret", "POST", &headers, "[]").await;
    assert_eq!(answer.status, StatusCode::OK);
}
