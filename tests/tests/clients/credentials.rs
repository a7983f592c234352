//! Credentials: guesses, forged headers and tokens of any form.

use std::time::{Duration, Instant};

use crate::http::{Answer, Request};
use crate::stage::Stage;
use crate::transport::{Transport, USER};

/// Number of guesses: more than the server accepts from one address in a minute.
const GUESSES: usize = 200;

impl Stage {
    /// Asks for the list of applications with these headers.
    pub(crate) fn list(&self, headers: &[(&str, &str)]) -> Answer {
        self.send(&Request {
            method: "GET",
            target: "/v2/applications",
            headers,
            ..Request::default()
        })
    }
}

pub(crate) fn guessed_tokens_are_limited_and_other_clients_are_not(transport: Transport) {
    let stage = Stage::start(transport);
    let mut limited = 0;
    for guess in 0..GUESSES {
        let token = format!("Bearer kindsight.ci.{guess:043}");
        let answer = stage.list(&[("Authorization", &token)]);
        assert!(matches!(answer.status, 401 | 429), "{answer:?}");
        assert!(!answer.body.contains("kindsight.ci"), "{answer:?}");
        limited += usize::from(answer.status == 429);
    }
    assert!(limited > GUESSES / 2, "{limited} of {GUESSES}");
    // The same address, with a valid credential.
    let answer = stage.list(&[]);
    assert_eq!(answer.status, 200, "{answer:?}");
    stage.assert_healthy();
}

pub(crate) fn tokens_of_any_form_are_refused(transport: Transport) {
    let stage = Stage::start(transport);
    let long = format!("Bearer {}", "a".repeat(20_000));
    let begin = Instant::now();
    for value in [
        "Bearer",
        "Bearer ",
        "Basic YWRtaW46YWRtaW4=",
        "Bearer kindsight..",
        "Bearer kindsight.ci.",
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
        "Bearer \u{e9}\u{202e}",
        "Negotiate abc",
        &long,
    ] {
        let answer = stage.list(&[("Authorization", value)]);
        assert!(
            matches!(answer.status, 400 | 401 | 431),
            "{value}: {answer:?}"
        );
    }
    assert!(begin.elapsed() < Duration::from_secs(30));
    assert_eq!(stage.list(&[]).status, 200);
}

pub(crate) fn several_credentials_are_refused(transport: Transport) {
    let stage = Stage::start(transport);
    let answer = stage.list(&[
        ("Authorization", "Bearer kindsight.a.b"),
        ("authorization", "Bearer kindsight.c.d"),
    ]);
    assert_eq!(answer.status, 401, "{answer:?}");
    assert!(answer.body.contains("once"), "{answer:?}");
    // Both lengths at a time would let a second request hide in the body of the first.
    let smuggled = stage.send(&Request {
        method: "POST",
        target: "/v2/interpret",
        headers: &[
            ("Content-Type", "application/json"),
            ("Transfer-Encoding", "chunked"),
            ("Content-Length", "4"),
        ],
        body: b"0\r\n\r\nDELETE /v2/interpreters HTTP/1.1\r\nHost: localhost\r\n\r\n",
    });
    assert!(!smuggled.body.contains("removed"), "{smuggled:?}");
    stage.assert_healthy();
}

pub(crate) fn headers_of_proxies_name_no_user(transport: Transport) {
    let stage = Stage::start(transport);
    let answer = stage.list(&[
        ("Authorization", "Bearer kindsight.a.b"),
        ("X-Forwarded-User", USER),
        ("X-Remote-User", USER),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-Client-Cert", "Subject=\"CN=attacker\""),
    ]);
    assert_eq!(answer.status, 401, "{answer:?}");
}

pub(crate) fn a_credential_does_not_help_a_page_of_another_site(transport: Transport) {
    let stage = Stage::start(transport);
    for headers in [
        &[("Origin", "https://evil.example")][..],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Host", "evil.example")],
    ] {
        let answer = stage.send(&Request {
            method: "POST",
            target: "/v2/interpreters/apps/disable",
            headers,
            ..Request::default()
        });
        assert!(matches!(answer.status, 403 | 421), "{answer:?}");
    }
    let apps = stage.get("/v2/interpreters/apps");
    assert!(apps.body.contains("\"status\":\"live\""), "{apps:?}");
}
