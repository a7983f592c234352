//! A host that is killed at random moments while an orchestrator goes on: whatever it tells is so, and what it
//! acknowledged is there.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use kindsight_cluster::EtcdKeys;
use serde_json::Value;

use super::laid::{Generation, Laid};
use super::stage::{address, etcd, status_of, wait};
use crate::interpreters::stage::{digest, version};
use crate::killed::random::Random;
use crate::process::{Server, try_put};

/// Environment variable with the number of kills.
const KILLS: &str = "KINDSIGHT_ETCD_KILLS";
/// Environment variable with the seed of a run that is to be repeated.
const SEED: &str = "KINDSIGHT_ETCD_KILLS_SEED";
const DIG: &str = "p/ca/v1/dig";
const EDGE: &str = "provider+edge01";
const RESOURCES: [&str; 4] = ["a", "b", "c", "d"];
const WORDS: [&str; 4] = ["Pending", "Applied", "Failed", "Retrying"];
/// Longest life of a host, in milliseconds.
const LIFE_MAX_MS: u64 = 1_500;

/// The words that the orchestrator wrote, and the interpreters that the host acknowledged.
struct Model {
    keys: EtcdKeys,
    words: BTreeMap<&'static str, &'static str>,
    /// Digest of the last interpreter that was acknowledged, and of the one that may be there too.
    live: [Option<String>; 2],
    random: Random,
}

impl Model {
    /// The orchestrator's rsync notes another status.
    fn write(&mut self) {
        let name = RESOURCES[usize::try_from(self.random.below(4)).unwrap()];
        let word = WORDS[usize::try_from(self.random.below(4)).unwrap()];
        let key = format!("/context/7/app/app/cluster/{EDGE}/resource/{name}+ConfigMap/status/");
        self.keys.put(&key, &format!(r#"{{"Status":"{word}"}}"#));
        self.words.insert(name, word);
    }

    /// Uploads the next interpreter, which is acknowledged or cut off by the kill.
    fn upload(&mut self, url: &str, number: usize) {
        let bytes = version(number);
        self.live[1] = Some(digest(&bytes));
        let answer = try_put(url, "/v2/interpreters/crane", &bytes);
        if answer.is_some_and(|(status, _)| status < 300) {
            self.live[0] = self.live[1].take();
        }
    }

    fn is_told(&self, answer: &Value) -> bool {
        let resources = answer["apps"][0]["clusters"][0]["resources"].as_array();
        let told: BTreeMap<&str, &str> = resources
            .into_iter()
            .flatten()
            .filter_map(|it| Some((it["name"].as_str()?, it["rsync-status"].as_str()?)))
            .collect();
        told == self.words
    }

    /// Waits until everything that was written is told, and looks for what was acknowledged.
    fn check(&mut self, server: &Server) {
        wait(server, &status_of(DIG), |it| self.is_told(it));
        let (_, list) = server.get("/v2/interpreters");
        let text = list.to_string();
        let is_there =
            |it: &Option<String>| it.as_ref().is_some_and(|it| text.contains(it.as_str()));
        let [acknowledged, maybe] = &self.live;
        assert!(
            acknowledged.is_none() || is_there(acknowledged) || is_there(maybe),
            "{acknowledged:?} {maybe:?} {list:#}"
        );
        if is_there(maybe) {
            self.live[0] = self.live[1].take();
        }
        self.live[1] = None;
    }
}

#[test]
fn a_host_on_etcd_that_is_killed_at_random_moments_loses_nothing() {
    let Some(etcd) = etcd() else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let seed = number(SEED).unwrap_or_else(|| RandomState::new().build_hasher().finish());
    println!("to repeat these kills: {SEED}={seed}");
    let keys = etcd.keys();
    let mut laid = Laid::new(Generation::Onap, "7", DIG);
    laid.cluster(
        "app",
        EDGE,
        &RESOURCES.map(|name| (name, "ConfigMap", "v1")),
    );
    laid.ordered().status("Instantiated").rsync("Pending");
    keys.put_all(&laid.keys);
    let mut model = Model {
        keys,
        words: RESOURCES.map(|name| (name, "Pending")).into(),
        live: [None, None],
        random: Random(seed),
    };
    let data = tempfile::tempdir().unwrap();
    let store = address(&etcd);
    for kill in 0..number(KILLS).unwrap_or(20) {
        let server = Server::start_unready(data.path(), &[], &["--store", &store]);
        model.check(&server);
        let life = Duration::from_millis(model.random.below(LIFE_MAX_MS));
        let url = server.url.clone();
        std::thread::scope(|scope| {
            let killer = scope.spawn(move || {
                std::thread::sleep(life);
                server.kill();
            });
            model.upload(&url, usize::try_from(kill).unwrap());
            while !killer.is_finished() {
                model.write();
            }
        });
        model.write();
    }
    let server = Server::start_unready(data.path(), &[], &["--store", &store]);
    model.check(&server);
    assert_eq!(server.get("/readyz").0, 200);
}
