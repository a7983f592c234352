//! Joins the resources that should be in a cluster with those that the cluster reports.
//!
//! Called by the pipeline once per change of one app in one cluster. The cost is linear in the number
//! of resources; lookups go through one hash map.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{
    ClusterName, Coverage, Covered, Gvk, Object, Rejected, RsyncStatus, Verdict, host_reason,
};

use crate::map::map_for;
use crate::resource_view::{Report, ResourceKey, ResourceView, Role, Staleness};
use crate::view::ClusterView;

mod children;
mod matching;
mod unseen;

pub use unseen::{LastKnown, Unseen};

use matching::{Unread, match_objects};

/// Reason of a deleted resource whose bundle was deleted with it, so that there is no report.
const DELETED: &str = "Deleted";

/// Input of [`project`]: one app in one cluster.
#[derive(Debug, Clone)]
pub struct ClusterInput {
    /// The cluster.
    pub cluster: ClusterName,
    /// The namespace that the app is deployed to, for manifests that name none; empty if not known.
    pub namespace: Arc<str>,
    /// The resources that were sent, in the order of the `AppContext`.
    pub expected: Vec<Expected>,
    /// The last report of the cluster; none until a bundle has come.
    pub reported: Option<Reported>,
    /// Resources that are listed although the report has no object of them; none of them was sent.
    pub unseen: Vec<Unseen>,
    /// Parts of either that could not be read, as text for people; part of the cluster's answer.
    pub faults: Vec<Arc<str>>,
}

/// One resource that was sent to the cluster.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Group, version and Kind of the manifest. Without one only the Kind is known.
    pub gvk: Gvk,
    /// Namespace in the manifest; empty where it names none.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The manifest that was sent; none where it could not be read.
    pub manifest: Option<Object>,
    /// Result of sending it; none until it was sent, which is reported as `Pending`.
    pub rsync: Option<RsyncStatus>,
    /// True if it runs once, for an installation or a removal: what became of it is not how the app fares.
    pub is_hook: bool,
}

impl Expected {
    /// A resource with the manifest that was sent.
    pub fn new(manifest: Object, rsync: Option<RsyncStatus>) -> Self {
        Self {
            gvk: manifest.gvk.clone(),
            namespace: Arc::clone(&manifest.namespace),
            name: Arc::clone(&manifest.name),
            manifest: Some(manifest),
            rsync,
            is_hook: false,
        }
    }

    /// Result of sending it; `Pending` until it was sent.
    fn rsync(&self) -> RsyncStatus {
        self.rsync.unwrap_or(RsyncStatus::Pending)
    }

    /// A resource without a readable manifest, from the name and the Kind in its `AppContext` key.
    /// Matches that Kind in any group.
    pub fn without_manifest(name: &str, kind: &str, rsync: Option<RsyncStatus>) -> Self {
        Self {
            gvk: Gvk::new("", "", kind),
            namespace: "".into(),
            name: name.into(),
            manifest: None,
            rsync,
            is_hook: false,
        }
    }
}

/// The last report of a cluster on an app, with the verdicts on its objects.
#[derive(Debug, Clone, Default)]
pub struct Reported {
    /// All objects of the bundle, in its order.
    pub objects: Arc<[Object]>,
    /// The verdict on each object, in the same order.
    pub verdicts: Vec<Verdict>,
    /// The items of the bundle that could not be read.
    pub rejected: Arc<[Rejected]>,
    /// The Kinds on which the report says what there is; every Kind by default.
    pub coverage: Coverage,
    /// Positions of the objects that are hooks.
    pub hooks: BTreeSet<usize>,
    /// Since when and why the report may be out of date.
    pub stale: Option<Staleness>,
}

/// One object a cluster reported, and the verdict on it.
type Judged<'r> = (&'r Object, &'r Verdict);

