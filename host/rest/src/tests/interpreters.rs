//! Answers about interpreters, and refusals.

use expect_test::expect;
use kindsight_api::interpreters::{
    InterpreterDetail, InterpreterStatus, InterpreterSummary, ShadowReport, ShadowRun,
};
use serde_json::json;

use super::catalog::{CANDIDATE, LIVE, detail, report, summary};
use super::*;
use crate::{Command, InterpreterCatalog};

pub(super) const APPS: &str = "/v2/interpreters/apps";

/// Sends one request; returns the answer and the commands that the catalog received.
pub(super) async fn command(
    method: &str,
    uri: &str,
    body: &str,
) -> (Answered, Vec<(String, Command)>) {
    let catalog = Arc::new(SampleCatalog::default());
    let state = AppState {
        catalog: Arc::clone(&catalog) as Arc<dyn InterpreterCatalog>,
        ..state(Limits::default())
    };
    let answer = send(router(state), method, uri, body.to_owned()).await;
    (answer, catalog.asked())
}

/// Sends an invalid request, and checks that the catalog receives no command.
pub(super) async fn misunderstood(method: &str, uri: &str, body: &str) -> Answered {
    let (answer, asked) = command(method, uri, body).await;
    answer.problem(StatusCode::BAD_REQUEST);
    assert_eq!(asked, []);
    answer
}

pub(super) async fn put(uri: &str, body: &str) -> Answered {
    command("PUT", uri, body).await.0
}

