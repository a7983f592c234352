//! Puts together what should be in a cluster and what the cluster says is there.
//!
//! Called by the wiring once per change of one app in one cluster. The time it takes grows with the
//! number of resources; lookups go through one hash map.

use std::sync::Arc;

use kindsight_model::{ClusterName, Gvk, Object, RsyncStatus, Verdict};

use crate::map::map_for;
use crate::view::{ClusterView, Report, ResourceKey, ResourceView};

mod matching;

use matching::match_up;

/// The reason given where there is no report because the resource was deleted, and the bundle with
/// it.
const DELETED: &str = "Deleted";

/// Everything known of one app in one cluster.
#[derive(Debug, Clone)]
pub struct ClusterInput {
    /// Which cluster.
    pub cluster: ClusterName,
    /// The namespace the app is deployed to, where a manifest names none; empty if not known.
    pub namespace: Arc<str>,
    /// What was sent there, in the order of the `AppContext`.
    pub expected: Vec<Expected>,
    /// What the cluster says; none until a bundle has come.
    pub reported: Option<Reported>,
    /// What could not be read of either, in words; shown with the cluster.
    pub faults: Vec<Arc<str>>,
}

/// One resource that was sent to the cluster.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Group, version and Kind, by the manifest. Without one only the Kind is known.
    pub gvk: Gvk,
    /// Its namespace, by the manifest; empty where that names none.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// What was sent; none where it could not be read.
    pub manifest: Option<Object>,
    /// What happened to it; none until it was sent, which is shown as `Pending`.
    pub rsync: Option<RsyncStatus>,
}

impl Expected {
    /// From the manifest that was sent.
    pub fn new(manifest: Object, rsync: Option<RsyncStatus>) -> Self {
        Self {
            gvk: manifest.gvk.clone(),
            namespace: Arc::clone(&manifest.namespace),
            name: Arc::clone(&manifest.name),
            manifest: Some(manifest),
            rsync,
        }
    }

    /// From the name and the Kind that the `AppContext` keeps it under, where there is no manifest
    /// that could be read. Any group of that Kind will do.
    pub fn without_manifest(name: &str, kind: &str, rsync: Option<RsyncStatus>) -> Self {
        Self {
            gvk: Gvk::new("", "", kind),
            namespace: "".into(),
            name: name.into(),
            manifest: None,
            rsync,
        }
    }
}

/// The last report of a cluster on an app, judged.
#[derive(Debug, Clone, Default)]
pub struct Reported {
    /// Everything in its bundle, in the bundle's order.
    pub objects: Arc<[Object]>,
    /// The verdict on each of them, in the same order.
    pub verdicts: Vec<Verdict>,
    /// Since when the cluster cannot be reached, in Unix milliseconds.
    pub stale_since_ms: Option<i64>,
}

/// One object a cluster reported, and the verdict on it.
type Judged<'r> = (&'r Object, &'r Verdict);

/// Puts one app in one cluster together.
///
/// An object is what an expected resource became if group and Kind, name and namespace are the
/// same; the version may differ. Where the manifest names no namespace, the deployment's is tried,
/// then the object that has none, then the only one of that name. What is expected and not there is
/// `NotPresent`, or `Unknown` if no bundle has come. Objects nobody sent follow in their own order.
///
/// `previous` is the last view of the same app in the same cluster: what has not changed its state
/// keeps the time since when it is in it. `now_ms` is for what has.
pub fn project(input: ClusterInput, previous: Option<&ClusterView>, now_ms: i64) -> ClusterView {
    let report = input
        .reported
        .as_ref()
        .map_or(Report::NotYet, |reported| Report::Received {
            stale_since_ms: reported.stale_since_ms,
        });
    let reported = input.reported.unwrap_or_default();
    let judged: Vec<Judged<'_>> = reported.objects.iter().zip(&reported.verdicts).collect();
    let matches = match_up(&input.expected, &reported.objects, &input.namespace);
    let mut resources = Vec::with_capacity(input.expected.len() + judged.len());
    let mut taken = vec![false; judged.len()];
    for (expected, found) in input.expected.into_iter().zip(matches) {
        if let Some(mark) = found.and_then(|position| taken.get_mut(position)) {
            *mark = true;
        }
        let found = found.and_then(|position| judged.get(position));
        resources.push(expected_resource(expected, found.copied(), report));
    }
    let extra = judged.into_iter().zip(taken).filter(|(_, taken)| !taken);
    resources.extend(extra.map(|(judged, _)| extra_resource(judged)));
    date(&mut resources, previous, now_ms);
    ClusterView::new(input.cluster, report, resources, input.faults)
}

fn expected_resource(
    expected: Expected,
    found: Option<Judged<'_>>,
    report: Report,
) -> ResourceView {
    let rsync = expected.rsync.unwrap_or(RsyncStatus::Pending);
    let gvk = match (&expected.manifest, found) {
        (None, Some((object, _))) => object.gvk.clone(),
        _ => expected.gvk,
    };
    let namespace = found
        .map(|(object, _)| Arc::clone(&object.namespace))
        .filter(|namespace| !namespace.is_empty());
    ResourceView {
        gvk,
        namespace: namespace.unwrap_or(expected.namespace),
        name: expected.name,
        manifest: expected.manifest,
        rsync: Some(rsync),
        object: found.map(|(object, _)| object.clone()),
        verdict: found.map_or_else(|| absent(report, rsync), |(_, verdict)| verdict.clone()),
        since_ms: None,
        expected: true,
    }
}

/// What the host says of a resource that is in no report.
fn absent(report: Report, rsync: RsyncStatus) -> Verdict {
    match (report, rsync) {
        (Report::Received { .. }, _) => Verdict::not_present(),
        (Report::NotYet, RsyncStatus::Deleted) => deleted(),
        (Report::NotYet, _) => Verdict::no_report(),
    }
}

/// The bundle goes with the app it is about. After that no report will come, and the cluster's
/// answer to the deletion is the last word.
fn deleted() -> Verdict {
    Verdict {
        reason: DELETED.into(),
        message: "it was deleted, and the cluster reports nothing on this app".into(),
        ..Verdict::not_present()
    }
}

fn extra_resource((object, verdict): Judged<'_>) -> ResourceView {
    ResourceView {
        gvk: object.gvk.clone(),
        namespace: Arc::clone(&object.namespace),
        name: Arc::clone(&object.name),
        manifest: None,
        rsync: None,
        object: Some(object.clone()),
        verdict: verdict.clone(),
        since_ms: None,
        expected: false,
    }
}

/// Fills in since when each resource is in its state.
fn date(resources: &mut [ResourceView], previous: Option<&ClusterView>, now_ms: i64) {
    let before = previous.map_or(&[][..], ClusterView::resources);
    let keyed = before.iter().map(|resource| (resource.key(), resource));
    let mut before = map_for::<ResourceKey<'_>, &ResourceView>(before.len());
    before.extend(keyed);
    for resource in resources {
        let same_state = |before: &&&ResourceView| {
            before.verdict.phase == resource.verdict.phase
                && before.verdict.state == resource.verdict.state
        };
        let before = before.get(&resource.key()).filter(same_state);
        resource.since_ms = before.and_then(|before| before.since_ms).or(Some(now_ms));
    }
}

#[cfg(test)]
mod tests;