/// Joins the expected and the reported resources of one app in one cluster.
///
/// An object matches an expected resource if group, Kind, name and namespace are equal; the version may
/// differ. If the manifest names no namespace, the deployment's is tried first, then an object without a
/// namespace, then the only object of that name. An expected resource without an object is
/// `NotPresent`, or `Unknown` if no bundle has come, if its item in the bundle could not be read, or if the
/// bundle does not cover its Kind. Objects that were not sent follow, in the order of the bundle, then what
/// is listed without an object; each that another object of the bundle owns is a child of it.
///
/// A resource is in its state since the time in its verdict. Where that has none, `previous` counts, the
/// last view of the same app in the same cluster: resources whose state is unchanged keep the time of
/// their last state change. `now_ms` is the time for all others.
pub fn project(input: ClusterInput, previous: Option<&ClusterView>, now_ms: i64) -> ClusterView {
    let report = input
        .reported
        .as_ref()
        .map_or(Report::NotYet, |reported| Report::Received {
            stale: reported.stale.clone(),
        });
    let reported = input.reported.unwrap_or_default();
    let judged: Vec<Judged<'_>> = reported.objects.iter().zip(&reported.verdicts).collect();
    let matches = match_objects(&input.expected, &reported.objects, &input.namespace);
    let unread = Unread::of(&reported.rejected);
    let mut resources = Vec::with_capacity(input.expected.len() + judged.len());
    let mut taken = vec![false; judged.len()];
    for (expected, found) in input.expected.into_iter().zip(matches) {
        if let Some(mark) = found.and_then(|position| taken.get_mut(position)) {
            *mark = true;
        }
        let found = found.and_then(|position| judged.get(position));
        let absent = |expected: &Expected| match &report {
            Report::NotYet => without_report(expected.rsync()),
            Report::Received { .. } => {
                let namespace = matching::namespace_of(expected, &input.namespace);
                without_object(expected, namespace, &reported.coverage, &unread)
            }
        };
        resources.push(expected_resource(expected, found.copied(), absent));
    }
    let extra = judged.into_iter().zip(taken).enumerate();
    let extra = extra.filter(|(_, (_, taken))| !taken);
    resources.extend(extra.map(|(position, (judged, _))| {
        let is_hook = reported.hooks.contains(&position);
        extra_resource(judged, if is_hook { Role::Hook } else { Role::Unsent })
    }));
    resources.extend(input.unseen.into_iter().map(Unseen::into_resource));
    children::set_owners(&mut resources);
    set_since(&mut resources, previous, now_ms);
    ClusterView::new(input.cluster, report, resources, input.faults)
}

fn expected_resource(
    expected: Expected,
    found: Option<Judged<'_>>,
    absent: impl FnOnce(&Expected) -> Verdict,
) -> ResourceView {
    let rsync = expected.rsync();
    let verdict = match found {
        Some((_, verdict)) => verdict.clone(),
        None => absent(&expected),
    };
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
        verdict,
        since_ms: None,
        role: if expected.is_hook {
            Role::SentHook
        } else {
            Role::Sent
        },
        owner: None,
    }
}

/// The host's own verdict on an expected resource while there is no report.
fn without_report(rsync: RsyncStatus) -> Verdict {
    match rsync {
        RsyncStatus::Deleted => deleted(),
        _ => Verdict::no_report(),
    }
}

/// The host's own verdict on an expected resource that is not among the objects of the report: it is not
/// there, or nobody can tell.
fn without_object(
    expected: &Expected,
    namespace: &str,
    coverage: &Coverage,
    unread: &Unread<'_>,
) -> Verdict {
    if let Some(rejected) = unread.item_of(expected) {
        let message = format!(
            "its item in the report: {}: {}",
            rejected.pointer, rejected.error
        );
        return Verdict::unknown(host_reason::UNREADABLE, message);
    }
    let group = expected.manifest.is_some().then_some(&*expected.gvk.group);
    let kind = &expected.gvk.kind;
    match coverage.covers(group, kind) {
        Covered::Yes if !coverage.covers_namespace(namespace) => Verdict::unknown(
            host_reason::NOT_REPORTED,
            format!("the cluster is not watched in namespace {namespace}"),
        ),
        Covered::Yes => Verdict::not_present(),
        // The result of the deletion is final, and no report will confirm it.
        Covered::NotReported if expected.rsync() == RsyncStatus::Deleted => deleted(),
        Covered::NotReported => Verdict::unknown(
            host_reason::NOT_REPORTED,
            format!("the cluster does not report on objects of Kind {kind}"),
        ),
        Covered::Unreadable => Verdict::unknown(
            host_reason::UNREADABLE,
            format!("the list of its Kind in the report cannot be read: {kind}"),
        ),
        Covered::Cut => Verdict::unknown(
            host_reason::UNREADABLE,
            "the report has more items than are read, and it is not among those that are",
        ),
    }
}

/// `NotPresent`, because the resource was deleted. The bundle of an app is deleted with the app, so no
/// report will confirm it; the result of the deletion is final.
fn deleted() -> Verdict {
    Verdict {
        reason: DELETED.into(),
        message: "it was deleted, and the cluster reports nothing on this app".into(),
        ..Verdict::not_present()
    }
}

fn extra_resource((object, verdict): Judged<'_>, role: Role) -> ResourceView {
    ResourceView {
        gvk: object.gvk.clone(),
        namespace: Arc::clone(&object.namespace),
        name: Arc::clone(&object.name),
        manifest: None,
        rsync: None,
        object: Some(object.clone()),
        verdict: verdict.clone(),
        since_ms: None,
        role,
        owner: None,
    }
}

/// Sets the time since when each resource is in its state.
fn set_since(resources: &mut [ResourceView], previous: Option<&ClusterView>, now_ms: i64) {
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
        let seen_ms = before.and_then(|before| before.since_ms);
        let since_ms = resource.verdict.since_ms.or(seen_ms);
        resource.since_ms = since_ms.or(Some(now_ms));
    }
}

#[cfg(test)]
mod tests;
