//! Hostile receivers, and failures of the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kindsight_api::notify::{NotifyFormat, NotifyRefusal, NotifyResend};

use super::receiver::{HttpReceiver, Reply};
use super::stage::{Running, Stage, settings};

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_receiver_fails_within_its_time_and_affects_no_other() {
    let mut stage = Stage::new();
    stage.connection("edge01", true);
    let good = HttpReceiver::start(|_| Reply::status(204));
    let trap = HttpReceiver::start(|_| Reply::status(204));
    let location = format!("Location: {}\r\n", trap.url());
    let head = "HTTP/1.1 200 OK\r\n";
    let hostile = [
        ("silent", Reply::status(200).after(Duration::from_mins(2))),
        ("redirect", Reply::with(307, &location, "")),
        ("garbage", Reply::bytes("SSH-2.0-OpenSSH_9.2\r\n")),
        ("ends", Reply::bytes("")),
        (
            "headers",
            Reply::bytes(&format!("{head}X: {}\r\n", "x".repeat(9000))).endless(),
        ),
        (
            "body",
            Reply::bytes(&format!("{head}\r\n{}", "x".repeat(9000))).endless(),
        ),
        (
            "error",
            Reply::bytes(&format!("HTTP/1.1 500 No\r\n\r\n{}", "x".repeat(9000))).endless(),
        ),
    ];
    let receivers = hostile.map(|(name, reply)| {
        let receiver = HttpReceiver::start(move |_| reply.clone());
        (name, receiver)
    });
    let mut all: Vec<_> = receivers
        .iter()
        .map(|(name, receiver)| {
            let mut settings = settings(name, receiver);
            settings.endpoint.timeout = Duration::from_secs(1);
            settings
        })
        .collect();
    all.push(settings("good", &good));
    let running = stage.run(all);
    running.until_scoped().await;
    stage.connection("edge01", false);
    good.wait_for(1).await;
    loop {
        let answers = running.receivers();
        let mut others = answers.iter().filter(|it| it.name != "good");
        if others.all(|it| it.failed > 0) {
            for receiver in answers {
                if receiver.name != "good" {
                    assert_eq!(
                        (receiver.delivered, receiver.waiting),
                        (0, 1),
                        "{receiver:#?}"
                    );
                    let error = receiver.error.unwrap();
                    assert!(error.len() < 400, "{error}");
                }
            }
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(trap.count(), 0, "a redirect is not followed");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_that_are_refused_together_are_sent_one_by_one() {
    let mut stage = Stage::new();
    for cluster in ["a", "bad", "c"] {
        stage.connection(cluster, true);
    }
    let receiver = HttpReceiver::start(|request| {
        assert!(
            request.head.starts_with("POST /hook/api/v2/alerts "),
            "{}",
            request.head
        );
        let text = String::from_utf8_lossy(&request.body).into_owned();
        Reply::status(if text.contains("p+bad") { 400 } else { 200 })
    });
    let mut alerts = settings("alerts", &receiver);
    alerts.format = NotifyFormat::Alertmanager;
    let running = stage.run(vec![alerts]);
    running.until_scoped().await;
    for cluster in ["a", "bad", "c"] {
        stage.connection(cluster, false);
    }
    let answer = running
        .until(|it| it.waiting == 0 && it.delivered == 2)
        .await;
    running.stop().await;
    assert_eq!(answer.dead_letters.len(), 1);
    assert_eq!(answer.dead_letters[0].subject, "clusters/p+bad");
}

#[tokio::test(flavor = "multi_thread")]
async fn firing_alerts_are_sent_again_after_a_start() {
    let mut stage = Stage::new();
    stage.connection("a", false);
    stage.connection("b", true);
    let receiver = HttpReceiver::start(|_| Reply::status(200));
    let alerts = || {
        let mut alerts = settings("alerts", &receiver);
        alerts.format = NotifyFormat::Alertmanager;
        alerts
    };
    let running = stage.run(vec![alerts()]);
    let first = receiver.wait_for(1).await[0].json();
    running.kill().await;
    let running = stage.run(vec![alerts()]);
    let second = receiver.wait_for(2).await[1].json();
    running.stop().await;
    assert_eq!(first[0]["labels"]["cluster"], "p+a");
    assert_eq!(first.as_array().unwrap().len(), 1);
    assert_eq!(first[0]["labels"], second[0]["labels"]);
    assert_eq!(first[0]["startsAt"], second[0]["startsAt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_entry_is_removed_and_the_others_are_read() {
    let mut stage = Stage::new();
    stage.connection("edge01", true);
    let receiver = HttpReceiver::start(|_| Reply::status(200));
    let running = stage.run(vec![settings("ops", &receiver)]);
    running.until_scoped().await;
    running.stop().await;
    let damaged = [
        "/kindsight/notify/ops/events/00000000000000000001/",
        "/kindsight/notify/ops/known/00/",
        "/kindsight/notify/removed/events/00000000000000000001/",
    ];
    for key in damaged {
        let batch = kindsight_store::Batch::new().put(key, "{");
        stage.store.apply(&batch).unwrap();
    }
    stage.connection("edge01", false);
    let running = stage.run(vec![settings("ops", &receiver)]);
    receiver.wait_for(1).await;
    running.until(|it| it.waiting == 0).await;
    running.stop().await;
    for key in damaged {
        assert_eq!(stage.store.get(key).unwrap(), None, "{key}");
    }
    assert_eq!(receiver.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_are_sent_again_with_their_ids_by_the_server_that_sends() {
    let mut stage = Stage::new();
    stage.connection("edge01", true);
    let accepts = Arc::new(AtomicBool::new(false));
    let is_open = Arc::clone(&accepts);
    let receiver = HttpReceiver::start(move |_| {
        let is_open = is_open.load(Ordering::SeqCst);
        Reply::status(if is_open { 200 } else { 400 })
    });
    let running = stage.run(vec![settings("ops", &receiver)]);
    running.until_scoped().await;
    stage.connection("edge01", false);
    running.until(|it| it.dead_letters.len() == 1).await;
    // The cause remains.
    assert_eq!(resend(&running, "ops").await.unwrap().queued, 1);
    receiver.wait_for(2).await;
    running
        .until(|it| it.waiting == 0 && it.dead_letters.len() == 1)
        .await;
    accepts.store(true, Ordering::SeqCst);
    let resent = resend(&running, "ops").await.unwrap();
    assert_eq!((resent.dead_letters, resent.queued), (1, 1));
    running.until(|it| it.dead_letters.is_empty()).await;
    let requests = receiver.received();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].json()["id"], requests[2].json()["id"]);
    assert_eq!(resend(&running, "ops").await.unwrap().dead_letters, 0);
    let unknown = resend(&running, "other").await.unwrap_err();
    assert!(matches!(unknown, NotifyRefusal::NotFound(_)), "{unknown:?}");
    let other = stage.notifier(vec![settings("ops", &receiver)]);
    let elsewhere = other.notifications().resend("ops").unwrap_err();
    assert!(
        matches!(elsewhere, NotifyRefusal::NotSender(_)),
        "{elsewhere:?}"
    );
    running.stop().await;
}

async fn resend(running: &Running, name: &'static str) -> Result<NotifyResend, NotifyRefusal> {
    let notifications = running.notifications.clone();
    let resent = tokio::task::spawn_blocking(move || notifications.resend(name));
    resent.await.unwrap()
}
