//! The hostile suite: each component is loaded through the catalog, with the step that stops it and its message for
//! users. After each, a healthy interpreter on the same host must still judge correctly.

mod answers;
mod calls;
mod imports;
mod latency;
mod promises;
mod shapes;
mod starts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::Expect;
use kindsight_api::interpreters::Refusal;
use kindsight_catalog::{Catalog, CatalogLimits, CatalogOptions, IncomingComponent};
use kindsight_interpreter::Interpreters;
use kindsight_model::{InterpreterName, LoadStep, Object, Phase, Source, Verdict};
use kindsight_store::RedbStore;

use crate::by_hand::Module;
use crate::{object, one_worker, start, thing, verdict_text, without_digests};

/// One hostile component.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    expected: Expected,
}

/// Expected point at which it is stopped.
enum Expected {
    /// Refused at this step of loading.
    Refused(LoadStep),
    /// The component becomes live, and the call about this object shows the fault.
    Called(Object),
    /// The component becomes live and is harmless: a call about this object succeeds.
    Harmless(Object),
}

/// The hostile guest with that description, refused at a step.
fn refused(name: &'static str, step: LoadStep, description: &str) -> Case {
    refused_bytes(name, step, kindsight_tests::hostile(description))
}

fn refused_bytes(name: &'static str, step: LoadStep, bytes: Vec<u8>) -> Case {
    Case {
        name,
        bytes,
        expected: Expected::Refused(step),
    }
}

/// A component or module in text, refused at a step.
fn refused_text(name: &'static str, step: LoadStep, text: &str) -> Case {
    let bytes = wat::parse_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    refused_bytes(name, step, bytes)
}

/// A module by hand, refused at a step.
fn refused_module(name: &'static str, step: LoadStep, module: &Module) -> Case {
    refused_bytes(name, step, module.build())
}

