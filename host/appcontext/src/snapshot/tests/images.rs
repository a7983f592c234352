//! Contexts in memory, compared with fresh reads of the store after each step.

mod random;

use std::collections::BTreeMap;

use kindsight_store::{RedbStore, VALUES_KEPT_BYTES_MAX};

use super::*;
use crate::context::counting::Counting;
use crate::{AppContextWatch, AppContexts};

const CONTEXTS: [&str; 3] = ["7", "8", "9"];

/// Contexts in memory, and a caller that keeps the last result of each.
struct Follower {
    store: Arc<Counting>,
    contexts: AppContexts,
    watch: AppContextWatch,
    images: ContextImages,
    known: BTreeMap<ContextId, ContextSnapshot>,
}

impl Follower {
    fn new() -> Self {
        let store = Arc::new(Counting::new(RedbStore::in_memory().unwrap()));
        let contexts = AppContexts::new(Arc::clone(&store) as Arc<dyn Store>);
        let watch = contexts.watch(contexts.list().unwrap().revision).unwrap();
        Self {
            images: ContextImages::default(),
            known: BTreeMap::new(),
            store,
            contexts,
            watch,
        }
    }

    /// Applies a batch to the store.
    fn write(&self, batch: &Batch) {
        self.store.apply(batch).unwrap();
    }

    fn put(&self, key: &str, value: &str) {
        self.write(&Batch::new().put(key, value));
    }

    /// Applies all changes that arrived. Returns the contexts that differ.
    fn follow(&mut self, is_own: bool) -> Vec<ContextId> {
        while let Some(changes) = self.watch.try_next().unwrap() {
            self.images.take(&changes, |_| is_own);
        }
        self.update()
    }

    /// Reads everything again.
    fn restart(&mut self) -> Vec<ContextId> {
        let list = self.contexts.list().unwrap();
        self.images.restart(&list.ids, list.revision);
        self.update()
    }

    fn update(&mut self) -> Vec<ContextId> {
        let mut changed = Vec::new();
        while let Some(id) = self.images.pending() {
            match self.images.update(&self.contexts, &id).unwrap() {
                ContextUpdate::Unchanged => continue,
                ContextUpdate::Deleted => drop(self.known.remove(&id)),
                ContextUpdate::Changed(snapshot) => {
                    let before = self.known.remove(&id);
                    self.known
                        .insert(id.clone(), completed(*snapshot, before.as_ref()));
                }
            }
            changed.push(id);
        }
        changed
    }

    fn check(&self) {
        for id in CONTEXTS {
            let id: ContextId = id.parse().unwrap();
            let read = self.contexts.read(&id).unwrap();
            assert_eq!(self.known.get(&id), read.as_ref(), "{id}");
        }
    }

    fn context(&self, id: &str) -> &ContextSnapshot {
        &self.known[&id.parse::<ContextId>().unwrap()]
    }
}

/// A result with the reports that are the same as before.
fn completed(mut next: ContextSnapshot, before: Option<&ContextSnapshot>) -> ContextSnapshot {
    let before = before.into_iter().flat_map(|it| &it.apps);
    let before: Vec<_> = before
        .flat_map(|app| app.clusters.iter().map(move |cluster| (&app.name, cluster)))
        .collect();
    for app in &mut next.apps {
        for cluster in &mut app.clusters {
            if cluster.bundle == StoredBundle::Unchanged {
                let known = before.iter().find(|(name, resource)| {
                    (*name, &resource.cluster) == (&app.name, &cluster.cluster)
                });
                cluster.bundle = known.expect("a report that was passed on").1.bundle.clone();
            }
        }
    }
    next
}

/// Context 7 with one app in one cluster and two resources.
fn create(follower: &Follower) {
    create_as(follower, "7");
}

