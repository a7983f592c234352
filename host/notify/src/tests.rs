//! Notifications over a real store and real HTTP.

mod delivery;
mod faults;
mod load;
mod mailbox;
mod receiver;
mod stage;

use kindsight_model::Phase;
use serde_json::Value;

use receiver::{HttpReceiver, Reply};
use stage::{Stage, settings, shop};

#[tokio::test(flavor = "multi_thread")]
async fn a_transition_is_sent_with_a_signature_and_a_present_state_is_not() {
    let mut stage = Stage::new();
    stage.connection("edge01", true);
    stage.application(Some(Phase::Ready));
    let receiver = HttpReceiver::start(|_| Reply::status(204));
    let key = stage.folder.path().join("key");
    std::fs::write(&key, "0123456789abcdef0123456789abcdef\n").unwrap();
    let mut ops = settings("ops", &receiver);
    ops.key_file = Some(key);
    let running = stage.run(vec![ops]);
    running.until_scoped().await;
    stage.connection("edge01", false);
    stage.application(Some(Phase::Failed));
    let requests = receiver.wait_for(2).await;
    running.stop().await;
    let events: Vec<Value> = requests.iter().map(receiver::Received::json).collect();
    let mut subjects: Vec<&str> = events
        .iter()
        .map(|event| event["subject"].as_str().unwrap())
        .collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["applications/-/shop/-/web", "clusters/p+edge01"]);
    for (request, event) in requests.iter().zip(&events) {
        assert_eq!(
            request.header("content-type"),
            "application/cloudevents+json; charset=utf-8"
        );
        assert_eq!(request.header("kindsight-event-id"), event["id"]);
        let signature = request.header("kindsight-signature");
        let now_s = stage::now_ms() / 1000;
        let key = b"0123456789abcdef0123456789abcdef";
        assert!(
            crate::verify(key, signature, &request.body, now_s, 60),
            "{signature}"
        );
        assert_eq!(event["data"]["from"]["phase"], "ready");
    }
    assert_eq!(receiver.count(), 2, "present states are not events");
}

#[tokio::test(flavor = "multi_thread")]
async fn transitions_of_resources_are_sent_to_receivers_whose_patterns_match() {
    let mut stage = Stage::new();
    stage.application(Some(Phase::Ready));
    let [all, others] = [(); 2].map(|()| HttpReceiver::start(|_| Reply::status(204)));
    let mut of_all = settings("all", &all);
    of_all.filter.subjects = vec![kindsight_api::notify::TransitionSubject::Resource];
    let mut of_others = settings("others", &others);
    of_others.filter.subjects = of_all.filter.subjects.clone();
    of_all.filter.resources = vec!["Deployment.apps/fr*".parse().unwrap()];
    of_others.filter.resources = vec!["Service/*".parse().unwrap()];
    let running = stage.run(vec![of_all, of_others]);
    running.until_scoped().await;
    stage.application(Some(Phase::Failed));
    let failed = all.wait_for(1).await[0].json();
    assert_eq!(failed["type"], "dev.kindsight.resource.transition");
    assert_eq!(failed["data"]["name"], "front");
    assert_eq!(failed["data"]["application"], shop().to_string());
    stage.application(None);
    let gone = all.wait_for(2).await[1].json();
    assert_eq!(gone["data"]["from"]["phase"], "failed");
    assert_eq!(gone["data"]["to"], Value::Null);
    running.stop().await;
    assert_eq!(others.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_transitions_to_or_from_the_phases_are_sent() {
    let mut stage = Stage::new();
    stage.application(Some(Phase::Ready));
    let receiver = HttpReceiver::start(|_| Reply::status(204));
    let mut ops = settings("ops", &receiver);
    ops.phases = vec![Phase::Failed];
    let running = stage.run(vec![ops]);
    running.until_scoped().await;
    for (phase, count) in [
        (Phase::Pending, 0),
        (Phase::Failed, 1),
        (Phase::Degraded, 2),
        (Phase::Ready, 2),
        (Phase::Failed, 3),
    ] {
        stage.application(Some(phase));
        receiver.wait_for(count).await;
        running.until_known("-/shop/-/web", phase).await;
    }
    running.stop().await;
    let pairs: Vec<(String, String)> = receiver
        .received()
        .iter()
        .map(|request| {
            let data = &request.json()["data"];
            let phase = |of: &str| data[of]["phase"].as_str().unwrap().to_owned();
            (phase("from"), phase("to"))
        })
        .collect();
    let expected = [
        ("pending", "failed"),
        ("failed", "degraded"),
        ("ready", "failed"),
    ];
    assert_eq!(
        pairs,
        expected.map(|(from, to)| (from.to_owned(), to.to_owned()))
    );
}
