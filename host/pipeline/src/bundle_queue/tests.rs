use super::*;

fn place(deployment: &str) -> (DeploymentId, ClusterName) {
    (deployment.parse().unwrap(), "p+c".parse().unwrap())
}

fn push(queue: &BundleQueue, deployment: &str, json: &str) {
    let (deployment, cluster) = place(deployment);
    queue.push(deployment, cluster, json.into());
}

/// Reports that wait, in the order in which it is stored.
fn waiting(queue: &BundleQueue) -> Vec<(String, String)> {
    let mut all = Vec::new();
    while let Some((place, waiting)) = queue.take_first() {
        all.push((
            place.deployment.to_string(),
            waiting.status_json.to_string(),
        ));
    }
    assert_eq!(queue.state().bytes, 0);
    all
}

#[test]
fn the_newest_report_waits_in_the_turn_of_the_first() {
    let queue = BundleQueue::default();
    for (deployment, json) in [("7-a", "1"), ("7-b", "22"), ("7-a", "333")] {
        push(&queue, deployment, json);
    }
    let expect = [("7-a", "333"), ("7-b", "22")];
    assert_eq!(waiting(&queue), expect.map(|(a, b)| (a.into(), b.into())));
}

#[test]
fn what_could_not_be_stored_waits_on_unless_a_newer_report_came() {
    let queue = BundleQueue::default();
    push(&queue, "7-a", "1");
    let (place, old) = queue.take_first().unwrap();
    queue.state().put_back(place, old);
    push(&queue, "7-b", "2");
    let (place, old) = queue.take_first().unwrap();
    assert_eq!(place.deployment.to_string(), "7-a");
    push(&queue, "7-a", "3");
    queue.state().put_back(place, old);
    let expect = [("7-b", "2"), ("7-a", "3")];
    assert_eq!(waiting(&queue), expect.map(|(a, b)| (a.into(), b.into())));
}

#[test]
fn only_so_many_reports_and_bytes_wait_and_the_oldest_are_dropped() {
    let queue = BundleQueue::default();
    for app in 0..BUNDLES_WAITING_MAX + 3 {
        push(&queue, &format!("7-a{app}"), "{}");
    }
    assert_eq!(queue.state().dropped, 3);
    assert_eq!(waiting(&queue)[0].0, "7-a3");
    let half: Arc<str> = " ".repeat(BUNDLES_WAITING_BYTES_MAX / 2).into();
    for app in ["a", "b", "c"] {
        let (deployment, cluster) = place(&format!("8-{app}"));
        queue.push(deployment, cluster, Arc::clone(&half));
    }
    let kept: Vec<String> = waiting(&queue).into_iter().map(|it| it.0).collect();
    assert_eq!(kept, ["8-b", "8-c"]);
}
