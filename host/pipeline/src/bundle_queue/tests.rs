use super::*;

fn push(queue: &BundleQueue, deployment: &str, json: Arc<str>) {
    queue.push(deployment.parse().unwrap(), "p+c".parse().unwrap(), json);
}

/// The deployments with waiting reports, in the order of their turns.
fn waiting(queue: &BundleQueue) -> Vec<String> {
    let mut contents = queue.contents();
    let waiting = std::iter::from_fn(|| contents.begin_write(|_| Some(())));
    waiting
        .map(|(app, ..)| app.deployment.to_string())
        .collect()
}

#[test]
fn only_so_many_reports_and_bytes_wait_and_the_oldest_are_dropped() {
    let queue = BundleQueue::default();
    for app in 0..BUNDLES_WAITING_MAX + 3 {
        push(&queue, &format!("7-a{app}"), "{}".into());
    }
    assert_eq!(queue.contents().dropped, 3);
    assert_eq!(waiting(&queue)[0], "7-a3");
    let half: Arc<str> = " ".repeat(BUNDLES_WAITING_BYTES_MAX / 2).into();
    for app in ["a", "b", "c"] {
        push(&queue, &format!("8-{app}"), Arc::clone(&half));
    }
    assert_eq!(waiting(&queue), ["8-b", "8-c"]);
}
