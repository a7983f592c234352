//! Valid and invalid requests for commands.

use kindsight_api::interpreters::{ShadowBase, ShadowRun};
use kindsight_model::Digest;
use serde_json::json;

use super::catalog::{CANDIDATE, LIVE, digest, settings};
use super::interpreters::{APPS, command, misunderstood, put};
use super::*;
use crate::Command::*;
use crate::{Promote as Promotion, Upload};

/// The command for a promotion of the candidate, or of the version with this digest.
fn promote(digest: Option<Digest>) -> crate::Command {
    Promote(Promotion {
        digest,
        ..Promotion::default()
    })
}

#[tokio::test]
async fn a_component_is_loaded() {
    let load = |expected: Option<&str>, is_candidate| {
        Load(Upload {
            bytes: b"\0asm".to_vec(),
            digest: expected.map(digest),
            is_candidate,
            replaces_built_in: false,
        })
    };
    let upper = LIVE.replace("sha256:1", "sha256:A");
    let lower = upper.to_ascii_lowercase();
    for (query, expected) in [
        (String::new(), load(None, false)),
        ("?candidate=true".to_owned(), load(None, true)),
        (
            format!("?candidate=false&digest={upper}"),
            load(Some(&lower), false),
        ),
    ] {
        let uri = format!("{APPS}{query}");
        let (answer, asked) = command("PUT", &uri, "\0asm").await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        assert_eq!(asked, [("apps".to_owned(), expected)]);
    }
    let outcome = json!({
        "name": "apps", "action": "load", "digest": LIVE, "version": "1.1.0", "status": "live",
        "detail": "1.1.0 is live in place of 1.0.0",
        "takes": [{"kind": "apps/*/Deployment", "name": "apps", "version": "0.1.0", "source": "built-in"}],
    });
    assert_eq!(put(APPS, "\0asm").await.json(), outcome);
}

