use expect_test::expect;
use kindsight_model::{CatalogAction, Digest, Source, VersionOutcome};

use super::*;
use crate::state::{Event, SourceVersions, Version};

/// A document of the first format, with everything that was renamed since then.
const PAGES: &str = r#"{
  "format": 1,
  "pages": {
    "My_Widgets": {
      "is-disabled": true,
      "settings": {"level": 7},
      "slots": {
        "directory": {
          "file": "My_Widgets.wasm",
          "versions": [
            {"digest": "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
             "version": "2.0.0", "outcome": "bad", "why": "faults", "received-ms": 5}
          ]
        }
      },
      "history": [
        {"time-ms": 6, "action": "breaker", "digest": "", "version": "", "outcome": "back"}
      ]
    }
  }
}"#;

fn name(text: &str) -> InterpreterName {
    text.parse().expect("a name")
}

#[test]
fn an_entry_is_stored_as_one_value() {
    let version = Version {
        digest: Digest::of(b"abc"),
        version: "1.0.0".to_owned(),
        outcome: VersionOutcome::RolledBack,
        why: "faults".to_owned(),
        received_ms: 1,
        manifest: Some(Digest::of(b"abc")),
        shadow_faults: 0,
        unavailable: Some("not stored".into()),
    };
    let source = SourceVersions {
        file: Some("a.wasm".to_owned()),
        versions: [version].into(),
    };
    let event = Event {
        time_ms: 2,
        action: CatalogAction::Breaker,
        by: None,
        digest: None,
        version: String::new(),
        outcome: "rolled back".to_owned(),
    };
    let entry = Entry {
        sources: [(Source::Directory, source)].into(),
        history: [event].into(),
        ..Entry::default()
    };
    let bytes = write_entry(&entry).expect("JSON");
    expect![[r#"{"sources":{"directory":{"file":"a.wasm","versions":[{"digest":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","version":"1.0.0","outcome":"rolled-back","why":"faults","received-ms":1,"manifest":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]}},"history":[{"time-ms":2,"action":"breaker","version":"","outcome":"rolled back"}]}"#]]
        .assert_eq(&String::from_utf8_lossy(&bytes));
    let read = read_entry(&bytes).expect("an entry");
    assert_eq!(write_entry(&read).expect("JSON"), bytes);
    let head = Head {
        format: FORMAT,
        generation: 7,
        digest: Some(Digest::of(b"abc")),
    };
    let head = serde_json::to_string(&head).expect("JSON");
    expect![[r#"{"format":3,"generation":7,"digest":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#]]
        .assert_eq(&head);
    Head::read(br#"{"format":3}"#).expect_err("it is cut off");
}

/// A document that the previous release wrote.
#[test]
fn one_document_of_all_entries_is_still_read() {
    let document = br#"{"format":2,"entries":{"a":{"sources":{"directory":{"file":"a.wasm","versions":[{"digest":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","version":"1.0.0","outcome":"rolled-back","why":"faults","received-ms":1}]}},"history":[{"time-ms":2,"action":"breaker","version":"","outcome":"rolled back"}]}}}"#;
    let state = read_legacy(FORMAT_OF_ENTRIES, document).expect("a state");
    let entry = &state.entries[&name("a")];
    assert_eq!(
        entry.sources[&Source::Directory].versions[0].version,
        "1.0.0"
    );
    assert_eq!(entry.history[0].outcome, "rolled back");
}

#[test]
fn the_first_format_is_still_read() {
    let state = read_legacy(FORMAT_OF_PAGES, PAGES.as_bytes()).expect("a state");
    let entry = &state.entries[&name("my-widgets")];
    assert!(entry.is_disabled);
    assert_eq!(entry.settings.as_ref().expect("settings")["level"], 7);
    let source = &entry.sources[&Source::Directory];
    assert_eq!(source.file.as_deref(), Some("My_Widgets.wasm"));
    assert_eq!(source.versions[0].outcome, VersionOutcome::RolledBack);
    assert_eq!(source.versions[0].digest, Digest::of(b"abc"));
    assert_eq!(entry.history[0].digest, None);
    assert_eq!(entry.history[0].action, CatalogAction::Breaker);
}

#[test]
fn a_later_format_and_a_damaged_document_are_distinguished() {
    let later = Head::read(br#"{"format": 4, "generation": "many"}"#).expect("a head");
    let read = read_legacy(later.format, b"{}");
    assert!(matches!(read, Err(None)), "{read:?}");
    for corrupt in [
        "",
        "[]",
        r#"{"format": 1}"#,
        r#"{"format": 2}"#,
        r#"{"format": 3}"#,
        r#"{"format": 1, "pages": 7}"#,
    ] {
        let bytes = corrupt.as_bytes();
        let is_corrupt = Head::read(bytes).map_or(true, |head| {
            matches!(read_legacy(head.format, bytes), Err(Some(_)))
        });
        assert!(is_corrupt, "{corrupt}");
    }
}
