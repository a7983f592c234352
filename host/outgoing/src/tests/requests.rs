//! Requests as they arrive at a receiver.

use std::fs;
use std::time::Duration;

use http::Method;

use super::receiver::{Receiver, answer};
use super::{GET, destinations, endpoint, settings};
use crate::{Credentials, Endpoint, Request, RequestError};

#[test]
fn a_request_has_its_path_parameters_headers_and_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    fs::write(&token_file, "t0k3n").unwrap();
    let receiver = Receiver::answering(answer("201 Created", "retry-after: 3\r\n", "done"));
    let mut settings = settings(&format!("{}/base/?key=1", receiver.url()));
    settings.credentials = Some(Credentials::Bearer { token_file });
    let endpoint = Endpoint::new(settings, &destinations(&["127.0.0.1"])).unwrap();
    let response = endpoint.request(Request {
        method: Method::PUT,
        path: Some("a/b"),
        query: &[("resource-version", "1 2")],
        headers: &[("content-type", "application/json")],
        body: b"{}",
    });
    let response = response.unwrap();
    assert_eq!(
        (response.status, response.body.as_slice()),
        (201, &b"done"[..])
    );
    assert!(response.is_success());
    assert_eq!(response.retry_after, Some(Duration::from_secs(3)));
    assert_eq!(response.header("content-length"), Some("4"));

    let (_, head) = receiver.request().unwrap();
    let (line, headers) = head.split_once("\r\n").unwrap();
    assert_eq!(line, "PUT /base/a/b?key=1&resource-version=1+2 HTTP/1.1");
    for header in [
        "authorization: Bearer t0k3n",
        "content-type: application/json",
        "content-length: 2",
        "user-agent: kindsight/",
    ] {
        assert!(
            headers.to_lowercase().contains(&header.to_lowercase()),
            "{headers}"
        );
    }
    for text in [format!("{endpoint:?}"), endpoint.origin().to_owned()] {
        assert!(!text.contains("base") && !text.contains("key"), "{text}");
    }
}

#[test]
fn a_request_without_its_token_is_not_sent() {
    let receiver = Receiver::answering(answer("200 OK", "", ""));
    let mut settings = settings(&receiver.url());
    settings.credentials = Some(Credentials::Bearer {
        token_file: "/nonexistent/token".into(),
    });
    let endpoint = Endpoint::new(settings, &destinations(&["127.0.0.1"])).unwrap();
    let error = endpoint.request(GET).unwrap_err();
    assert!(matches!(error, RequestError::Credentials(_)), "{error}");
    assert!(error.is_unsent());
    assert!(!error.to_string().contains("/nonexistent"), "{error}");
    assert_eq!(receiver.request(), None);
}

#[test]
fn a_header_cannot_begin_another_request() {
    let receiver = Receiver::answering(answer("200 OK", "", ""));
    let request = Request {
        headers: &[("x-id", "a\r\nx-other: b")],
        ..GET
    };
    let error = endpoint(&receiver.url()).request(request).unwrap_err();
    assert!(matches!(error, RequestError::Invalid(_)), "{error}");
    assert_eq!(receiver.request(), None);
}

#[test]
fn an_error_status_is_an_answer() {
    for status in [
        "404 Not Found",
        "412 Precondition Failed",
        "503 Unavailable",
    ] {
        let receiver = Receiver::answering(answer(status, "", "why"));
        let response = endpoint(&receiver.url()).request(GET).unwrap();
        assert!(status.starts_with(&response.status.to_string()));
        assert!(!response.is_success());
    }
}
