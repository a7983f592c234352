//! Comparisons of a component in the body with a version of the server.

use kindsight_api::interpreters::{ShadowBase, ShadowReport};
use kindsight_model::SubjectSet;
use serde_json::json;

use super::access::{Guarded, OPERATOR, VIEWER};
use super::catalog::report;
use super::*;
use crate::InterpreterCatalog;

const COMPARE: &str = "/v2/compare";

/// A server, and its catalog.
fn recording(limits: Limits) -> (Router, Arc<SampleCatalog>) {
    let catalog = Arc::new(SampleCatalog::default());
    let state = AppState {
        catalog: Arc::clone(&catalog) as Arc<dyn InterpreterCatalog>,
        ..state(limits)
    };
    (router(state), catalog)
}

#[tokio::test]
async fn a_component_is_compared_and_no_command_runs() {
    for (query, base) in [
        ("", ShadowBase::Live),
        ("?base=live", ShadowBase::Live),
        ("?base=built-in", ShadowBase::BuiltIn),
    ] {
        let (router, catalog) = recording(Limits::default());
        let answer = send(router, "POST", &format!("{COMPARE}{query}"), "\0asm").await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let read: ShadowReport = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(read, report());
        let expected = (b"\0asm".to_vec(), base, SubjectSet::Everything);
        assert_eq!(catalog.compared(), [expected], "{query}");
        assert_eq!(catalog.asked(), []);
    }
    let (router, _) = recording(Limits::default());
    let refused = send(router, "POST", COMPARE, "refused").await;
    let detail = refused.problem(StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(detail, "not a WebAssembly component");
    assert_eq!(refused.json()["step"], "validated");
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_comparison_is_named() {
    let (router, catalog) = recording(Limits::default());
    let uri = format!("{COMPARE}?base=other&candidate=true&base=live&base=live");
    let answer = send(router, "POST", &uri, "").await;
    answer.problem(StatusCode::BAD_REQUEST);
    let expected = json!([
        {
            "parameter": "base",
            "detail": "`other` is not known",
            "expected": "one of `live`, `built-in`",
        },
        {
            "parameter": "candidate",
            "detail": "unknown parameter",
            "expected": "one of `base`",
        },
        {
            "parameter": "base",
            "detail": "it is given more than once",
            "expected": "one value",
        },
    ]);
    assert_eq!(answer.json()["problems"], expected);
    assert!(catalog.compared().is_empty());
}

#[tokio::test]
async fn a_component_that_is_too_large_or_of_another_type_is_not_compared() {
    let limits = Limits {
        component_bytes_max: 10,
        catalog_json_bytes_max: 2,
        ..Limits::default()
    };
    let (router, catalog) = recording(limits);
    let fits = send(router.clone(), "POST", COMPARE, "0123456789").await;
    assert_eq!(fits.status, StatusCode::OK, "{}", fits.text);
    let larger = send(router.clone(), "POST", COMPARE, "0123456789a").await;
    assert_eq!(
        larger.problem(StatusCode::PAYLOAD_TOO_LARGE),
        "the body is larger than 10 bytes: `kindsight serve --component-bytes-max` raises it"
    );
    let json = Request::post(COMPARE).header(header::CONTENT_TYPE, "application/json");
    let json = answered(router, json.body("{}".into()).unwrap()).await;
    json.problem(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(catalog.compared().len(), 1);
    assert_eq!(catalog.too_large(), [], "it is no upload");
}

#[tokio::test]
async fn a_comparison_takes_a_slot_of_a_shadow_run_and_none_of_a_load() {
    let limits = Limits {
        shadow_requests_max: 1,
        catalog_requests_max: 1,
        ..Limits::default()
    };
    for (method, uri, status) in [
        ("POST", COMPARE, StatusCode::SERVICE_UNAVAILABLE),
        (
            "POST",
            "/v2/interpreters/apps/shadow",
            StatusCode::SERVICE_UNAVAILABLE,
        ),
        ("PUT", "/v2/interpreters/apps", StatusCode::OK),
    ] {
        let (router, _) = recording(limits);
        let first = send(router.clone(), "POST", COMPARE, "never");
        let second = tokio::select! {
            biased;
            answer = first => answer,
            answer = send(router, method, uri, "") => answer,
        };
        assert_eq!(second.status, status, "{uri}: {}", second.text);
    }
}

#[tokio::test]
async fn only_the_subjects_that_an_operator_may_see_are_compared() {
    let viewer = format!("{VIEWER}\napplications = [\"web/shop\"]");
    for (bindings, sees) in [
        (&[OPERATOR][..], false),
        (&[OPERATOR, &viewer], true),
        (&[OPERATOR, VIEWER], true),
    ] {
        let guarded = Guarded::new(bindings);
        let catalog = Arc::new(SampleCatalog::default());
        let state = AppState {
            access: Some(Arc::clone(&guarded.control)),
            catalog: Arc::clone(&catalog) as Arc<dyn InterpreterCatalog>,
            ..state(Limits::default())
        };
        let request = Request::post(COMPARE)
            .header(header::AUTHORIZATION, guarded.bearer())
            .header(header::CONTENT_TYPE, "application/wasm");
        let answer = answered(router(state), request.body("\0asm".into()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let [(_, _, visible)] = &catalog.compared()[..] else {
            panic!("one comparison");
        };
        assert_eq!(!visible.is_nothing(), sees, "{bindings:?}");
        assert_eq!(visible.is_everything(), bindings == [OPERATOR, VIEWER]);
    }
}
