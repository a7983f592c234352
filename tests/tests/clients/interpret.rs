//! Objects that clients send to be judged do not affect other clients.

use std::time::{Duration, Instant};

use kindsight_tests::worst::{self, SHAPES};

use crate::http::Request;
use crate::stage::Stage;
use crate::transport::Transport;

/// Objects of one request: together they are as large as a body may be.
const OBJECTS: usize = 12;
/// Bytes of each.
const OBJECT_BYTES: usize = 600_000;

/// Kinds of five built-in interpreters, and a field that each of them reads.
const KINDS: [(&str, &str, &str); 5] = [
    ("x.example", "Foo", "/status"),
    ("apps", "Deployment", "/status/conditions"),
    ("", "Pod", "/status/containerStatuses"),
    ("batch", "Job", "/status/conditions"),
    ("gateway.networking.k8s.io", "Gateway", "/status/listeners"),
];

/// Requests with which each of these interpreters once timed out until the circuit breaker disabled them permanently for
/// all clients.
pub(crate) fn submitted_objects_cannot_trip_the_circuit_breaker(transport: Transport) {
    let stage = Stage::start(transport);
    let before = interpreters(&stage);
    for (group, kind, pointer) in KINDS {
        for name in ["numbers", "empty objects", "counts"] {
            let shape = SHAPES
                .iter()
                .find(|(shape, _)| *shape == name)
                .expect("a shape");
            let object = worst::object(group, kind, pointer, shape, OBJECT_BYTES);
            let body = format!("[{}]", vec![object; OBJECTS].join(","));
            let answer = stage.json("POST", "/v2/interpret", &body);
            assert_eq!(answer.status, 200, "{}", answer.head);
            let verdicts = answer.json();
            let verdicts = verdicts["verdicts"].as_array().expect("verdicts");
            assert_eq!(verdicts.len(), OBJECTS);
            for verdict in verdicts {
                let reason = verdict["reason"].as_str().unwrap_or_default();
                assert!(
                    !reason.starts_with("Interpreter"),
                    "{kind} {name}: {verdict}"
                );
            }
            stage.assert_healthy();
        }
    }
    // Longer than the interval of the circuit breaker.
    let sent = Instant::now();
    while sent.elapsed() < Duration::from_millis(1500) {
        stage.assert_healthy();
    }
    assert_eq!(interpreters(&stage), before, "nothing was counted");
    assert_eq!(stage.get("/readyz").body, "ok");
}

/// Names, states and counts of all interpreters.
fn interpreters(stage: &Stage) -> serde_json::Value {
    let list = stage.get("/v2/interpreters").json();
    let each = list["interpreters"].as_array().expect("a list");
    assert!(
        each.iter()
            .all(|interpreter| interpreter["status"] == "live"),
        "{list}"
    );
    list
}

/// A client that disconnects leaves no worker occupied, and neither do sixteen clients.
pub(crate) fn objects_of_a_closed_request_are_not_judged(transport: Transport) {
    let stage = Stage::start(transport);
    let object = worst::object("x.example", "Foo", "/status", &SHAPES[0], 50_000);
    let body = format!("[{}]", vec![object; 150].join(","));
    let address = stage.address().to_string();
    let headers = [("Content-Type", "application/json"), ("Host", &address)];
    for _ in 0..16 {
        let request = Request {
            method: "POST",
            target: "/v2/interpret",
            headers: &headers,
            body: body.as_bytes(),
        };
        let mut stream = stage.connect().expect("a connection");
        // The server may answer that there are too many requests.
        let _ = std::io::Write::write_all(&mut stream, &request.bytes(stage.address()));
    }
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}"#;
    stage.assert_healthy();
    let answer = loop {
        let answer = stage.json("POST", "/v2/interpret", pod);
        if answer.status != 503 {
            break answer;
        }
    };
    assert_eq!(answer.json()["verdicts"][0]["name"], "a", "{answer:?}");
}