#[tokio::test]
async fn all_interpreters_are_listed() {
    let answer = get("/v2/interpreters").await;
    assert_eq!(answer.status, StatusCode::OK);
    let digests = [("live", LIVE), ("candidate", CANDIDATE)];
    let text = digests.iter().fold(answer.text, |text, (word, digest)| {
        text.replace(digest, word)
    });
    expect![[r#"{"generation":7,"interpreters":[{"name":"apps","status":"live","source":"built-in","version":"1.0.0","digest":"live","kinds":["apps/*/Deployment"],"candidate":"candidate","unavailable":"received: too large","calls":12,"faults":3,"faulting":{"calls":12,"faults":11,"since":"2026-01-02T03:04:05Z"},"trips":0}],"refused":[{"time":"2026-01-02T03:04:05Z","name":"junk","source":"directory","file":"Junk.wasm","digest":"candidate","step":"validated","why":"not a WebAssembly component"}]}"#]].assert_eq(&text);
}

#[tokio::test]
async fn one_interpreter_is_shown_completely() {
    let answer = get(APPS).await;
    assert_eq!(answer.status, StatusCode::OK);
    let read: InterpreterDetail = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(read, detail());
    expect![[r#"
        {
          "digest": "sha256:1111111111111111111111111111111111111111111111111111111111111111",
          "faulting": {
            "calls": 12,
            "faults": 11,
            "since": "2026-01-02T03:04:05Z"
          },
          "history": [
            {
              "action": "breaker",
              "digest": "sha256:2222222222222222222222222222222222222222222222222222222222222222",
              "outcome": "back to 1.0.0",
              "source": "host",
              "time": "2026-01-02T03:05:05Z",
              "version": "1.1.0"
            }
          ],
          "kinds": [
            {
              "fields": [
                "/status"
              ],
              "pattern": "apps/*/Deployment",
              "related": [
                "core v1 Pod owned"
              ],
              "uses-now": true,
              "when": "/status"
            }
          ],
          "limits": {
            "call-deadline-ms": 50,
            "call-deadline-per-mib-ms": 100,
            "calls-max": 10000,
            "input-bytes-max": 4194304,
            "log-lines-max": 32,
            "memory-bytes-max": 67108864
          },
          "name": "apps",
          "reasons": [
            {
              "help-url": "https://example.com/no-ports",
              "name": "NoPorts",
              "summary": "No port is attached yet."
            }
          ],
          "settings": {
            "patience-s": 30
          },
          "settings-declared-in": "the configuration of the server",
          "settings-schema": {
            "type": "object"
          },
          "source": "built-in",
          "states": [
            {
              "final": true,
              "name": "Ready",
              "phase": "ready",
              "summary": "All replicas are there."
            }
          ],
          "statistics": {
            "calls": 12,
            "faults": {
              "InterpreterTrapped": 3
            },
            "instances": 2,
            "latency-us": {
              "max": 900,
              "p50": 40,
              "p90": 60,
              "p99": 200
            },
            "log-lines-dropped": 4,
            "memory-high-water-bytes": 1048576
          },
          "status": "live",
          "summary": "Deployments and what is like them.",
          "trips": 0,
          "version": "1.0.0",
          "versions": [
            {
              "digest": "sha256:2222222222222222222222222222222222222222222222222222222222222222",
              "outcome": "rolled-back",
              "received": "2026-01-02T03:04:05Z",
              "source": "upload",
              "version": "1.1.0",
              "why": "12 of 20 calls ended in a fault"
            }
          ],
          "warnings": [
            "licence: not a member of the contract"
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&answer.json()).unwrap());
}

#[test]
fn empty_members_are_omitted() {
    let nothing_live = InterpreterSummary {
        status: InterpreterStatus::None,
        source: None,
        version: None,
        digest: None,
        candidate: None,
        faulting: None,
        unavailable: None,
        ..summary()
    };
    let expected = r#"{"name":"apps","status":"none","kinds":["apps/*/Deployment"],"calls":12,"faults":3,"trips":0}"#;
    let text = serde_json::to_string(&nothing_live).unwrap();
    assert_eq!(text, expected);
    let read: InterpreterSummary = serde_json::from_str(&text).unwrap();
    assert_eq!(read, nothing_live);
}

#[tokio::test]
async fn an_unknown_interpreter_is_not_found_and_the_known_ones_are_listed() {
    let answer = get("/v2/interpreters/app").await;
    let detail = answer.problem(StatusCode::NOT_FOUND);
    assert_eq!(detail, "there is no interpreter `app`");
    let expected = json!([{
        "parameter": "name", "detail": "`app` is not known", "expected": "one of `apps`",
    }]);
    assert_eq!(answer.json()["problems"], expected);
    let (answer, _) = command("POST", "/v2/interpreters/nobody/rollback", "").await;
    answer.problem(StatusCode::NOT_FOUND);
    let expected = &answer.json()["problems"][0]["expected"];
    assert_eq!(expected, "one of `apps`, `core`");
}

#[tokio::test]
async fn an_invalid_interpreter_name_is_a_bad_request() {
    let long = "a".repeat(64);
    for bad in ["Apps", "a%2Fb", "a_b", "%ff", "a%20b", &long] {
        for (method, below) in [
            ("GET", ""),
            ("PUT", ""),
            ("DELETE", ""),
            ("POST", "/shadow"),
        ] {
            let uri = format!("/v2/interpreters/{bad}{below}");
            misunderstood(method, &uri, "").await;
        }
    }
    let answer = misunderstood("PUT", "/v2/interpreters/Apps", "").await;
    assert_eq!(
        answer.json()["problems"][0]["expected"],
        "1 to 63 lower-case letters, digits, `-` or `.`"
    );
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a whole report")]
async fn a_shadow_report_lists_the_changes() {
    let (answer, asked) = command("POST", &format!("{APPS}/shadow"), "").await;
    assert_eq!(
        asked,
        [("apps".to_owned(), Command::Shadow(ShadowRun::default()))]
    );
    let read: ShadowReport = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(read, report());
    expect![[r#"
        {
          "applications": [
            {
              "changed": 1,
              "name": "testvfw/compositevfw/v1/vfw_deployment_intent_group",
              "phases-changed": 1
            }
          ],
          "applications-changed": 1,
          "candidate": {
            "digest": "sha256:2222222222222222222222222222222222222222222222222222222222222222",
            "version": "1.1.0"
          },
          "changed": 1,
          "changes": [
            {
              "count": 1,
              "from": "Ready",
              "kind": "apps/v1/Deployment",
              "samples": [
                {
                  "from": {
                    "message": "1 of 2 replicas are ready",
                    "reason": "",
                    "state": "Ready"
                  },
                  "name": "fw0-sink",
                  "namespace": "default",
                  "place": "7/sink/vfw-cluster-provider+edge01",
                  "to": {
                    "message": "1 of 2 replicas are ready",
                    "reason": "Progressing",
                    "state": "Pending"
                  }
                }
              ],
              "to": "Pending"
            }
          ],
          "faults": {
            "candidate": 2,
            "live": 0
          },
          "latency-us": {
            "candidate": {
              "max": 900,
              "p50": 40,
              "p90": 60,
              "p99": 200
            },
            "live": {
              "max": 900,
              "p50": 40,
              "p90": 60,
              "p99": 200
            }
          },
          "live": {
            "digest": "sha256:1111111111111111111111111111111111111111111111111111111111111111",
            "version": "1.0.0"
          },
          "name": "apps",
          "objects": 40,
          "phases-changed": 1
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&answer.json()).unwrap());
}

#[tokio::test]
async fn a_refusal_names_its_step() {
    let answer = put("/v2/interpreters/refused", "").await;
    let detail = answer.problem(StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        detail,
        "fixture `rolled out`: expected state Ready, got Pending"
    );
    assert_eq!(answer.json()["step"], "tried");
}

#[tokio::test]
async fn a_command_that_does_not_fit_the_state_is_a_conflict() {
    let (answer, _) = command("POST", "/v2/interpreters/conflict/promote", "").await;
    let detail = answer.problem(StatusCode::CONFLICT);
    assert_eq!(detail, "nothing waits to be promoted");
    assert!(answer.json().get("step").is_none());
}

#[tokio::test]
async fn a_fault_of_the_host_reveals_no_detail() {
    let detail = put("/v2/interpreters/failed", "")
        .await
        .problem(StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(detail, "an internal fault; it has been logged");
}

#[tokio::test]
async fn a_wrong_method_on_an_interpreter_lists_the_right_ones() {
    for (uri, allowed) in [
        (APPS.to_owned(), "DELETE,GET,HEAD,PUT"),
        (format!("{APPS}/settings"), "DELETE,PUT"),
    ] {
        let (answer, _) = command("PATCH", &uri, "").await;
        answer.problem(StatusCode::METHOD_NOT_ALLOWED);
        let mut methods: Vec<_> = answer.header(header::ALLOW).split(',').collect();
        methods.sort_unstable();
        assert_eq!(methods.join(","), allowed);
    }
}

#[tokio::test]
async fn a_fixture_of_an_object_is_recorded_or_refused_with_the_reason() {
    let record = async |query: &str| {
        get(&format!(
            "/v2/cluster-providers/p/clusters/east/fixture?{query}"
        ))
        .await
    };
    let recorded = record("kind=Deployment&name=front&namespace=web").await;
    assert_eq!(recorded.status, StatusCode::OK);
    assert_eq!(recorded.json()["fixture"]["name"], "p+east front");
    record("kind=Pod&name=absent")
        .await
        .problem(StatusCode::NOT_FOUND);
    let detail = record("kind=Pod&name=faulting")
        .await
        .problem(StatusCode::CONFLICT);
    assert_eq!(detail, "the object cannot be a fixture: it is faulting");
    for (query, part) in [
        ("name=front", "missing field `kind`"),
        ("kind=Pod", "missing field `name`"),
        ("kind=Pod&name=a&cluster=b", "unknown field `cluster`"),
    ] {
        let detail = record(query).await.problem(StatusCode::BAD_REQUEST);
        assert!(detail.contains(part), "{detail}");
    }
}
