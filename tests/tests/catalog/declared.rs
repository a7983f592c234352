//! Settings that are declared beside a component or in the configuration: they change together with the version.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use kindsight_api::interpreters::LiveCondition;
use kindsight_catalog::{CatalogLimits, DeclaredIn, DeclaredSettings, IncomingComponent, Promote};
use kindsight_model::Source;
use serde_json::{Value, json};

use crate::failing_store::FailingStore;
use crate::settings::{SCHEMA, object};
use crate::{
    Host, candidate, component, component_with, engine_limits, file, name, outcome_text, start,
    upload,
};

/// The schema of a later version, which renames the setting.
const RENAMED: &str = r#", "settings-schema": "{\"type\": \"object\", \"properties\": {\"height\": {\"type\": \"integer\"}}, \"required\": [\"height\"], \"additionalProperties\": false}""#;

/// The component of a file, with the settings of the file beside it.
fn with(settings: &Value, bytes: Vec<u8>) -> IncomingComponent {
    IncomingComponent {
        settings: Some(DeclaredSettings {
            place: DeclaredIn::File("a.settings.yaml".to_owned()),
            settings: object(settings).expect("an object"),
        }),
        ..file("a", bytes)
    }
}

/// A host whose configuration declares settings of `a`.
fn configured(store: Arc<FailingStore>, settings: &Value) -> Host {
    let settings = object(settings).map(|settings| (name("a"), settings));
    let interpreters = Arc::new(start(engine_limits()));
    let settings: BTreeMap<_, _> = settings.into_iter().collect();
    let limits = CatalogLimits::default();
    Host::open_configured(store, &[], limits, interpreters, settings).expect("a catalog")
}

impl Host {
    fn settings(&self) -> Option<Value> {
        let entry = self.catalog.entry(&name("a")).expect("an entry");
        entry.settings.clone().map(Value::Object)
    }

    fn next(self, settings: &Value) -> Self {
        configured(FailingStore::over(self.store.kept()), settings)
    }
}

#[test]
fn a_file_and_its_settings_go_live_together() {
    let host = Host::new();
    let old = component_with("a", "1.0.0", SCHEMA);
    expect!["Live: a 1.0.0 is live; its settings are declared in `a.settings.yaml` of the watched directory"]
        .assert_eq(&host.load(&with(&json!({"level": 3}), old.clone())));
    assert_eq!(host.says(), "level 3");
    let new = component_with("a", "2.0.0", RENAMED);
    for (wrong, expected) in [
        (
            with(&json!({"height": 9}), old.clone()),
            "refused: published: settings of `a`: Additional properties are not allowed ('height' was unexpected) in the settings",
        ),
        (
            with(&json!({"level": 3}), new.clone()),
            "refused: published: settings of `a`: ",
        ),
    ] {
        let refused = host.load(&wrong);
        assert!(refused.starts_with(expected), "{refused}");
        assert_eq!(host.says(), "level 3", "version and settings stay");
    }
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from directory; its settings are declared in `a.settings.yaml` of the watched directory"]
        .assert_eq(&host.load(&with(&json!({"height": 9}), new.clone())));
    assert_eq!(host.settings(), Some(json!({"height": 9})));
    let swaps = host.swaps.load(std::sync::atomic::Ordering::Relaxed);
    let again = host.load(&with(&json!({"height": 9}), new.clone()));
    assert_eq!(again, "Unchanged: a 2.0.0 is live already: nothing changed");
    assert_eq!(swaps, host.swaps.load(std::sync::atomic::Ordering::Relaxed));
}

#[test]
fn changed_settings_of_the_same_component_are_set_and_removed_settings_are_gone() {
    let host = Host::new();
    let bytes = component_with("a", "1.0.0", SCHEMA);
    host.load(&with(&json!({"level": 3}), bytes.clone()));
    host.load(&with(&json!({"level": 4}), bytes.clone()));
    assert_eq!(host.says(), "level 4");
    assert_eq!(host.versions("a", Source::Directory), ["1.0.0 Live"]);
    host.load(&file("a", bytes.clone()));
    assert_eq!(host.settings(), None);
    host.load(&with(&json!({"level": 5}), bytes));
    host.catalog
        .remove(&name("a"), Source::Directory)
        .expect("it is removed");
    assert_eq!(host.settings(), None, "they go with the file");
}

