//! The cross-origin check.

use super::*;

async fn ask(method: &str, uri: &str, headers: &[(&str, &str)]) -> Answered {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    answered(router(state(Limits::default())), request).await
}

const HOST: (&str, &str) = ("host", "localhost:8080");
const ROLLBACK: &str = "/v2/interpreters/apps/rollback";

#[tokio::test]
async fn programs_and_pages_of_this_server_may_change_interpreters() {
    let own = ("origin", "http://localhost:8080");
    for headers in [
        &[HOST][..],
        &[],
        &[HOST, own],
        &[own, ("host", "LocalHost:8080")],
    ] {
        let answer = ask("POST", ROLLBACK, headers).await;
        assert_eq!(answer.status, StatusCode::OK, "{headers:?}");
    }
}

#[tokio::test]
async fn pages_of_other_sites_may_not_change_interpreters() {
    for origin in [
        "http://evil.example",
        "http://localhost",
        "http://localhost:80",
        "http://localhost:8080.evil.example",
        "null",
        "localhost:8080",
        "",
        "http://ev\u{ef}l.example",
    ] {
        for (method, uri) in [
            ("POST", ROLLBACK),
            ("POST", "/v2/interpreters/apps/promote"),
            ("POST", "/v2/interpreters/apps/shadow"),
            ("POST", "/v2/compare"),
            ("POST", "/v2/interpreters/apps/disable"),
            ("POST", "/v2/interpreters/apps/enable"),
            ("PUT", "/v2/interpreters/apps"),
            ("DELETE", "/v2/interpreters/apps"),
        ] {
            let answer = ask(method, uri, &[HOST, ("origin", origin)]).await;
            let detail = answer.problem(StatusCode::FORBIDDEN);
            assert!(detail.starts_with("a page of another origin"), "{detail}");
        }
    }
}

#[tokio::test]
async fn a_second_forbidden_origin_is_refused() {
    let headers = [
        HOST,
        ("origin", "http://localhost:8080"),
        ("origin", "http://evil.example"),
    ];
    let answer = ask("POST", ROLLBACK, &headers).await;
    answer.problem(StatusCode::FORBIDDEN);
    let without_host = [("origin", "http://localhost:8080")];
    let answer = ask("POST", ROLLBACK, &without_host).await;
    answer.problem(StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn cross_origin_preflights_are_refused() {
    for uri in ["/v2/interpreters/apps", "/v2/interpreters/apps/settings"] {
        let origin = ("origin", "http://evil.example");
        let wish = ("access-control-request-method", "PUT");
        let answer = ask("OPTIONS", uri, &[HOST, origin, wish]).await;
        assert!(answer.status.is_client_error());
        let allowed = answer.header(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        assert_eq!(allowed, "");
    }
}

#[tokio::test]
async fn reading_is_not_changing() {
    let foreign = ("origin", "http://evil.example");
    for uri in ["/v2/interpreters", "/v2/interpreters/apps", STATUS] {
        assert_eq!(
            ask("GET", uri, &[HOST, foreign]).await.status,
            StatusCode::OK
        );
    }
}
