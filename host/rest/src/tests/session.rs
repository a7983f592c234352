//! Sign-in of browsers: cookies, their protection, and the header that passes proxies.

use axum::http::HeaderMap;

use super::access::{Guarded, OPERATOR, VIEWER};
use super::*;
use crate::serve::PeerAddress;

const JSON: (&str, &str) = ("content-type", "application/json");
const OWN_ORIGIN: (&str, &str) = ("origin", "http://localhost");
const HOST: (&str, &str) = ("host", "localhost");
const SESSION: &str = "/v2/session";

async fn ask(
    guarded: &Guarded,
    method: &str,
    uri: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answered {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    answered(guarded.router(), request).await
}

/// Signs in, and returns the cookie as browsers send it.
async fn cookie(guarded: &Guarded) -> String {
    let body = serde_json::json!({"token": guarded.token}).to_string();
    let answer = ask(guarded, "POST", SESSION, &[HOST, JSON, OWN_ORIGIN], &body).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let set = set_cookie(&answer.headers);
    for attribute in [
        "HttpOnly",
        "Secure",
        "SameSite=Strict",
        "Path=/",
        "Max-Age=",
    ] {
        assert!(set.contains(attribute), "{set}");
    }
    assert!(!set.contains("Domain"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

fn set_cookie(headers: &HeaderMap) -> &str {
    headers[header::SET_COOKIE].to_str().unwrap()
}

#[tokio::test]
async fn a_browser_signs_in_with_a_token_and_reads_with_its_cookie() {
    let guarded = Guarded::new(&[VIEWER]);
    let nobody = ask(&guarded, "GET", SESSION, &[], "").await.json();
    let expected = serde_json::json!({"access-control": true, "sign-in": ["token"], "roles": []});
    assert_eq!(nobody, expected);
    let cookie = cookie(&guarded).await;
    let session = ask(&guarded, "GET", SESSION, &[("cookie", &cookie)], "")
        .await
        .json();
    assert_eq!(session["user"], "token:ci");
    assert_eq!(session["credential"], "cookie");
    assert_eq!(session["expires"], "2999-01-01T00:00:00Z");
    assert_eq!(session["roles"], serde_json::json!(["viewer"]));
    let list = ask(
        &guarded,
        "GET",
        "/v2/applications",
        &[("cookie", &cookie)],
        "",
    )
    .await;
    assert_eq!(list.status, StatusCode::OK);
}

#[tokio::test]
async fn a_wrong_token_signs_nobody_in() {
    let guarded = Guarded::new(&[VIEWER]);
    let body = format!("{{\"token\": \"{}x\"}}", guarded.token);
    let answer = ask(&guarded, "POST", SESSION, &[JSON], &body).await;
    assert!(answer.headers.get(header::SET_COOKIE).is_none());
    let detail = answer.problem(StatusCode::UNAUTHORIZED);
    assert!(!detail.contains(&guarded.token), "{detail}");
    for body in [
        "",
        "{}",
        "{\"token\": 1}",
        "{\"token\": \"a\", \"b\": 1}",
        "[]",
    ] {
        let answer = ask(&guarded, "POST", SESSION, &[JSON], body).await;
        answer.problem(StatusCode::BAD_REQUEST);
    }
    let long = format!("{{\"token\": \"{}\"}}", "a".repeat(9000));
    let answer = ask(&guarded, "POST", SESSION, &[JSON], &long).await;
    answer.problem(StatusCode::PAYLOAD_TOO_LARGE);
}

/// A browser that signs in has no credential yet.
#[tokio::test]
async fn failed_sign_ins_of_one_address_do_not_limit_another_address() {
    let guarded = Guarded::new(&[VIEWER]);
    let sign_in = async |from: [u8; 4]| {
        let request = Request::post(SESSION).header(JSON.0, JSON.1);
        let body = Body::from("{\"token\": \"guessed\"}");
        let mut request = request.body(body).unwrap();
        request.extensions_mut().insert(PeerAddress(from.into()));
        answered(guarded.router(), request).await.status
    };
    let mut statuses = Vec::new();
    for _ in 0..30 {
        statuses.push(sign_in([10, 0, 0, 1]).await);
    }
    assert_eq!(statuses.first(), Some(&StatusCode::UNAUTHORIZED));
    assert_eq!(statuses.last(), Some(&StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(sign_in([10, 0, 0, 2]).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_page_of_another_origin_cannot_sign_in_or_use_the_cookie() {
    let guarded = Guarded::new(&[VIEWER, OPERATOR]);
    let body = serde_json::json!({"token": guarded.token}).to_string();
    let foreign = ("origin", "http://evil.example");
    let answer = ask(&guarded, "POST", SESSION, &[HOST, JSON, foreign], &body).await;
    answer.problem(StatusCode::FORBIDDEN);
    let cookie = cookie(&guarded).await;
    let cookie = ("cookie", &*cookie);
    let disable = "/v2/interpreters/apps/disable";
    // Without any statement of a browser, and with that of another page.
    let refused: [&[(&str, &str)]; 4] = [
        &[HOST, cookie],
        &[HOST, cookie, foreign],
        &[HOST, cookie, ("sec-fetch-site", "same-site")],
        &[HOST, cookie, ("origin", "null")],
    ];
    for headers in refused {
        ask(&guarded, "POST", disable, headers, "")
            .await
            .problem(StatusCode::FORBIDDEN);
    }
    let accepted: [&[(&str, &str)]; 2] = [
        &[HOST, cookie, OWN_ORIGIN],
        &[HOST, cookie, ("sec-fetch-site", "same-origin")],
    ];
    for headers in accepted {
        let answer = ask(&guarded, "POST", disable, headers, "").await;
        assert_ne!(answer.status, StatusCode::FORBIDDEN, "{}", answer.text);
    }
}

#[tokio::test]
async fn a_header_counts_before_the_cookie_and_two_credentials_are_refused() {
    let guarded = Guarded::new(&[VIEWER]);
    let cookie = cookie(&guarded).await;
    let bearer = guarded.bearer();
    let list = "/v2/applications";
    let wrong = ("authorization", "Bearer wrong");
    let answer = ask(&guarded, "GET", list, &[wrong, ("cookie", &cookie)], "").await;
    answer.problem(StatusCode::UNAUTHORIZED);
    let twice = format!("{cookie}; {cookie}");
    let answer = ask(&guarded, "GET", list, &[("cookie", &twice)], "").await;
    answer.problem(StatusCode::UNAUTHORIZED);
    let own = ("kindsight-token", &*guarded.token);
    assert_eq!(
        ask(&guarded, "GET", list, &[own], "").await.status,
        StatusCode::OK
    );
    let both = [own, ("authorization", &*bearer)];
    ask(&guarded, "GET", list, &both, "")
        .await
        .problem(StatusCode::UNAUTHORIZED);
    let session = ask(&guarded, "GET", SESSION, &[own], "").await.json();
    assert_eq!(session["credential"], "header");
}

#[tokio::test]
async fn signing_out_removes_the_cookie() {
    let guarded = Guarded::new(&[VIEWER]);
    let cookie = cookie(&guarded).await;
    let headers = [HOST, ("cookie", &*cookie), OWN_ORIGIN];
    let answer = ask(&guarded, "DELETE", SESSION, &headers, "").await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    let set = set_cookie(&answer.headers);
    assert!(
        set.starts_with("__Host-kindsight=;") && set.contains("Max-Age=0"),
        "{set}"
    );
}

#[tokio::test]
async fn a_server_without_access_control_needs_no_sign_in() {
    let session = get(SESSION).await.json();
    assert_eq!(session["access-control"], false);
    assert_eq!(session["sign-in"], serde_json::json!([]));
    post(SESSION, "{\"token\": \"a\"}")
        .await
        .problem(StatusCode::NOT_FOUND);
}