#[test]
fn a_command_cannot_change_declared_settings() {
    let host = Host::new();
    host.load(&with(
        &json!({"level": 3}),
        component_with("a", "1.0.0", SCHEMA),
    ));
    let refused = "refused: the settings of `a` are declared in `a.settings.yaml` of the watched directory: change them there";
    for settings in [object(&json!({"level": 4})), None] {
        let outcome = host.catalog.set_settings(&name("a"), settings);
        assert_eq!(outcome_text(&outcome), refused);
    }
    host.load(&candidate("a", component_with("a", "2.0.0", SCHEMA)));
    let promote = Promote {
        settings: object(&json!({"level": 4})),
        ..Promote::default()
    };
    let any = host.catalog.when(LiveCondition::Any);
    assert_eq!(outcome_text(&any.promote(&name("a"), &promote)), refused);
    assert_eq!(host.says(), "level 3");
    any.promote(&name("a"), &Promote::default())
        .expect("without settings");
    assert_eq!(host.says(), "level 3", "an upload has them too");
}

#[test]
fn declared_settings_replace_those_of_a_command() {
    let host = Host::new();
    let bytes = component_with("a", "1.0.0", SCHEMA);
    host.load(&file("a", bytes.clone()));
    host.catalog
        .set_settings(&name("a"), object(&json!({"level": 1})))
        .expect("they fit");
    host.load(&file("a", bytes.clone()));
    assert_eq!(
        host.says(),
        "level 1",
        "a file without settings changes none"
    );
    host.load(&with(&json!({"level": 3}), bytes));
    assert_eq!(host.says(), "level 3");
}

#[test]
fn the_configuration_declares_settings_of_any_source() {
    let host = configured(Arc::default(), &json!({"level": 3}));
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    assert_eq!(host.says(), "level 3");
    let both = host.load(&with(
        &json!({"level": 4}),
        component_with("a", "2.0.0", SCHEMA),
    ));
    expect!["refused: published: the settings of `a` are declared in the configuration of the server and in `a.settings.yaml` of the watched directory: remove one of them"]
        .assert_eq(&both);
    let host = host.next(&json!({"level": 5}));
    assert_eq!(host.says(), "level 5");
    let host = host.next(&Value::Null);
    assert_eq!(host.says(), "no settings");
}

/// The start with the settings of the next version, which arrives a moment later.
#[test]
fn configured_settings_that_do_not_fit_wait_for_their_version() {
    let host = configured(Arc::default(), &json!({"level": 3}));
    host.load(&file("a", component_with("a", "1.0.0", SCHEMA)));
    let host = host.next(&json!({"height": 9}));
    assert_eq!(host.says(), "level 3", "the present ones are kept");
    expect!["published: the settings of `a` in the configuration of the server do not fit its live version, and the present ones are kept: Additional properties are not allowed ('height' was unexpected) in the settings"]
        .assert_eq(&host.last_refusal());
    host.load(&file("a", component_with("a", "2.0.0", RENAMED)));
    assert_eq!(host.settings(), Some(json!({"height": 9})));
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn settings_of_a_component_without_a_schema_are_refused() {
    let host = Host::new();
    expect!["refused: published: settings of `a`: a 1.0.0 (sha256:…) has no settings"]
        .assert_eq(&host.load(&with(&json!({"level": 3}), component("a", "1.0.0"))));
    assert_eq!(host.judges("a"), "nobody");
}

/// `docs/settings.md` has every setting of the built-in interpreters with its default, beside the right name.
#[test]
fn the_documentation_lists_the_settings_of_the_built_in_interpreters() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let engine = start(engine_limits());
    let mut count = 0;
    for built_in in kindsight_plugins::BUILT_IN {
        let interpreter = engine.load_built_in(built_in.wasm).expect("it loads");
        let description = interpreter.description();
        let name = &description.name;
        let Some(schema) = &description.settings_schema else {
            continue;
        };
        let schema: Value = serde_json::from_str(schema).expect("JSON");
        for (setting, schema) in schema["properties"].as_object().expect("properties") {
            let row = format!("`{setting}` | `{}` |", schema["default"]);
            // A row of the table for Pods is about several interpreters, so it has no name.
            let is_listed = [format!("\n| `{name}` | {row}"), format!("\n| {row}")]
                .iter()
                .any(|row| page.contains(row));
            assert!(is_listed, "{name}: {row}");
            count += 1;
        }
    }
    assert!(count > 10, "{count} settings");
}
