//! Random changes: a receiver behind the wire knows what a receiver of the source knows.

use kindsight_model::{DigName, KindCoverage, KindState, Origin, Scope};
use tokio::time::Instant;

use super::*;
use crate::agent::{Frames, Ledger};

/// Number of random runs, and of steps in each.
const RUNS: u64 = 40;
const STEPS: usize = 120;
/// Number of subjects, and of names of objects in each.
const SUBJECTS: usize = 4;
const NAMES: usize = 40;

/// The cluster of one run: versions of objects by subject and name.
struct Source {
    random: fastrand::Rng,
    objects: Vec<BTreeMap<usize, u32>>,
    last: Vec<Report>,
    coverage: Coverage,
}

impl Source {
    fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            objects: vec![BTreeMap::new(); SUBJECTS],
            last: (0..SUBJECTS).map(|at| Report::empty(origin(at))).collect(),
            coverage: Coverage::nothing(),
        }
    }

    /// A random change, as an event.
    fn step(&mut self) -> ClusterEvent {
        let cluster: ClusterName = "p+edge".parse().unwrap();
        let at = self.random.usize(..SUBJECTS);
        match self.random.u8(..20) {
            0 => {
                let states = [
                    KindState::Complete,
                    KindState::Unavailable,
                    KindState::Forbidden,
                ];
                let state = states[self.random.usize(..states.len())];
                let kind = ["Pod", "ConfigMap"][self.random.usize(..2)];
                let found = KindCoverage::new(state);
                self.coverage.set("", kind, Scope::Cluster, found);
                let coverage = self.coverage.clone();
                return ClusterEvent::Coverage { cluster, coverage };
            }
            1 if at >= 2 => {
                self.objects[at].clear();
                self.last[at] = Report::empty(origin(at));
                let Subject::Deployment(deployment) = subject(at) else {
                    unreachable!("the last subjects are deployments");
                };
                return ClusterEvent::Gone {
                    cluster,
                    deployment,
                };
            }
            2 => self.objects[at].clear(),
            _ => self.change(at),
        }
        let report = self.report(at);
        ClusterEvent::Reports {
            cluster,
            reports: vec![(subject(at), report)],
            missing: Vec::new(),
        }
    }

    /// Adds, changes or removes some objects.
    fn change(&mut self, at: usize) {
        for _ in 0..self.random.usize(1..6) {
            let name = self.random.usize(..NAMES);
            if self.random.u8(..4) == 0 {
                self.objects[at].remove(&name);
            } else {
                *self.objects[at].entry(name).or_default() += 1;
            }
        }
    }

    /// The report on a subject. It shares unchanged objects with the previous one, and names the removed ones.
    fn report(&mut self, at: usize) -> Report {
        let last = &self.last[at];
        let objects = self.objects[at].iter().map(|(name, version)| {
            let object = object(at, *name, *version);
            let mut before = last.objects.iter();
            let known = before.find(|before| object.is_unchanged(before));
            known.cloned().unwrap_or(object)
        });
        let objects: Vec<Object> = objects.collect();
        let same = objects.len() == last.objects.len()
            && (objects.iter().zip(&last.objects)).all(|(now, before)| now.name == before.name);
        let list = if same {
            last.objects.with(objects.iter().cloned().enumerate())
        } else {
            objects.as_slice().into()
        };
        let removed = last.objects.iter().map(Identity::from);
        let removed =
            removed.filter(|identity| !objects.iter().any(|object| object.name == identity.name));
        let report = Report {
            hooks: (0..objects.len()).filter(|at| at % 7 == 3).collect(),
            objects: list,
            coverage: self.coverage.clone(),
            removed: removed
                .map(|identity| (identity, Removal::LeftApplication))
                .collect(),
            ..Report::empty(origin(at))
        };
        self.last[at] = Report {
            removed: Vec::new(),
            ..report.clone()
        };
        report
    }
}

/// Two applications, and two deployments.
fn subject(at: usize) -> Subject {
    if at < 2 {
        Subject::Application {
            application: DigName::found("shop", Some("web")).unwrap(),
            app: format!("app-{at}").into(),
        }
    } else {
        Subject::Deployment(format!("7-app-{at}").parse().unwrap())
    }
}

fn origin(at: usize) -> Origin {
    if at < 2 {
        Origin::Found
    } else {
        Origin::Direct
    }
}

