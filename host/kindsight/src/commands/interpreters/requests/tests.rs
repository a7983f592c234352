use std::path::PathBuf;

use super::*;
use crate::commands::interpreters::args::Name;

fn load_args(file: PathBuf) -> LoadArgs {
    LoadArgs {
        file,
        name: None,
        candidate: false,
        replace_built_in: false,
        digest: None,
        settings: None,
    }
}

#[test]
fn a_component_is_loaded_under_its_own_name_unless_one_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("widgets.wasm");
    std::fs::write(&file, "wasm").unwrap();
    let mut args = load_args(file);
    let body = || b"wasm".to_vec();
    let unnamed = Request::to(Method::POST, "/v2/interpreters".to_owned());
    assert_eq!(load(&args).unwrap(), unnamed.with_body(WASM, body()));
    args.name = Some("gadgets".to_owned());
    args.candidate = true;
    args.replace_built_in = true;
    let digest = kindsight_model::Digest::of(b"wasm").to_string();
    args.digest = Some(digest.clone());
    assert_eq!(
        load(&args).unwrap(),
        Request::to(Method::PUT, "/v2/interpreters/gadgets".to_owned())
            .with("candidate", "true")
            .with("digest", &digest)
            .with("replace", "true")
            .with_body(WASM, body())
    );
}

#[test]
fn a_rollback_from_one_version_is_a_request_with_a_condition() {
    let plain = command("widgets", "rollback");
    assert_eq!(rollback("widgets", None), plain);
    assert_eq!(
        rollback("widgets", Some("sha256:01")),
        plain.if_match("sha256:01")
    );
}

#[test]
fn names_cannot_leave_their_place_in_the_path() {
    assert_eq!(
        inspect("../x?y"),
        Request::get("/v2/interpreters/..%2Fx%3Fy".to_owned())
    );
}

#[test]
fn a_promotion_carries_the_digest_of_the_candidate() {
    let mut args = PromoteArgs {
        of: Name {
            name: "widgets".to_owned(),
        },
        digest: None,
        force: false,
        settings: None,
    };
    let expected = || Request::to(Method::POST, "/v2/interpreters/widgets/promote".to_owned());
    assert_eq!(promote(&args, None).unwrap(), expected());
    let digest = || Some("sha256:01".to_owned());
    let body = br#"{"digest":"sha256:01"}"#.to_vec();
    assert_eq!(
        promote(&args, digest()).unwrap(),
        expected().with_body(JSON, body)
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    std::fs::write(&file, r#"{"strict": true}"#).unwrap();
    (args.force, args.settings) = (true, Some(file));
    let body = br#"{"digest":"sha256:01","force":true,"settings":{"strict":true}}"#.to_vec();
    let forced = promote(&args, digest()).unwrap();
    assert_eq!(forced, expected().with_body(JSON, body));
}

#[test]
fn settings_are_sent_as_they_are_written_if_they_are_an_object() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    std::fs::write(&file, "{ \"strict\": true }\n").unwrap();
    assert_eq!(
        settings("widgets", &file).unwrap(),
        Request::to(Method::PUT, "/v2/interpreters/widgets/settings".to_owned())
            .with_body(JSON, b"{ \"strict\": true }\n".to_vec())
    );
    for (text, expected) in [
        ("[]", "invalid type: sequence"),
        ("{\n\"a\": }", "line 2 column 6"),
        ("", "EOF"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = format!("{:#}", settings("widgets", &file).unwrap_err());
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("settings.json"), "{error}");
    }
    let missing = folder.path().join("missing");
    let error = format!("{:#}", settings("widgets", &missing).unwrap_err());
    assert!(error.contains("missing"), "{error}");
}
