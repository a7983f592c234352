//! Pages in a browser on the machine of the server, which can make the browser send requests.

use crate::http::Request;
use crate::stage::Stage;
use crate::transport::Transport;

const POD: &[u8] = br#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}"#;

/// Every method on routes of every kind.
const REQUESTS: [(&str, &str); 8] = [
    ("GET", "/"),
    ("GET", "/v2/interpreters"),
    ("GET", "/v2/interpreters/apps"),
    ("GET", "/openapi.json"),
    ("PUT", "/v2/interpreters/apps"),
    ("DELETE", "/v2/interpreters/apps"),
    ("POST", "/v2/interpreters/apps/disable"),
    ("POST", "/v2/interpret"),
];

/// DNS rebinding: the name in `Host` leads to this machine, and the page's origin is the same.
pub(crate) fn a_page_under_its_own_host_name_can_neither_read_nor_change(transport: Transport) {
    let stage = Stage::start(transport);
    let port = stage.address().port();
    for name in ["evil.example", "localhost.evil.example", "0.0.0.0", "127.1"] {
        let host = format!("{name}:{port}");
        let origin = format!("http://{host}");
        for (method, target) in REQUESTS {
            for headers in [
                &[("Host", &*host), ("Origin", &*origin)][..],
                &[("Host", &*host), ("Content-Type", "application/json")],
            ] {
                let request = Request {
                    method,
                    target,
                    headers,
                    body: b"",
                };
                let answer = stage.send(&request);
                assert_eq!(answer.status, 421, "{request:?} {answer:?}");
                assert!(answer.body.contains("allowed-host"), "{answer:?}");
            }
        }
    }
    let detail = stage.get("/v2/interpreters/apps").json();
    assert_eq!(detail["status"], "live", "{detail}");
    stage.assert_healthy();
}

/// Requests that a browser sends to any address without a preflight.
pub(crate) fn a_page_of_another_site_can_neither_compute_nor_change(transport: Transport) {
    let stage = Stage::start(transport);
    for headers in [
        &[
            ("Origin", "http://evil.example"),
            ("Content-Type", "text/plain"),
        ][..],
        &[("Origin", "null"), ("Content-Type", "application/json")],
        &[
            ("Sec-Fetch-Site", "cross-site"),
            ("Content-Type", "application/json"),
        ],
        &[
            ("Origin", "http://localhost:1"),
            ("Content-Type", "application/json"),
        ],
    ] {
        for (method, target) in REQUESTS.into_iter().filter(|(method, _)| *method != "GET") {
            let answer = stage.send(&Request {
                method,
                target,
                headers,
                body: POD,
            });
            assert_eq!(answer.status, 403, "{method} {target} {answer:?}");
        }
    }
    let detail = stage.get("/v2/interpreters/apps").json();
    assert_eq!(detail["status"], "live", "{detail}");
    stage.assert_healthy();
}

/// Bodies with the content type of a form, and compressed bodies.
pub(crate) fn a_body_of_another_type_or_compressed_is_not_read(transport: Transport) {
    let stage = Stage::start(transport);
    let json = ("Content-Type", "application/json");
    for headers in [
        &[][..],
        &[("Content-Type", "text/plain")],
        &[("Content-Type", "multipart/form-data; boundary=x")],
        &[json, ("Content-Encoding", "gzip")],
    ] {
        for (method, target) in [
            ("POST", "/v2/interpret"),
            ("PUT", "/v2/interpreters/apps/settings"),
            ("POST", "/v2/interpreters/apps/promote"),
        ] {
            let answer = stage.send(&Request {
                method,
                target,
                headers,
                body: POD,
            });
            assert_eq!(answer.status, 415, "{method} {target} {answer:?}");
        }
    }
    let answer = stage.json("POST", "/v2/interpret?explain=true", "[]");
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(answer.body.contains("unknown parameter"), "{answer:?}");
    stage.assert_healthy();
}
