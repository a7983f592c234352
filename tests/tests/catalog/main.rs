//! The catalog over real interpreters, from their admission to a restart, over a store that fails at a place that the
//! test selects.

mod artifacts;
mod breaker;
mod crash;
mod declared;
mod directory;
mod failing_store;
mod lifecycle;
mod locks;
mod names;
mod recorded;
mod refusals;
mod restart;
mod settings;
mod settings_trial;
mod shared;
mod sources;
mod takeover;
mod unavailable;
mod version_trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use kindsight_api::interpreters::{Outcome, Refusal};
use kindsight_catalog::{
    Catalog, CatalogLimits, CatalogOptions, IncomingComponent, KnownObjects, OpenError,
};
use kindsight_interpreter::{CodeCache, Interpreters, Limits, ReportedGroup};
use kindsight_model::{Digest, InterpreterName, Object, Source, Verdict};

use failing_store::FailingStore;
use serde_json::{Map, Value};

/// Time of all events, so that stored data is the same in every run.
const NOW_MS: i64 = 1_700_000_000_000;

/// A catalog, its store, and the number of swaps.
struct Host {
    catalog: Arc<Catalog>,
    store: Arc<FailingStore>,
    swaps: Arc<AtomicUsize>,
    known: Known,
}

/// The objects that the clusters of a test have reported.
#[derive(Default, Clone)]
struct Known(Arc<Mutex<Vec<ReportedGroup>>>);

impl KnownObjects for Known {
    fn wait(&self) {}

    fn reported(&self) -> Vec<ReportedGroup> {
        self.0.lock().expect("no test panics with it").clone()
    }
}

impl Host {
    /// A host over an empty store, without built-in interpreters.
    fn new() -> Self {
        Self::over(Arc::default(), &[])
    }

    fn over(store: Arc<FailingStore>, built_in: &[Vec<u8>]) -> Self {
        Self::open(store, built_in, CatalogLimits::default()).expect("a catalog")
    }

    fn open(
        store: Arc<FailingStore>,
        built_in: &[Vec<u8>],
        limits: CatalogLimits,
    ) -> Result<Self, OpenError> {
        Self::open_with(store, built_in, limits, engine_limits())
    }

    fn open_with(
        store: Arc<FailingStore>,
        built_in: &[Vec<u8>],
        limits: CatalogLimits,
        engine: Limits,
    ) -> Result<Self, OpenError> {
        Self::open_on(store, built_in, limits, Arc::new(start(engine)))
    }

    fn open_on(
        store: Arc<FailingStore>,
        built_in: &[Vec<u8>],
        limits: CatalogLimits,
        interpreters: Arc<Interpreters>,
    ) -> Result<Self, OpenError> {
        Self::open_configured(store, built_in, limits, interpreters, BTreeMap::new())
    }

    fn open_configured(
        store: Arc<FailingStore>,
        built_in: &[Vec<u8>],
        limits: CatalogLimits,
        interpreters: Arc<Interpreters>,
        settings: BTreeMap<InterpreterName, Map<String, Value>>,
    ) -> Result<Self, OpenError> {
        let built_in = built_in.iter().map(|wasm| interpreters.load_built_in(wasm));
        let built_in: Result<Vec<_>, _> = built_in.collect();
        let known = Known::default();
        let swaps = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&swaps);
        let catalog = Catalog::open(CatalogOptions {
            interpreters,
            store: Arc::clone(&store) as _,
            built_in: built_in.expect("they load"),
            known_objects: Box::new(known.clone()),
            settings,
            limits,
            clock: Arc::new(|| NOW_MS),
            on_swap: Box::new(move || {
                counted.fetch_add(1, Ordering::Relaxed);
            }),
        })?;
        Ok(Self {
            catalog: Arc::new(catalog),
            store,
            swaps,
            known,
        })
    }

    /// The next process, over the data this one has stored.
    fn again(self) -> Self {
        Self::over(FailingStore::over(self.store.kept()), &[])
    }

    fn admit(&self, incoming: &IncomingComponent) -> Result<Outcome, Refusal> {
        self.catalog.admit(incoming)
    }

    /// Admits it, and returns the outcome as text.
    fn load(&self, incoming: &IncomingComponent) -> String {
        outcome_text(&self.admit(incoming))
    }

    /// Published interpreters as `name version source`, in order of name.
    fn live(&self) -> Vec<String> {
        let set = self.catalog.interpreters().published();
        let live = set.interpreters();
        let mut live: Vec<String> = live
            .map(|(source, interpreter)| {
                format!(
                    "{} {} {source:?}",
                    interpreter.by().name,
                    interpreter.by().version
                )
            })
            .collect();
        live.sort();
        live
    }

    /// Verdict on a Thing of that group with this spec.
    fn judge(&self, group: &str, spec: &str) -> Verdict {
        let batch: Arc<[Object]> = [thing(group, spec)].into();
        let mut judged = self.catalog.interpreters().judge_each(&batch, 0);
        judged.remove(0)
    }

    /// Name and version of the interpreter that judges the Things of that group.
    fn judges(&self, name: &str) -> String {
        let by = self.judge(name, "{}").by;
        by.map_or_else(
            || "nobody".to_owned(),
            |by| format!("{} {}", by.name, by.version),
        )
    }

    /// Versions and outcomes from one source, the last changed version first.
    fn versions(&self, name: &str, source: Source) -> Vec<String> {
        let entry = self.catalog.entry(&self::name(name)).expect("an entry");
        let Some(source) = entry.sources.get(&source) else {
            return Vec::new();
        };
        let versions = source.versions.iter();
        versions
            .map(|version| format!("{} {:?}", version.version, version.outcome))
            .collect()
    }

    /// Step and reason of the last refusal.
    fn last_refusal(&self) -> String {
        let refused = self.catalog.refused().into_iter().next();
        let refused = refused.expect("a refusal");
        without_digests(&format!("{}: {}", refused.step, refused.why))
    }

    /// Last event in the history of a name.
    fn last_event(&self, name: &str) -> String {
        let entry = self.catalog.entry(&self::name(name)).expect("an entry");
        let event = entry.history.back().expect("an event");
        without_digests(&format!(
            "{:?} {:?}: {}",
            event.action, event.by, event.outcome
        ))
    }
}

