//! Confirmations by consistent lists.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kindsight_model::InvolvedKinds;

use super::*;

/// Asks whether everything in the cluster was reported that Services of the namespace `web` have.
async fn confirm(needs: &Needs) -> Result<(), String> {
    let services = (Some("".into()), "Service".into());
    let kinds = InvolvedKinds::from([(services, BTreeSet::from(["web".into()]))]);
    let cluster = "p+c".parse().unwrap();
    let clusters = BTreeMap::from([(cluster, kinds)]);
    needs.confirmations.confirm(clusters).await
}

fn service(version: &str) -> Value {
    let mut front = object("front", &json!({"app.kubernetes.io/instance": "shop"}));
    front["metadata"]["resourceVersion"] = json!(version);
    front
}

#[tokio::test]
async fn a_state_that_a_silent_watch_has_not_sent_is_not_confirmed_until_it_does() {
    let is_changed = Arc::new(AtomicBool::new(false));
    let is_sent = Arc::new(AtomicBool::new(false));
    let (changed, sent) = (Arc::clone(&is_changed), Arc::clone(&is_sent));
    let api = Api::new(move |target| {
        let is_watch = target.starts_with("/api/v1/services?watch=1&");
        if is_watch && !target.contains("sendInitialEvents") {
            if sent.load(Ordering::Relaxed) {
                let modified = json!({"type": "MODIFIED", "object": service("12")});
                return Some(Answer::Lines(vec![modified.to_string()]));
            }
            // Silent.
            return None;
        }
        if is_list_of_services(target) || is_part_of_services(target) {
            let is_changed = changed.load(Ordering::Relaxed);
            let mut list = list(&[service(if is_changed { "12" } else { "5" })]);
            list["metadata"]["resourceVersion"] = json!(if is_changed { "15" } else { "9" });
            return Some(Answer::Json(200, list));
        }
        None
    });
    let needs = Needs::default();
    assert!(confirm(&needs).await.is_err(), "no source runs");
    let mut source = Source::begin_as(&api, needs.clone(), |cluster| {
        cluster.with_options(WatchOptions {
            // The watch is resumed a second after its end.
            watch_lifetime: Duration::from_secs(1),
            ..WatchOptions::default()
        })
    });
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    assert_eq!(confirm(&needs).await, Ok(()));
    is_changed.store(true, Ordering::Relaxed);
    let why = "cluster p+c: the watch has not sent the latest state of Service web/front";
    assert_eq!(confirm(&needs).await, Err(why.to_owned()));
    is_sent.store(true, Ordering::Relaxed);
    while confirm(&needs).await.is_err() {}
    // The report was sent before the confirmation.
    let mut has_changed = false;
    while let Ok(event) = source.events.try_recv() {
        if let ClusterEvent::Reports { reports, .. } = event {
            has_changed |= reports
                .iter()
                .any(|report| text_of(report) == "front: front");
        }
    }
    assert!(has_changed);
}

#[tokio::test]
async fn a_kind_that_cannot_be_listed_now_is_not_confirmed_and_a_forbidden_kind_does_not_matter() {
    let is_broken = Arc::new(AtomicBool::new(false));
    for (code, is_confirmed) in [(500, false), (403, true)] {
        is_broken.store(false, Ordering::Relaxed);
        let broken = Arc::clone(&is_broken);
        let api = Api::new(move |target| {
            if is_part_of_services(target) && broken.load(Ordering::Relaxed) {
                return Some(Answer::Json(code, json!({"code": code, "message": "no"})));
            }
            (is_list_of_services(target) || is_part_of_services(target)).then(front)
        });
        let needs = Needs::default();
        let mut source = Source::begin(&api, needs.clone());
        assert_eq!(source.next().await, "front: front");
        assert_eq!(source.next().await, "synced");
        is_broken.store(true, Ordering::Relaxed);
        let confirmed = confirm(&needs).await;
        assert_eq!(confirmed.is_ok(), is_confirmed, "{confirmed:?}");
    }
}
