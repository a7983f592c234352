//! Random lives with restarts and faults of the store, compared with a model.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{ContextStatus, LifecycleState};
use kindsight_store::RedbStore;

use super::clusters::Clusters;
use super::stage::{Host, app, manifest, name};
use crate::{Command, DraftApp, Outcome, Result};

/// The number of lives.
const LIVES: u64 = 60;
/// The number of requests of a life.
const REQUESTS: usize = 40;
/// Maximum number of writes until a process ends.
const WRITES_MAX: u64 = 60;

/// Pseudo-random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, max: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % max
    }
}

/// One of some contents: apps, clusters and resources differ.
fn content(number: u64) -> Vec<DraftApp> {
    let clusters: &[&str] = match number % 3 {
        0 => &["lab+a"],
        1 => &["lab+a", "lab+b"],
        _ => &["lab+b"],
    };
    let data = format!("data: {{number: '{}'}}\n", number % 2);
    let mut apps = vec![app(
        "front",
        clusters,
        vec![manifest("one"), manifest("two") + &data],
    )];
    if number % 4 > 1 {
        let names = if number.is_multiple_of(2) {
            ["x", "y"]
        } else {
            ["y", "z"]
        };
        apps.push(app("back", &["lab+a"], names.map(manifest).into()));
    }
    apps
}

/// The resources that the clusters have after a content was sent.
fn expected(content: &[DraftApp]) -> BTreeSet<String> {
    let mut resources = BTreeSet::new();
    for app in content {
        for cluster in &app.clusters {
            for manifest in &app.manifests {
                let name = manifest.split("name: ").nth(1).unwrap();
                let name = name.split('}').next().unwrap();
                let data = manifest.split("number: '").nth(1);
                let data = data.map_or("", |data| data.split('\'').next().unwrap());
                resources.insert(format!("{cluster} {name} {data}"));
            }
        }
    }
    resources
}

fn present(clusters: &Clusters) -> BTreeSet<String> {
    let state = clusters.state();
    let resources = state.resources.iter();
    let lines = resources.map(|((cluster, _, name), json)| {
        let data = json.split(r#""number":""#).nth(1);
        let data = data.map_or("", |data| data.split('"').next().unwrap());
        format!("{cluster} {name} {data}")
    });
    lines.collect()
}

/// The content of the last instance, according to the stored revision.
fn last_content(host: &Host) -> BTreeSet<String> {
    let revision = host.groups.get(&name()).unwrap().revision;
    let intent = host.records.revision(name(), revision).unwrap().unwrap();
    let apps = intent.apps.into_iter().map(|intent| {
        let clusters: Vec<String> = intent.clusters.iter().map(ToString::to_string).collect();
        let clusters: Vec<&str> = clusters.iter().map(String::as_str).collect();
        app(&intent.name, &clusters, intent.manifests)
    });
    expected(&apps.collect::<Vec<_>>())
}

/// A random request. A refusal is no failure; a fault of the store is.
fn request(host: &Host, random: &mut Random) -> Result<()> {
    let revisions = || host.records.revisions(name());
    let done = match random.below(12) {
        0..=2 => host.put_apps(content(random.below(12))).map(drop),
        3 | 4 => host.act(Command::Approve),
        5 => host.act(Command::Instantiate),
        6 => host.act(Command::Update),
        7 => match revisions()?.first() {
            Some(revision) => host.act(Command::Rollback(*revision)),
            None => Ok(()),
        },
        8 => host.act(Command::Terminate),
        9 => host.act(Command::Stop),
        10 => {
            let mut state = host.clusters.state();
            if random.below(2) == 0 {
                state.unreachable.insert("lab+b".to_owned());
            } else {
                state.unreachable.clear();
            }
            Ok(())
        }
        _ => host.run().map(drop),
    };
    match done {
        Err(crate::Error::Store(error)) if error.is_unavailable() => {
            Err(crate::Error::Store(error))
        }
        _ => Ok(()),
    }
}

/// Completes the work, and checks that the clusters have what the record asks for.
fn check(host: &Host, life: u64) {
    host.clusters.state().unreachable.clear();
    for job in host.groups.unfinished().unwrap() {
        assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
    }
    assert!(host.groups.unfinished().unwrap().is_empty());
    let Ok(group) = host.groups.get(&name()) else {
        assert!(present(&host.clusters).is_empty());
        return;
    };
    match (group.situation.state, group.status) {
        (LifecycleState::Instantiated, status) => {
            assert_eq!(status, Some(ContextStatus::Instantiated), "life {life}");
            assert_eq!(present(&host.clusters), last_content(host), "life {life}");
            let statuses = host.statuses();
            let is_applied = |line: &String| line.ends_with(" Applied");
            assert!(statuses.iter().all(is_applied), "life {life}: {statuses:?}");
        }
        (LifecycleState::InstantiateStopped | LifecycleState::TerminateStopped, _) => {}
        (_, _) => assert!(
            present(&host.clusters).is_empty(),
            "life {life}: {:?} {:?}",
            host.states(),
            present(&host.clusters)
        ),
    }
}

#[test]
fn after_random_requests_restarts_and_faults_the_clusters_have_what_the_record_asks_for() {
    for life in 1..=LIVES {
        let mut random = Random(life.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let store = Arc::new(RedbStore::in_memory().unwrap());
        let clusters = Arc::<Clusters>::default();
        let process = |random: &mut Random| {
            let (writes, stores_last) = (random.below(WRITES_MAX), random.below(2) == 0);
            let writes = usize::try_from(writes).unwrap();
            Host::ending(&store, &clusters, writes, stores_last)
        };
        let mut host = process(&mut random);
        for _ in 0..REQUESTS {
            if request(&host, &mut random).is_err() {
                host = process(&mut random);
            }
            if random.below(8) == 0 {
                let whole = Host::over(Arc::clone(&store) as _, Arc::clone(&clusters));
                check(&whole, life);
            }
        }
        let whole = Host::over(store, clusters);
        check(&whole, life);
        // A group can always be terminated and deleted.
        if whole.act(Command::Terminate).is_ok() {
            whole.run().unwrap();
        }
        assert!(present(&whole.clusters).is_empty(), "life {life}");
        if whole.groups.get(&name()).is_ok() {
            whole.groups.delete(&name()).unwrap();
        }
        assert!(whole.contexts.list().unwrap().ids.is_empty());
    }
}