fn engine_limits() -> Limits {
    Limits {
        workers: 1,
        ..Limits::default()
    }
}

/// An engine with a cache that all tests share, because most of them load the same components.
fn start(limits: Limits) -> Interpreters {
    static CACHE: OnceLock<CodeCache> = OnceLock::new();
    let cache = CACHE.get_or_init(|| {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("catalog");
        CodeCache::open(&folder).expect("a cache")
    });
    Interpreters::start(limits, Some(cache.clone())).expect("an engine")
}

/// A component of that name and version that judges the Things of the group with its name.
fn component(name: &str, version: &str) -> Vec<u8> {
    component_with(name, version, "")
}

/// Like [`component`], with further members of the description, each after a comma.
fn component_with(name: &str, version: &str, more: &str) -> Vec<u8> {
    kindsight_tests::hostile(&format!(
        r#"{{"name": "{name}", "version": "{version}", "kinds": [["{name}", "*", "Thing"]]{more}}}"#
    ))
}

fn upload(name: &str, bytes: Vec<u8>) -> IncomingComponent {
    IncomingComponent {
        source: Source::Upload,
        name: Some(self::name(name)),
        file: None,
        gone: BTreeSet::new(),
        settings: None,
        expected: None,
        is_candidate: false,
        replaces_built_in: false,
        bytes,
    }
}

fn candidate(name: &str, bytes: Vec<u8>) -> IncomingComponent {
    IncomingComponent {
        is_candidate: true,
        ..upload(name, bytes)
    }
}

/// A component as the watcher of the directory sends it.
fn file(stem: &str, bytes: Vec<u8>) -> IncomingComponent {
    IncomingComponent {
        source: Source::Directory,
        name: None,
        file: Some(format!("{stem}.wasm")),
        ..upload("any", bytes)
    }
}

fn digest(bytes: &[u8]) -> Digest {
    Digest::of(bytes)
}

fn name(text: &str) -> InterpreterName {
    text.parse().expect("a name")
}

fn thing(group: &str, spec: &str) -> Object {
    let json = format!(
        r#"{{"apiVersion": "{group}/v1", "kind": "Thing", "metadata": {{"name": "it"}}, "spec": {spec}}}"#
    );
    Object::from_json(json).expect("an object")
}

/// The outcome as users read it, without digests, because digests change with every build.
fn outcome_text(outcome: &Result<Outcome, Refusal>) -> String {
    without_digests(&match outcome {
        Ok(report) => format!("{:?}: {}", report.status, report.detail),
        Err(refusal) => format!("refused: {refusal}"),
    })
}

fn without_digests(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let hex = word.trim_start_matches(['(', '`']);
        let hex = hex.strip_prefix("sha256:").unwrap_or(hex);
        let digits = hex.chars().take_while(char::is_ascii_hexdigit).count();
        if digits < 12 {
            return word.to_owned();
        }
        let (before, digits_on) = word.split_at(word.len() - hex.len());
        let after = digits_on.get(digits..).unwrap_or_default();
        format!("{before}…{after}")
    });
    words.collect::<Vec<_>>().join(" ")
}
