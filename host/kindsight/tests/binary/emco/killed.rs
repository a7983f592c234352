//! A host that is killed at random moments while an orchestrator continues to write. Every answer is true, and every
//! acknowledged upload survives.

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
/// Environment variable with the seed of an earlier run, to repeat it.
const SEED: &str = "KINDSIGHT_ETCD_KILLS_SEED";
const DIG: &str = "p/ca/v1/dig";
const EDGE: &str = "provider+edge01";
const RESOURCES: [&str; 4] = ["a", "b", "c", "d"];
const WORDS: [&str; 4] = ["Pending", "Applied", "Failed", "Retrying"];
/// Longest life of a host, in milliseconds.
const LIFE_MAX_MS: u64 = 1_500;

/// The statuses that the orchestrator wrote, and the interpreters that the host acknowledged.
struct Model {
    keys: EtcdKeys,
    words: BTreeMap<&'static str, &'static str>,
    /// Digests that may be live: of the last acknowledged upload, and of an upload that was cut off.
    live: [Option<String>; 2],
    random: Random,
}

impl Model {
    /// Writes another status, as the orchestrator's rsync does.
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

    fn is_shown(&self, answer: &Value) -> bool {
        let resources = answer["apps"][0]["clusters"][0]["resources"].as_array();
        let told: BTreeMap<&str, &str> = resources
            .into_iter()
            .flatten()
            .filter_map(|resource| {
                Some((
                    resource["name"].as_str()?,
                    resource["rsync-status"].as_str()?,
                ))
            })
            .collect();
        told == self.words
    }

    /// Waits until the answer shows every written status, and checks that an acknowledged interpreter is live.
    fn check(&mut self, server: &Server) {
        wait(server, &status_of(DIG), |answer| self.is_shown(answer));
        let (_, list) = server.get("/v2/interpreters");
        let text = list.to_string();
        let is_there = |digest: &Option<String>| {
            digest
                .as_ref()
                .is_some_and(|digest| text.contains(digest.as_str()))
        };
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
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
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
