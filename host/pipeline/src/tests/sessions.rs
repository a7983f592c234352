//! Random sequences over several sessions with a cluster. They compare a real index and a real pipeline with a simple
//! model.

mod check;
mod expected;
mod server;
mod source;
mod step;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::{ClusterEvent, RemoteInventories};
use kindsight_model::{DigName, Identity, KindState, Phase, Presence, Scope};
use kindsight_status::{ApplicationKey, ResourceView, Role};
use kindsight_store::{RedbStore, Store};
use proptest::collection::vec;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::Event;
use crate::remembered::RememberedFile;
use crate::remembered::writer::Writer;
use crate::tests::found::{stage, stale};
use crate::tests::stage::Stage;
use server::{APPLICATIONS, GROUP, KINDS, NAMESPACES, Name, Server, Spec};
use source::{Configuration, Source};
use step::{Step, step};

/// Number of sequences.
const CASES: u32 = 400;
/// Time for which objects are listed that are gone.
const GONE_FOR: Duration = Duration::from_secs(10);

/// A source and the pipeline that receives its events.
struct Run<'s> {
    stage: &'s mut Stage,
    /// The last-known state.
    store: Arc<RedbStore>,
    source: Source,
    /// Number of clusters that had the name.
    clusters: u64,
    /// The objects that are known not to exist.
    gone: BTreeSet<(&'static str, Identity)>,
    now_ms: i64,
}

impl<'s> Run<'s> {
    fn new(stage: &'s mut Stage) -> Self {
        let configuration = Configuration {
            is_one_namespace: false,
            is_selected: false,
        };
        let mut run = Self {
            stage,
            store: Arc::new(RedbStore::in_memory().unwrap()),
            source: Source::new(Server::new(0), configuration),
            clusters: 0,
            gone: BTreeSet::new(),
            now_ms: 100_000,
        };
        run.start();
        run
    }

    fn file(&self) -> RememberedFile {
        let store: Arc<dyn Store> = Arc::clone(&self.store) as _;
        RememberedFile::open(store).unwrap()
    }

    /// Starts the process over the last-known state.
    fn start(&mut self) {
        let mut file = self.file();
        self.stage
            .start_over(&mut file, &["p+a"], GONE_FOR, self.now_ms);
    }

    fn take(&mut self, step: Step) {
        self.now_ms += 10;
        match step {
            Step::Set(kind, name, spec) => self.source.set(kind, name, spec),
            Step::Answers(kind, state) => {
                self.source.server.states.insert(kind, state);
            }
            Step::Remove(kind) => self.source.remove(kind),
            Step::Restore => self.source.restore(),
            Step::List(at, has_unnamed) => {
                self.source.init(at, has_unnamed);
                self.source.init_done(at);
            }
            Step::Init(at, has_unnamed) => self.source.init(at, has_unnamed),
            Step::InitApply(at) => self.source.init_apply(at, 1),
            Step::InitDone(at) => self.source.init_done(at),
            Step::Follow(at, count) => self.source.follow(at, count),
            Step::Skip(at) => self.source.skip(at),
            Step::ListParts => self.source.list_parts(),
            Step::Report => self.report(),
            Step::Lost => {
                self.source.is_stale = true;
                self.handle(stale("p+a"));
            }
            Step::Session(configuration, has_failed) => {
                if has_failed {
                    self.handle(stale("p+a"));
                }
                self.source.begin_session(configuration);
            }
            Step::OtherCluster => self.replace_cluster(),
            Step::Later => {
                self.now_ms += 11 * 60 * 1000;
                self.source.is_late = true;
                self.source.remove_kinds();
                let now_ms = self.now_ms;
                self.stage.pipeline.recheck(|| now_ms);
                self.check();
            }
            Step::Restart => {
                let read_model = self.stage.read_model.clone();
                Writer::new(self.file(), read_model, RemoteInventories::default())
                    .write(self.now_ms, true);
                self.start();
                let server = std::mem::replace(&mut self.source.server, Server::new(0));
                self.source = Source::new(server, self.source.configuration);
            }
            Step::Overtake(at, name, specs) => self.overtake(at, name, specs),
            Step::Sync => self.sync(),
            Step::Settle => self.settle(),
        }
    }

    /// A server with another uid answers.
    fn replace_cluster(&mut self) {
        self.clusters += 1;
        let server = Server::new(self.clusters);
        self.source = Source::new(server, self.source.configuration);
        let cluster = "p+a".parse().unwrap();
        self.handle(Event::Cluster(ClusterEvent::Removed { cluster }));
        let cluster = "p+a".parse().unwrap();
        self.handle(Event::Cluster(ClusterEvent::Added { cluster }));
    }

    fn handle(&mut self, event: Event) {
        self.stage.pipeline.handle(event, self.now_ms);
    }

    fn report(&mut self) {
        for event in self.source.report() {
            self.handle(Event::Cluster(event));
        }
        self.gone.append(&mut self.source.gone);
        self.check();
    }

    /// Lists each Kind that the server answers for, and reports.
    fn sync(&mut self) {
        for at in 0..KINDS.len() {
            self.source.init(at, false);
            self.source.init_done(at);
        }
        // Objects of one Kind may be needed because of those of another.
        for _ in 0..3 {
            self.source.list_parts();
            self.report();
        }
    }

    fn overtake(&mut self, at: usize, name: Name, [first, second, third]: [Spec; 3]) {
        let kind = KINDS[at];
        self.source.set(kind, name, Some(first));
        self.source.follow(at, usize::MAX);
        self.source.set(kind, name, Some(second));
        self.source.set(kind, name, Some(third));
        self.source.list_parts();
        self.source.follow(at, 1);
    }

    /// The server answers for every Kind, everything is listed, and the view is compared with the server.
    fn settle(&mut self) {
        for kind in KINDS {
            self.source.server.states.insert(kind, KindState::Complete);
        }
        self.sync();
        assert!(!self.source.is_stale, "not everything was reported");
        for application in APPLICATIONS {
            self.compare(application);
        }
    }

    /// The resources of an application, and whether they may be out of date.
    fn resources(&self, application: &str) -> (Vec<ResourceView>, bool) {
        let name = DigName::found(application, None).unwrap();
        let found = self
            .stage
            .read_model
            .application(&ApplicationKey::Found(name));
        let Some(found) = found else {
            return (Vec::new(), false);
        };
        let view = &found.apps[0].clusters()[0];
        let resources = view.resources().iter().cloned().collect();
        (resources, view.report().stale().is_some())
    }
}

fn is_green(resource: &ResourceView) -> bool {
    resource.role != Role::Gone && resource.verdict.phase == Phase::Ready
}

#[test]
fn an_index_and_a_pipeline_show_the_objects_of_a_cluster_over_sessions() {
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        rng_seed: RngSeed::Fixed(22),
        failure_persistence: None,
        ..Config::default()
    });
    let stage = RefCell::new(stage());
    let result = runner.run(&vec(step(), 1..80), |steps| {
        let mut stage = stage.borrow_mut();
        let mut run = Run::new(&mut stage);
        for step in steps {
            run.take(step);
        }
        run.take(Step::Settle);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
