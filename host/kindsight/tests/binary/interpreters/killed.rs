//! SIGKILL at any moment while versions are uploaded: the old set or the new one is live, never none
//! and never a mix.

use std::thread;

use super::stage::{CRANE, Stage, digest, judged, pause, version, wait_for};
use crate::process::{Server, try_put};

const ROUNDS: usize = 15;
/// Longest life of a server, in milliseconds: enough for some uploads.
const LIFE_MS: u64 = 1500;

/// A client's record of its uploads.
#[derive(Clone, Copy, Default)]
struct Uploads {
    /// The last version that was acknowledged or found live later; 0 if there is no such version.
    acknowledged: usize,
    /// The last version that was sent.
    sent: usize,
}

#[test]
fn a_kill_leaves_the_acknowledged_version_or_the_one_in_progress() {
    let stage = Stage::new(3);
    let mut uploads = Uploads::default();
    let mut random = Random(20_261_121);
    let mut life_ms = LIFE_MS;
    for round in 0..ROUNDS {
        let server = stage.serve();
        uploads.acknowledged = check(&server, uploads, round);
        let url = server.url.clone();
        let uploader = thread::spawn(move || upload(&url, uploads));
        pause(random.below(life_ms));
        server.kill();
        let before = uploads.acknowledged;
        uploads = uploader.join().unwrap();
        // On a machine so busy that no upload is acknowledged, the next server lives longer.
        life_ms = if uploads.acknowledged > before {
            LIFE_MS
        } else {
            (life_ms * 2).min(16 * LIFE_MS)
        };
    }
    let server = stage.serve();
    check(&server, uploads, ROUNDS);
    assert!(
        uploads.acknowledged > 0,
        "nothing was acknowledged in {ROUNDS} rounds"
    );
    assert!(server.stop());
}

#[test]
fn a_kill_while_a_file_is_loaded_leaves_the_old_or_the_new_version() {
    let stage = Stage::new(2);
    let mut random = Random(4);
    let mut server = stage.serve();
    for number in 1..=6 {
        stage.put("crane.wasm", &version(number));
        // The file is found after one second at most, and loaded within the next.
        pause(random.below(1600));
        server.kill();
        server = stage.serve();
        let (judged, before) = (judged(&server), digest(&version(number - 1)));
        let is_old = match number {
            1 => judged.interpreter == "generic",
            _ => judged.digest == before,
        };
        assert!(
            is_old || judged.digest == digest(&version(number)),
            "{judged:?}"
        );
        wait_for(&server, &version(number));
    }
    assert!(server.stop());
}

/// Uploads one version after the other, until the server is killed.
fn upload(url: &str, mut uploads: Uploads) -> Uploads {
    loop {
        uploads.sent += 1;
        let Some((status, outcome)) = try_put(url, CRANE, &version(uploads.sent)) else {
            return uploads;
        };
        assert_eq!(status, 200, "{outcome}");
        uploads.acknowledged = uploads.sent;
    }
}

/// Checks the live version and returns it; 0 without a live version.
fn check(server: &Server, uploads: Uploads, round: usize) -> usize {
    let (status, list) = server.get("/v2/interpreters");
    assert_eq!(status, 200, "{list}");
    let mut interpreters = list["interpreters"].as_array().unwrap().iter();
    let crane = interpreters.find(|interpreter| interpreter["name"] == "crane");
    let live = crane.and_then(|crane| crane["digest"].as_str());
    let judged = judged(server);
    let Some(live) = live else {
        assert_eq!(
            uploads.acknowledged, 0,
            "round {round}: the acknowledged version is gone: {list}"
        );
        assert_eq!(judged.interpreter, "generic");
        return 0;
    };
    let Uploads { acknowledged, sent } = uploads;
    let allowed = [acknowledged, sent].into_iter();
    let found = allowed
        .filter(|number| *number > 0)
        .find(|number| digest(&version(*number)) == live);
    assert_eq!(judged.digest, live, "round {round}");
    assert_eq!(judged.state, "Parked", "round {round}");
    found.unwrap_or_else(|| {
        panic!("round {round}: {live} is neither version {acknowledged} nor {sent}")
    })
}

/// Pseudorandom numbers, the same in every run (Knuth's constants).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
