use std::fs;
use std::time::Duration;

use kindsight_model::Subject;
use tempfile::TempDir;
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::*;

/// Longer than any step of a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// A poll interval that no test reaches.
const NO_POLL: Duration = Duration::from_hours(1);

/// A folder that is followed.
struct Followed {
    folder: TempDir,
    events: Receiver<ClusterEvent>,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Followed {
    /// Follows `path` in a new folder after `prepare` has filled it.
    fn at(path: &str, poll_every: Duration, prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let (events_tx, events) = mpsc::channel(1);
        let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
        let cluster = FolderCluster::new("p+c".parse().unwrap(), folder.path().join(path));
        let pace = Pace { poll_every, ..PACE };
        tasks.spawn(cluster.run_at(pace, events_tx, shutdown.clone()));
        tasks.close();
        Self {
            folder,
            events,
            shutdown,
            tasks,
        }
    }

    /// Follows a new folder that `prepare` has filled, woken by notifications only.
    fn new(prepare: impl FnOnce(&Path)) -> Self {
        Self::at("", NO_POLL, prepare)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The next event in short.
    async fn next(&mut self) -> String {
        let event = loop {
            let event = timeout(PATIENCE, self.events.recv()).await.unwrap();
            match event.unwrap() {
                // Sent together with the unreadable report; see the tests of `reports`.
                ClusterEvent::Faults { .. } => {}
                event => break event,
            }
        };
        match event {
            ClusterEvent::Faults { .. } => unreachable!("passed over"),
            ClusterEvent::Coverage { .. }
            | ClusterEvent::Added { .. }
            | ClusterEvent::Owner { .. }
            | ClusterEvent::Removed { .. }
            | ClusterEvent::Heard { .. }
            | ClusterEvent::Facts { .. } => unreachable!("a folder has bundles alone"),
            ClusterEvent::Reports {
                cluster, reports, ..
            } => {
                let [(Subject::Deployment(deployment), report)] = &*reports else {
                    panic!("one bundle: {reports:?}");
                };
                let names: Vec<&str> = report.objects.iter().map(|it| &*it.name).collect();
                format!("{cluster} {deployment}: {}", names.join(" "))
            }
            ClusterEvent::Gone { deployment, .. } => format!("gone {deployment}"),
            ClusterEvent::Unreadable { origin, error, .. } => {
                format!("unreadable {origin}: {error}")
            }
            ClusterEvent::Synced { .. } => "synced".to_owned(),
            ClusterEvent::Stale { reason, .. } => {
                format!("stale {}", reason.rsplit(": ").next().unwrap())
            }
        }
    }

    async fn expect(&mut self, expected: &[&str]) {
        for &expected in expected {
            assert_eq!(self.next().await, expected);
        }
    }

    /// Stops, and checks that nothing else was reported.
    async fn stop(mut self) {
        self.shutdown.cancel();
        timeout(PATIENCE, self.tasks.wait()).await.unwrap();
        assert!(self.events.recv().await.is_none());
    }
}

fn bundle(deployment: &str, pods: &str) -> String {
    let pods: Vec<String> = pods
        .split_whitespace()
        .map(|name| format!(r#"{{"metadata":{{"name":"{name}"}}}}"#))
        .collect();
    format!(
        r#"{{"metadata":{{"labels":{{"emco/deployment-id":"{deployment}"}}}},"status":{{"podStatuses":[{}]}}}}"#,
        pods.join(",")
    )
}

fn write(folder: &Path, name: &str, content: &str) {
    fs::write(folder.join(name), content).unwrap();
}

/// Creates a file in one step by a rename.
fn put(followed: &Followed, name: &str, content: &str) {
    let unfinished = followed.path(&format!(".{name}.tmp"));
    fs::write(&unfinished, content).unwrap();
    fs::rename(unfinished, followed.path(name)).unwrap();
}

#[tokio::test]
async fn existing_files_are_reported_before_the_folder_is_synced() {
    let mut followed = Followed::new(|folder| {
        write(folder, "a.json", &bundle("7-a", "one two"));
        write(folder, "b.json", &bundle("7-b", ""));
        for ignored in [
            ".h.json",
            ".json",
            "x.json~",
            "x.json.tmp",
            "x.swp",
            "README",
        ] {
            write(folder, ignored, "nonsense");
        }
        fs::create_dir(folder.join("folder.json")).unwrap();
    });
    followed
        .expect(&[
            "unreadable folder.json: it is a folder, not a file",
            "p+c 7-b: ",
            "p+c 7-a: one two",
            "synced",
        ])
        .await;
    followed.stop().await;
}

#[tokio::test]
async fn an_empty_folder_is_synced_at_once() {
    let mut followed = Followed::new(|_| ());
    followed.expect(&["synced"]).await;
    followed.stop().await;
}

#[tokio::test]
async fn files_that_are_written_moved_and_removed_are_noticed() {
    let mut followed = Followed::new(|_| ());
    followed.expect(&["synced"]).await;
    write(followed.folder.path(), "a.json", &bundle("7-a", "one"));
    followed.expect(&["p+c 7-a: one"]).await;
    // The same length, in place and by replacement.
    write(followed.folder.path(), "a.json", &bundle("7-a", "two"));
    followed.expect(&["p+c 7-a: two"]).await;
    put(&followed, "a.json", &bundle("7-a", "six"));
    followed.expect(&["p+c 7-a: six"]).await;
    // A renamed file with the same content is no news, so the next event is about another file.
    fs::rename(followed.path("a.json"), followed.path("z.json")).unwrap();
    put(&followed, "b.json", &bundle("7-b", "x"));
    followed.expect(&["p+c 7-b: x"]).await;
    // The file is now about another deployment.
    put(&followed, "z.json", &bundle("7-c", "six"));
    followed.expect(&["p+c 7-c: six", "gone 7-a"]).await;
    fs::remove_file(followed.path("b.json")).unwrap();
    followed.expect(&["gone 7-b"]).await;
    followed.stop().await;
}

#[tokio::test]
async fn an_unchanged_file_is_not_reported_again() {
    let poll = Duration::from_millis(1);
    let mut followed = Followed::at("", poll, |folder| {
        write(folder, "a.json", &bundle("7-a", "one"));
        write(folder, "bad.json", "{");
    });
    let bad = "unreadable bad.json: not a ResourceBundleState: no key at byte 1";
    followed.expect(&[bad, "p+c 7-a: one", "synced"]).await;
    for round in 0..5 {
        let again = bundle("7-a", "one");
        put(&followed, "a.json", &again);
        put(&followed, "b.json", &bundle("7-b", &round.to_string()));
        assert_eq!(followed.next().await, format!("p+c 7-b: {round}"));
    }
    followed.stop().await;
}

#[tokio::test]
async fn a_half_written_file_keeps_the_previous_report() {
    let whole = bundle("7-a", "one");
    let mut followed = Followed::new(|folder| write(folder, "a.json", &whole));
    followed.expect(&["p+c 7-a: one", "synced"]).await;
    let (half, _) = whole.split_at(whole.len() / 2);
    put(&followed, "a.json", half);
    assert!(followed.next().await.starts_with("unreadable a.json: "));
    put(&followed, "a.json", "");
    assert!(followed.next().await.starts_with("unreadable a.json: "));
    // The file is complete again. Its content is not new, but it was reported as unreadable.
    put(&followed, "a.json", &whole);
    followed.expect(&["p+c 7-a: one"]).await;
    put(&followed, "a.json", half);
    assert!(followed.next().await.starts_with("unreadable a.json: "));
    fs::remove_file(followed.path("a.json")).unwrap();
    followed.expect(&["gone 7-a"]).await;
    followed.stop().await;
}

#[tokio::test]
async fn of_two_files_about_one_deployment_the_last_one_counts() {
    let mut followed = Followed::new(|folder| {
        write(folder, "a.json", &bundle("7-x", "one"));
        write(folder, "b.json", &bundle("7-x", "two"));
    });
    followed.expect(&["p+c 7-x: two"]).await;
    let warning = followed.next().await;
    assert!(warning.starts_with("unreadable a.json: "), "{warning}");
    assert!(
        warning.ends_with("`b.json` is about the same deployment 7-x and is used instead"),
        "{warning}"
    );
    followed.expect(&["synced"]).await;
    fs::remove_file(followed.path("b.json")).unwrap();
    followed.expect(&["p+c 7-x: one"]).await;
    fs::remove_file(followed.path("a.json")).unwrap();
    followed.expect(&["gone 7-x"]).await;
    followed.stop().await;
}

#[tokio::test]
async fn a_file_over_the_limit_is_rejected_unread() {
    let bytes = BUNDLE_BYTES_MAX as u64 + 1;
    let mut followed = Followed::new(|folder| {
        let file = fs::File::create(folder.join("big.json")).unwrap();
        file.set_len(bytes).unwrap();
    });
    let rejected = format!("unreadable big.json: it has {bytes} bytes, and the limit is 67108864");
    followed.expect(&[&rejected, "synced"]).await;
    followed.stop().await;
}

#[tokio::test]
async fn a_missing_folder_is_stale_until_it_returns() {
    let poll = Duration::from_millis(20);
    let mut followed = Followed::at("in", poll, |_| ());
    let (inside, away) = (followed.path("in"), followed.path("away"));
    let gone = "stale No such file or directory (os error 2)";
    followed.expect(&[gone]).await;
    fs::create_dir(&away).unwrap();
    write(&away, "a.json", &bundle("7-a", "one"));
    write(&away, "b.json", &bundle("7-b", "one"));
    fs::rename(&away, &inside).unwrap();
    followed
        .expect(&["p+c 7-b: one", "p+c 7-a: one", "synced"])
        .await;
    // The missing folder makes no deployment gone.
    fs::rename(&inside, &away).unwrap();
    followed.expect(&[gone]).await;
    write(&away, "a.json", &bundle("7-a", "two"));
    fs::remove_file(away.join("b.json")).unwrap();
    fs::rename(&away, &inside).unwrap();
    followed
        .expect(&["p+c 7-a: two", "gone 7-b", "synced"])
        .await;
    followed.stop().await;
}

#[tokio::test]
async fn a_folder_switched_by_a_symbolic_link_is_noticed() {
    use std::os::unix::fs::symlink;

    // Kubernetes mounts a ConfigMap in this way.
    let mut followed = Followed::new(|folder| {
        for (version, pod) in [("..1", "one"), ("..2", "two")] {
            fs::create_dir(folder.join(version)).unwrap();
            write(&folder.join(version), "a.json", &bundle("7-a", pod));
        }
        symlink("..1", folder.join("..data")).unwrap();
        symlink("..data/a.json", folder.join("a.json")).unwrap();
    });
    followed.expect(&["p+c 7-a: one", "synced"]).await;
    symlink("..2", followed.path("..new")).unwrap();
    fs::rename(followed.path("..new"), followed.path("..data")).unwrap();
    followed.expect(&["p+c 7-a: two"]).await;
    fs::remove_file(followed.path("..data")).unwrap();
    let dangling = "unreadable a.json: it is a link that cannot be followed: \
                    No such file or directory (os error 2)";
    followed.expect(&[dangling]).await;
    followed.stop().await;
}

#[tokio::test]
async fn the_poll_heals_a_change_without_a_notification() {
    use std::os::unix::fs::symlink;

    // A changed target of the link to the folder causes no notification.
    let poll = Duration::from_millis(20);
    let mut followed = Followed::at("link", poll, |folder| {
        for (version, pod) in [("1", "one"), ("2", "two")] {
            fs::create_dir(folder.join(version)).unwrap();
            write(&folder.join(version), "a.json", &bundle("7-a", pod));
        }
        symlink("1", folder.join("link")).unwrap();
    });
    followed.expect(&["p+c 7-a: one", "synced"]).await;
    symlink("2", followed.path("new")).unwrap();
    fs::rename(followed.path("new"), followed.path("link")).unwrap();
    followed.expect(&["p+c 7-a: two"]).await;
    followed.stop().await;
}

#[tokio::test]
async fn a_report_outside_of_the_folder_is_not_read() {
    use std::os::unix::fs::symlink;

    let mut followed = Followed::at("in", NO_POLL, |folder| {
        fs::create_dir(folder.join("in")).unwrap();
        write(folder, "secret.json", &bundle("7-a", "secret"));
        symlink("../secret.json", folder.join("in/a.json")).unwrap();
        write(&folder.join("in"), "b.json", &bundle("7-b", "one"));
    });
    // The text contains no path, because every reader of a status sees it.
    let rejected = "unreadable a.json: it is a link that leads out of the folder";
    followed.expect(&["p+c 7-b: one", rejected, "synced"]).await;
    followed.stop().await;
}

#[test]
fn only_finished_bundle_files_are_looked_at() {
    for good in ["a.json", "7-a.json", "a.tmp.json"] {
        assert!(is_bundle_name(good), "{good}");
    }
    for other in [".json", ".a.json", "a.json~", "a.json.swp", "a.tmp", "json"] {
        assert!(!is_bundle_name(other), "{other}");
    }
}

#[tokio::test]
async fn the_follower_ends_on_shutdown_or_without_a_receiver() {
    let two = |folder: &Path| {
        write(folder, "a.json", &bundle("7-a", ""));
        write(folder, "b.json", &bundle("7-b", ""));
    };
    let unheard = Followed::new(two);
    drop(unheard.events);
    timeout(PATIENCE, unheard.tasks.wait()).await.unwrap();

    // The channel is full, and the follower waits for room in it.
    let full = Followed::new(two);
    full.shutdown.cancel();
    timeout(PATIENCE, full.tasks.wait()).await.unwrap();
}