fn create_as(follower: &Follower, id: &str) {
    let root = format!("/context/{id}/");
    let mut batch = Batch::new().put(&root, format!("\"{id}\""));
    for (below, value) in [
        ("app/a/", r#""a""#),
        ("app/a/cluster/p+c/", r#""p+c""#),
        ("app/a/cluster/p+c/resource/x+Pod/", r#""x: 1""#),
        ("app/a/cluster/p+c/resource/y+Pod/", r#""y: 1""#),
    ] {
        batch = batch.put(format!("{root}{below}"), value);
    }
    follower.write(&batch);
}

#[test]
fn a_changed_key_reads_nothing_and_shares_every_other_part() {
    let mut follower = Follower::new();
    create(&follower);
    let other = Batch::new()
        .put("/context/7/app/b/", r#""b""#)
        .put("/context/7/app/b/cluster/p+c/", r#""p+c""#)
        .put("/context/7/app/b/cluster/p+c/resource/z+Pod/", r#""z: 1""#);
    follower.write(&other);
    assert_eq!(follower.follow(false).len(), 1);
    follower.store.take_ranges();
    let before = follower.context("7").clone();
    follower.put(
        "/context/7/app/a/cluster/p+c/resource/x+Pod/status/",
        r#"{"Status":"Applied"}"#,
    );
    assert_eq!(follower.follow(false).len(), 1);
    assert_eq!(follower.store.take_ranges(), [""; 0]);
    let after = follower.context("7");
    let resources = |snapshot: &ContextSnapshot, app: usize| {
        Arc::clone(&snapshot.apps[app].clusters[0].resources)
    };
    assert_eq!(resources(after, 0)[0].status, Some(RsyncStatus::Applied));
    assert!(Arc::ptr_eq(&resources(&before, 1), &resources(after, 1)));
    let manifest = |snapshot: &ContextSnapshot| resources(snapshot, 0)[1].manifest.clone().unwrap();
    assert!(Arc::ptr_eq(&manifest(&before), &manifest(after)));
    follower.check();
}

#[test]
fn a_value_that_the_watch_dropped_is_read() {
    let mut follower = Follower::new();
    create(&follower);
    follower.follow(false);
    follower.put("/context/7/stopflag/", "true");
    let large = format!("\"{}\"", "x".repeat(VALUES_KEPT_BYTES_MAX / 2));
    for key in ["x+Pod/", "y+Pod/"] {
        follower.put(
            &format!("/context/7/app/a/cluster/p+c/resource/{key}"),
            &large,
        );
    }
    assert_eq!(follower.follow(false).len(), 1);
    assert!(follower.context("7").stop_flag);
    follower.check();
}

#[test]
fn an_own_report_is_noted_without_a_result() {
    let mut follower = Follower::new();
    create(&follower);
    follower.put("/context/8/", r#""8""#);
    follower.put("/context/8/statusappctxid/", r#""7""#);
    follower.put("/context/8/app/a/", r#""a""#);
    follower.put("/context/8/app/a/cluster/p+c/", r#""p+c""#);
    follower.follow(false);
    let report = "/context/7/app/a/cluster/p+c/status/";
    follower.put(report, r#""{\"own\":1}""#);
    assert_eq!(follower.follow(true), []);
    follower.store.take_ranges();
    for id in ["7", "8"] {
        follower.put(&format!("/context/{id}/stopflag/"), "true");
        assert_eq!(follower.follow(false).len(), 1);
        assert_eq!(
            follower.context(id).apps[0].clusters[0].bundle,
            StoredBundle::Absent
        );
    }
    assert_eq!(follower.store.take_ranges(), [""; 0]);
    follower.put(report, r#""{\"other\":1}""#);
    assert_eq!(follower.follow(false).len(), 2);
    follower.check();
}

#[test]
fn a_restart_reports_only_contexts_that_differ() {
    let mut follower = Follower::new();
    create(&follower);
    follower.put("/context/8/", r#""8""#);
    follower.put("/context/9/", r#""9""#);
    follower.put("/context/7/app/a/cluster/p+c/status/", r#""{}""#);
    follower.follow(false);
    assert_eq!(follower.restart(), []);
    follower.put("/context/8/status/", r#"{"Status":"Instantiated"}"#);
    follower.write(&Batch::new().delete("/context/9/"));
    let changed = follower.restart();
    assert_eq!(changed, ["8", "9"].map(|id| id.parse().unwrap()));
    // The watch reports the same changes again.
    assert_eq!(follower.follow(false), []);
    follower.check();
}

#[test]
fn an_app_that_appears_again_has_its_report() {
    let mut follower = Follower::new();
    create(&follower);
    follower.put("/context/7/app/a/cluster/p+c/status/", r#""{}""#);
    follower.write(&Batch::new().delete("/context/7/app/a/cluster/p+c/resource/y+Pod/"));
    follower.follow(false);
    // rsync added the only resource for a later instance.
    follower.put("/context/7/app/a/cluster/p+c/resource/x+Pod/", r#""nil""#);
    follower.put(
        "/context/7/app/a/cluster/p+c/resource/x+Pod/reference/",
        r#""8""#,
    );
    follower.follow(false);
    assert_eq!(follower.context("7").apps, []);
    follower.put("/context/7/app/a/cluster/p+c/resource/x+Pod/", r#""x: 1""#);
    follower.follow(false);
    let bundle = &follower.context("7").apps[0].clusters[0].bundle;
    assert_eq!(bundle.json(), Some("{}"));
    follower.check();
}

#[test]
fn deleted_contexts_leave_no_trace() {
    let mut follower = Follower::new();
    create(&follower);
    follower.put("/context/8/", r#""8""#);
    follower.put("/context/8/statusappctxid/", r#""7""#);
    follower.follow(false);
    for id in ["7", "8"] {
        follower.write(&Batch::new().delete_prefix(format!("/context/{id}/")));
        follower.follow(false);
        follower.check();
    }
    assert!(follower.images.is_empty());
}

#[test]
fn a_context_that_a_reader_read_first_is_reported_too() {
    let mut follower = Follower::new();
    follower.write(
        &Batch::new()
            .put("/context/7/", r#""7""#)
            .put("/context/7/statusappctxid/", r#""8""#),
    );
    follower.put("/context/8/", r#""8""#);
    assert_eq!(follower.follow(false).len(), 2);
    follower.check();
}