#[tokio::test]
async fn a_component_is_loaded_under_its_own_name() {
    let uri = "/v2/interpreters?replace=true";
    let (answer, asked) = command("POST", uri, "\0asm").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(answer.json()["name"], "own-name");
    let upload = Upload {
        bytes: b"\0asm".to_vec(),
        digest: None,
        is_candidate: false,
        replaces_built_in: true,
    };
    assert_eq!(asked, [("own-name".to_owned(), Load(upload))]);
    let (answer, _) = command("POST", "/v2/interpreters?candidate=true", "refused").await;
    let detail = answer.problem(StatusCode::UNPROCESSABLE_ENTITY);
    assert!(detail.starts_with("fixture `rolled out`"), "{detail}");
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_load_is_named() {
    let uri = format!("{APPS}?digest=sha256:12&candidate=yes&force=true&candidate=true");
    let answer = misunderstood("PUT", &uri, "").await;
    let expected = json!([
        {
            "parameter": "digest",
            "detail": "`sha256:12` is not a digest",
            "expected": "`sha256:` and 64 hex digits",
        },
        {
            "parameter": "candidate",
            "detail": "`yes` is not known",
            "expected": "one of `true`, `false`",
        },
        {
            "parameter": "force",
            "detail": "unknown parameter",
            "expected": "one of `digest`, `candidate`, `replace`",
        },
        {
            "parameter": "candidate",
            "detail": "it is given more than once",
            "expected": "one value",
        },
    ]);
    assert_eq!(answer.json()["problems"], expected);
}

#[tokio::test]
async fn an_invalid_digest_is_refused_and_shown_truncated() {
    let digits = "1".repeat(64);
    let bad = [
        digits.clone(),
        format!("sha512:{digits}"),
        format!("sha256:{digits}1"),
        format!("sha256:{}g", "1".repeat(63)),
        format!("SHA256:{digits}"),
        String::new(),
        "ä".repeat(500),
    ];
    for digest in bad {
        let encoded = digest.replace('ä', "%C3%A4");
        let answer = misunderstood("PUT", &format!("{APPS}?digest={encoded}"), "").await;
        let shown = &answer.json()["problems"][0]["detail"];
        assert!(shown.as_str().unwrap().chars().count() < 120, "{shown}");
        let body = json!({ "digest": digest }).to_string();
        misunderstood("POST", &format!("{APPS}/promote"), &body).await;
    }
}

#[tokio::test]
async fn each_command_reaches_the_catalog() {
    for (method, below, body, expected) in [
        ("DELETE", "", "", Remove),
        ("POST", "/promote", "", promote(None)),
        ("POST", "/promote", "{}", promote(None)),
        ("POST", "/promote", "null", promote(None)),
        ("POST", "/rollback", "", Rollback),
        ("POST", "/disable", "", Disable),
        ("POST", "/enable", "", Enable),
        (
            "PUT",
            "/settings",
            r#"{"patience-s":30}"#,
            Settings(Some(settings(json!({"patience-s": 30})))),
        ),
        ("DELETE", "/settings", "", Settings(None)),
    ] {
        let (answer, asked) = command(method, &format!("{APPS}{below}"), body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        assert_eq!(answer.json()["name"], "apps");
        assert_eq!(asked, [("apps".to_owned(), expected)]);
    }
    let body = json!({ "digest": CANDIDATE }).to_string();
    let (_, asked) = command("POST", &format!("{APPS}/promote"), &body).await;
    let digest = Some(digest(CANDIDATE));
    assert_eq!(asked, [("apps".to_owned(), promote(digest))]);
    let body = json!({"force": true, "settings": {"patience-s": 30}}).to_string();
    let (_, asked) = command("POST", &format!("{APPS}/promote"), &body).await;
    let forced = Promote(Promotion {
        digest: None,
        is_forced: true,
        settings: Some(settings(json!({"patience-s": 30}))),
    });
    assert_eq!(asked, [("apps".to_owned(), forced)]);
    let body = json!({"base": "built-in", "settings": {"patience-s": 30}}).to_string();
    let (_, asked) = command("POST", &format!("{APPS}/shadow"), &body).await;
    let run = Shadow(ShadowRun {
        base: ShadowBase::BuiltIn,
        settings: Some(settings(json!({"patience-s": 30}))),
    });
    assert_eq!(asked, [("apps".to_owned(), run)]);
    for body in [r#"{"base": "other"}"#, r#"{"bases": "live"}"#, "[7]"] {
        misunderstood("POST", &format!("{APPS}/shadow"), body).await;
    }
}

#[tokio::test]
async fn unexpected_parameters_and_bodies_are_refused() {
    for (method, below) in [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/shadow"),
        ("POST", "/promote"),
        ("POST", "/rollback"),
        ("POST", "/disable"),
        ("POST", "/enable"),
        ("PUT", "/settings"),
        ("DELETE", "/settings"),
    ] {
        let answer = misunderstood(method, &format!("{APPS}{below}?force=true"), "").await;
        let problem = &answer.json()["problems"][0];
        assert_eq!(
            (&problem["parameter"], &problem["expected"]),
            (&json!("force"), &json!("none"))
        );
        if !matches!(below, "/promote" | "/settings" | "/shadow") && method != "GET" {
            misunderstood(method, &format!("{APPS}{below}"), "{}").await;
        }
    }
    misunderstood("DELETE", &format!("{APPS}/settings"), "{}").await;
    let list = get("/v2/interpreters?name=apps").await;
    list.problem(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn bodies_that_are_not_understood_are_a_bad_request() {
    for body in ["7", "[7]", "{", r#"{"digest":7}"#, r#"{"digets":""}"#] {
        misunderstood("POST", &format!("{APPS}/promote"), body).await;
    }
    for body in ["", "7", "[]", "null", "{", "{} {}"] {
        let answer = misunderstood("PUT", &format!("{APPS}/settings"), body).await;
        let detail = answer.problem(StatusCode::BAD_REQUEST);
        assert!(
            detail.starts_with("the body has to be a JSON object: "),
            "{detail}"
        );
    }
}

#[test]
fn components_and_settings_are_not_shown_in_logs() {
    let load = Load(Upload {
        bytes: vec![0; 1000],
        digest: None,
        is_candidate: true,
        replaces_built_in: false,
    });
    assert_eq!(
        format!("{load:?}"),
        "Load(Upload { bytes: 1000, digest: None, is_candidate: true, replaces_built_in: false })"
    );
    let settings = Settings(Some(settings(json!({"password": "geheim"}))));
    assert_eq!(format!("{settings:?}"), "Settings(Some(…))");
}

#[tokio::test]
async fn a_command_under_a_condition_is_refused_where_another_version_is_live() {
    let inspected = get("/v2/interpreters/apps").await;
    let tag = inspected.header(header::ETAG).to_owned();
    assert_eq!(tag, format!("\"{LIVE}\""));
    let other = format!("\"{CANDIDATE}\"");
    for (method, uri, body) in [
        ("POST", "/rollback", ""),
        ("POST", "/disable", ""),
        ("POST", "/enable", ""),
        ("POST", "/promote", ""),
        ("PUT", "/settings", "{}"),
        ("DELETE", "/settings", ""),
        ("DELETE", "", ""),
        ("PUT", "", "component"),
    ] {
        for (tag, expected) in [
            (&tag, StatusCode::OK),
            (&other, StatusCode::PRECONDITION_FAILED),
            (&"rubbish".to_owned(), StatusCode::BAD_REQUEST),
        ] {
            let media_type = match body {
                "component" => "application/wasm",
                _ => "application/json",
            };
            let request = Request::builder()
                .method(method)
                .uri(format!("/v2/interpreters/apps{uri}"))
                .header(header::CONTENT_TYPE, media_type)
                .header(header::IF_MATCH, tag)
                .body(Body::from(body))
                .unwrap();
            let answer = answered(router(state(Limits::default())), request).await;
            assert_eq!(answer.status, expected, "{method} {uri}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn names_that_are_not_used_are_removed_together_if_that_is_said() {
    let delete = |uri| {
        send(
            router(state(Limits::default())),
            "DELETE",
            uri,
            Body::empty(),
        )
    };
    let removed = delete("/v2/interpreters?unused=true").await;
    assert_eq!(removed.text, r#"{"removed":["left"]}"#);
    for uri in [
        "/v2/interpreters",
        "/v2/interpreters?unused=false",
        "/v2/interpreters?unused=true&x=1",
    ] {
        delete(uri).await.problem(StatusCode::BAD_REQUEST);
    }
}

/// Loads, shadow runs and queries may take every slot: a harmful interpreter can still be rolled back.
#[tokio::test]
async fn a_rollback_waits_for_no_other_request() {
    let limits = Limits {
        requests_max: 1,
        catalog_requests_max: 1,
        shadow_requests_max: 1,
        ..Limits::default()
    };
    for (method, uri) in [
        ("PUT", "/v2/interpreters/never"),
        ("POST", "/v2/interpreters/never/shadow"),
    ] {
        let router = router(state(limits));
        let first = send(router.clone(), method, uri, Body::empty());
        let answer = tokio::select! {
            biased;
            answer = first => answer,
            answer = send(router, "POST", "/v2/interpreters/apps/rollback", Body::empty()) => answer,
        };
        assert_eq!(answer.status, StatusCode::OK, "{uri}: {}", answer.text);
    }
}