/// The hostile guest as it is, stopped when it is called with this spec.
fn called(name: &'static str, spec: &str) -> Case {
    Case {
        name,
        bytes: kindsight_tests::hostile(r#"{"name": "hostile"}"#),
        expected: Expected::Called(thing(spec)),
    }
}

/// A module by hand, stopped when it is called.
fn called_module(name: &'static str, module: &Module) -> Case {
    called_bytes(name, module.build())
}

fn called_bytes(name: &'static str, bytes: Vec<u8>) -> Case {
    Case {
        name,
        bytes,
        expected: Expected::Called(object("hand.example.com", "{}")),
    }
}

fn name(text: &str) -> InterpreterName {
    text.parse().expect("a name")
}

/// A catalog with a healthy interpreter in it.
struct Host {
    catalog: Catalog,
    healthy: u32,
}

impl Host {
    fn new() -> Self {
        let interpreters: Interpreters = start(one_worker());
        let catalog = Catalog::open(CatalogOptions {
            interpreters: Arc::new(interpreters),
            store: Arc::new(RedbStore::in_memory().expect("a store in memory")),
            built_in: Vec::new(),
            known_objects: Box::new(()),
            settings: BTreeMap::new(),
            limits: CatalogLimits::default(),
            clock: Arc::new(|| 0),
            on_swap: Box::new(|| {}),
        });
        let host = Self {
            catalog: catalog.expect("an empty store"),
            healthy: 0,
        };
        let healthy = r#"{"name": "healthy", "kinds": [["healthy.example.com", "*", "Thing"]]}"#;
        let healthy = IncomingComponent {
            source: Source::Upload,
            name: Some(name("healthy")),
            file: None,
            ..Self::file("healthy", kindsight_tests::hostile(healthy))
        };
        host.catalog.admit(&healthy).expect("it is healthy");
        host
    }

    fn file(name: &str, bytes: Vec<u8>) -> IncomingComponent {
        IncomingComponent {
            source: Source::Directory,
            name: None,
            file: Some(format!("{name}.wasm")),
            gone: BTreeSet::new(),
            settings: None,
            expected: None,
            is_candidate: false,
            replaces_built_in: false,
            bytes,
        }
    }

    fn judge(&self, object: Object) -> Verdict {
        let batch: Arc<[Object]> = [object].into();
        let mut judged = self.catalog.interpreters().judge_each(&batch, 0);
        judged.remove(0)
    }

    /// Judges a new object with the healthy interpreter, so that the verdict is not taken from a memo.
    fn is_healthy(&mut self) -> bool {
        self.healthy += 1;
        let spec = format!(r#"{{"number": {}}}"#, self.healthy);
        let judged = self.judge(object("healthy.example.com", &spec));
        let by = judged.by.as_ref().map(|by| &*by.name);
        by == Some("healthy") && judged.phase == Phase::Ready
    }

    /// Loads and, if it goes live, calls it; returns the message users see.
    fn load(&mut self, case: &Case) -> String {
        let name = case.name;
        let outcome = self.catalog.admit(&Self::file(name, case.bytes.clone()));
        let seen = match (&case.expected, outcome) {
            (Expected::Refused(expected), Err(Refusal::Refused { step, why })) => {
                assert_eq!(step, *expected, "{name}: {why}");
                self.is_remembered(name, step, &why);
                steady(&format!("{step}: {why}"))
            }
            (Expected::Called(object), Ok(_)) => {
                let judged = self.judge(object.clone());
                assert!(judged.by.is_some(), "{name}");
                verdict_text(&judged)
            }
            (Expected::Harmless(object), Ok(_)) => {
                let judged = self.judge(object.clone());
                assert_eq!(
                    judged.phase,
                    Phase::Ready,
                    "{name}: {}",
                    verdict_text(&judged)
                );
                verdict_text(&judged)
            }
            (_, outcome) => panic!("{name}: {outcome:?}"),
        };
        if !matches!(case.expected, Expected::Refused(_)) {
            let names = self
                .catalog
                .names_in(Source::Directory, &format!("{name}.wasm"));
            let [named] = names.as_slice() else {
                panic!("{name}: it fills {names:?}")
            };
            let removed = self.catalog.remove(named, Source::Directory);
            removed.expect("it goes");
        }
        seen
    }

    /// Checks that the same words are in the log of refusals, and that no name is left.
    fn is_remembered(&self, name: &str, step: LoadStep, why: &str) {
        let file = format!("{name}.wasm");
        let mut refused = self.catalog.refused().into_iter();
        let refused = refused.find(|refused| refused.file.as_ref() == Some(&file));
        let refused = refused.expect("a refusal");
        assert_eq!(refused.step, step, "{name}");
        assert!(why.starts_with(&refused.why), "{name}: {}", refused.why);
        let name = InterpreterName::from_lossy(name);
        assert!(self.catalog.entry(&name).is_none(), "{name}");
    }
}

/// Text without digests and offsets, which change with every build of the guests.
fn steady(text: &str) -> String {
    let text = without_digests(text);
    let mut parts = text.split("at offset 0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        format!("{text}at offset …{rest}")
    })
}

/// Loads each of them, and compares all messages.
fn check(cases: &[Case], expected: &Expect) {
    let mut host = Host::new();
    let mut lines = String::new();
    for case in cases {
        let seen = host.load(case);
        assert!(host.is_healthy(), "after `{}`", case.name);
        writeln!(lines, "{}\n  {seen}", case.name).expect("text");
    }
    expected.assert_eq(&lines);
}

#[test]
fn there_are_enough_of_them() {
    let cases = [
        answers::cases(),
        calls::cases(),
        imports::cases(),
        promises::cases(),
        shapes::cases(),
        starts::cases(),
    ];
    let mut names: Vec<_> = cases.iter().flatten().map(|case| case.name).collect();
    let count = names.len();
    println!("{count} hostile components");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "each once");
    assert!(count >= 40, "{count} hostile components");
}