fn object(at: usize, name: usize, version: u32) -> Object {
    let kind = ["Pod", "ConfigMap"][name % 2];
    let json = format!(
        r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"o{name:02}","namespace":"n{at}"}},"data":{{"v":"{version}"}}}}"#
    );
    Object::from_json(json).unwrap()
}

/// An agent whose server can be away.
struct Agent {
    ledger: Ledger,
    frames: Frames,
    unsent: Vec<Vec<u8>>,
    epoch: u64,
    sequence: u64,
}

impl Agent {
    fn begin_epoch(&mut self) {
        self.ledger.begin_epoch();
        self.frames = Frames::default();
        self.unsent.clear();
        self.epoch += 1;
        self.sequence = 0;
    }

    /// Writes changes, at most this number of groups.
    fn write(&mut self, mut groups: usize) {
        self.ledger.write(&mut self.frames, |_| {
            groups = groups.saturating_sub(1);
            groups == 0
        });
        self.unsent.extend(self.frames.take_all());
    }

    async fn send(&mut self, host: &Host) {
        for frame in std::mem::take(&mut self.unsent) {
            match host.send(self.epoch, self.sequence, &frame).await {
                Ok(expected) => self.sequence = expected,
                Err(PushRefusal::NewEpoch(_)) => {
                    self.begin_epoch();
                    self.write(usize::MAX);
                    return Box::pin(self.send(host)).await;
                }
                Err(refusal) => panic!("{refusal:?}"),
            }
        }
        self.ledger.settle();
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_behind_the_wire_knows_what_a_receiver_of_the_source_knows() {
    let deployments = ["7-app-2", "7-app-3"];
    for seed in 0..RUNS {
        let mut source = Source::new(seed);
        let mut random = fastrand::Rng::with_seed(seed ^ 0x4d);
        let (mut direct, mut pushed) = (Mirror::default(), Mirror::default());
        let mut host = Host::start().await;
        host.record(&deployments).await;
        let mut agent = Agent {
            ledger: Ledger::default(),
            frames: Frames::default(),
            unsent: Vec::new(),
            epoch: 1,
            sequence: 0,
        };
        let cluster = host.cluster.clone();
        for event in [
            ClusterEvent::Coverage {
                cluster: cluster.clone(),
                coverage: source.coverage.clone(),
            },
            ClusterEvent::Synced { cluster },
        ] {
            direct.take(event.clone());
            agent.ledger.take(event);
        }
        for step in 0..STEPS {
            let event = source.step();
            direct.take(event.clone());
            agent.ledger.take(event);
            match random.u8(..24) {
                0 => {
                    host = Host::start().await;
                    host.record(&deployments).await;
                    pushed = Mirror::default();
                }
                1 => agent.begin_epoch(),
                // Frames are lost with the process of the agent, or wait.
                2..=8 => agent.write(random.usize(1..3)),
                9..=14 => {
                    agent.write(usize::MAX);
                    agent.send(&host).await;
                    for event in host.take() {
                        let lost = pushed.take(event);
                        // The source names every removal, so no object is lost without a reason.
                        assert!(
                            lost.iter().all(|(_, reason)| reason.is_some()),
                            "{seed} {step} {lost:?}"
                        );
                    }
                    assert_eq!(pushed, direct, "run {seed}, step {step}");
                }
                _ => {}
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_change_of_many_objects_is_a_small_frame() {
    let mut ledger = Ledger::default();
    let mut frames = Frames::default();
    let cluster: ClusterName = "p+edge".parse().unwrap();
    let objects: Vec<Object> = (0..5000).map(|name| object(0, name, 1)).collect();
    let report = Report {
        objects: objects.into(),
        ..Report::empty(Origin::Found)
    };
    let event = |report: &Report| ClusterEvent::Reports {
        cluster: cluster.clone(),
        reports: vec![(subject(0), report.clone())],
        missing: Vec::new(),
    };
    ledger.take(event(&report));
    ledger.write(&mut frames, |_| false);
    let first: usize = frames.take_all().iter().map(Vec::len).sum();
    let changed = Report {
        objects: report.objects.with([(4000, object(0, 4000, 2))]),
        ..report
    };
    let began = Instant::now();
    ledger.take(event(&changed));
    assert_eq!(ledger.changed_at(), Some(began));
    ledger.write(&mut frames, |_| false);
    assert_eq!(ledger.changed_at(), None);
    let second: usize = frames.take_all().iter().map(Vec::len).sum();
    assert!(first > 10_000 && second < 500, "{first} and {second} bytes");
}
