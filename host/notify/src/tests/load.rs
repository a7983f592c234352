//! Many changes and a slow receiver.

use std::time::Duration;

use kindsight_api::notify::NotifyFormat;
use serde_json::Value;

use super::receiver::{HttpReceiver, Reply};
use super::stage::{Stage, settings};
use crate::QUEUE_MAX;

/// Clusters and changes of each: 10,000 changes.
const CLUSTERS: usize = 1250;
const ROUNDS: usize = 8;
/// Maximum time until the other receiver has all events of a round.
const ROUND_MAX: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_changes_for_a_slow_receiver_are_bounded_and_delay_no_other() {
    let mut stage = Stage::new();
    let names: Vec<String> = (0..CLUSTERS).map(|number| format!("c{number}")).collect();
    for name in &names {
        stage.connection(name, true);
    }
    let slow = HttpReceiver::start(|_| Reply::status(200).after(Duration::from_secs(2)));
    let fast = HttpReceiver::start(|_| Reply::status(200));
    let mut alerts = settings("fast", &fast);
    alerts.format = NotifyFormat::Alertmanager;
    let running = stage.run(vec![alerts, settings("slow", &slow)]);
    running.until_scoped().await;
    for round in 0..ROUNDS {
        for name in &names {
            stage.connection(name, round % 2 == 1);
        }
        let begin = tokio::time::Instant::now();
        let expected = u64::try_from(CLUSTERS * (round + 1)).unwrap();
        loop {
            let counts = |name| {
                let mut all = running.notifications.counts();
                all.find(|(of, _)| *of == name).unwrap().1
            };
            assert!(counts("slow").waiting() <= QUEUE_MAX);
            if counts("fast").delivered() >= expected {
                break;
            }
            assert!(begin.elapsed() < ROUND_MAX, "round {round}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    let [fast_end, slow_end] = running.receivers().try_into().unwrap();
    assert_eq!((fast_end.merged, fast_end.failed), (0, 0));
    // The event of the last request may have left the queue a moment ago.
    assert!(slow_end.waiting >= QUEUE_MAX - 1, "{slow_end:#?}");
    let all = u64::try_from(CLUSTERS * ROUNDS).unwrap();
    assert!(slow_end.delivered > 0);
    assert!(slow_end.merged > all / 2, "{slow_end:#?}");
    assert_eq!(slow_end.failed, 0);
    let first: Value = slow.received()[0].json();
    assert_eq!(
        first["data"]["merged"], 0,
        "it was sent before the queue was full"
    );
    running.stop().await;
}
