//! Rechecks: an interpreter that continuously requests them does not affect other objects.

use std::fs;
use std::time::{Duration, Instant};

use kindsight_tests::hostile;

use crate::names::{STATUS, instantiate};
use crate::stage::Stage;
use crate::transport::Transport;

/// Objects that ask to be judged again at the beginning of time.
const OBJECTS: usize = 2_000;
/// The time for which they are watched.
const WATCHED: Duration = Duration::from_secs(3);

/// A component that requests rechecks at the earliest possible time, and a report of objects that it judges.
pub(crate) fn thousands_of_objects_that_ask_for_a_time_that_is_over_wait_their_turn(
    transport: Transport,
) {
    let stage = Stage::with(transport, |settings, folder| {
        instantiate(&settings.store);
        let objects = (0..OBJECTS).map(|number| {
            format!(
                r#"{{"apiVersion":"hostile.example.com/v1","kind":"Thing","metadata":{{"name":"n{number}"}},
                    "spec":{{"do":"recheck","at":{}}}}}"#,
                i64::MIN
            )
        });
        let objects: Vec<String> = objects.collect();
        let report = format!(
            r#"{{"metadata":{{"labels":{{"emco/deployment-id":"7-a"}}}},"status":{{"podStatuses":[{}]}}}}"#,
            objects.join(",")
        );
        fs::write(folder.join("a.json"), report).expect("a report");
        let cluster = format!("p+c={}", folder.display());
        settings.clusters.push(cluster.parse().expect("a cluster"));
    });
    let uploaded = stage.upload("hostile", &hostile(r#"{"name":"hostile","uses-now":true}"#));
    assert!(uploaded.status < 300, "{uploaded:?}");
    let calls = || {
        let detail = stage.get("/v2/interpreters/hostile").json();
        detail["statistics"]["calls"].as_u64().unwrap_or_default()
    };
    let begin = Instant::now();
    let summary = format!("{STATUS}?type=cluster&output=summary");
    while stage.get(&summary).json()["cluster-status"]["Pending"] != OBJECTS {
        assert!(begin.elapsed() < crate::transport::ANSWER_MAX, "not judged");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (before, begin) = (calls(), Instant::now());
    while begin.elapsed() < WATCHED {
        stage.assert_healthy();
        std::thread::sleep(Duration::from_millis(100));
    }
    // At most one recheck per object and second. A busy machine may take longer than planned.
    let rounds = begin.elapsed().as_secs() + 2;
    let (most, after) = (before + rounds * OBJECTS as u64, calls());
    assert!(after > before, "they are judged again");
    assert!(after <= most, "{} calls in {rounds} s", after - before);
}
