//! Joins the expected resources of a cluster with the reported resources.
//!
//! The pipeline calls [`project`] once for each change of one app in one cluster. The cost is linear in the
//! number of resources; lookups use one hash map.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{
    ClaimsByPosition, ClusterName, Coverage, Gvk, KindState, Object, ObjectList, Presence,
    Rejected, RsyncStatus, Scope, Verdict, host_reason,
};

use crate::map::map_for;
use crate::resource_view::{Report, ResourceKey, ResourceView, Role, Staleness};
use crate::table::ResourceTable;
use crate::view::ClusterView;

mod absence;
mod children;
mod last_sent;
mod matching;
mod shown;
mod unseen;

pub use matching::match_objects;
pub use unseen::{LastKnown, Unseen, Why};

use last_sent::LastSent;
use matching::Unread;

/// Reason of a resource that was deleted together with its bundle, so that no report confirms the deletion.
const DELETED: &str = "Deleted";

/// Input of [`project`]: one app in one cluster.
#[derive(Debug, Clone)]
pub struct ClusterInput {
    /// The cluster.
    pub cluster: ClusterName,
    /// The namespace that the app is deployed to, for manifests without a namespace; empty if it is unknown.
    pub namespace: Arc<str>,
    /// The resources that were sent, in the order of the `AppContext`.
    pub expected: Vec<Expected>,
    /// The last report of the cluster; `None` before the first report.
    pub reported: Option<Reported>,
    /// Resources that are listed although the report has no object for them. They were not sent.
    pub unseen: Vec<Unseen>,
    /// Unreadable parts of the report and of the sent resources, as text for users. They are part of the
    /// cluster's answer.
    pub faults: Vec<Arc<str>>,
}

/// One resource that was sent to the cluster.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Group, version and Kind of the manifest. Without a manifest, only the Kind is known.
    pub gvk: Gvk,
    /// Namespace in the manifest; empty if the manifest has none.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The manifest that was sent; `None` if it could not be read.
    pub manifest: Option<Object>,
    /// Result of sending it; `None` before that, which answers show as `Pending`.
    pub rsync: Option<RsyncStatus>,
    /// True if it runs once, for an installation or a removal. Its result does not count in the readiness of
    /// the app.
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

    /// Its namespace; the namespace of the deployment if the manifest has none.
    pub fn namespace_in<'a>(&'a self, deployment: &'a str) -> &'a str {
        matching::namespace_of(self, deployment)
    }

    /// Result of sending it; `Pending` until it was sent.
    fn rsync(&self) -> RsyncStatus {
        self.rsync.unwrap_or(RsyncStatus::Pending)
    }

    /// A resource without a readable manifest, from the name and the Kind in its `AppContext` key. Matches
    /// this Kind in any group.
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

/// The last report of a cluster on an app, with verdicts.
#[derive(Debug, Clone, Default)]
pub struct Reported {
    /// All objects of the report, in order.
    pub objects: ObjectList,
    /// The verdict on each object, in the same order.
    pub verdicts: Vec<Verdict>,
    /// The items of the report that could not be read.
    pub rejected: Arc<[Rejected]>,
    /// The coverage of the report; complete for every Kind by default.
    pub coverage: Coverage,
    /// Positions of the objects that are hooks.
    pub hooks: BTreeSet<usize>,
    /// The claims of several applications on objects.
    pub claims: ClaimsByPosition,
    /// Staleness of the report; `None` if it is current.
    pub stale: Option<Staleness>,
}

/// A reported object with its verdict.
type Judged<'r> = (&'r Object, &'r Verdict);

/// Joins the expected and the reported resources of one app in one cluster.
///
/// An object matches an expected resource if group, Kind, name and namespace are equal; the version may
/// differ. If the manifest has no namespace, the search tries the namespace of the deployment, then an object
/// without a namespace, then the only object with this name. The coverage of its Kind decides the verdict on
/// an expected resource without an object, and on an object whose Kind the source cannot report any more.
/// After the expected resources, the view lists objects that were not sent, in the order of the report, and
/// then resources without an object. An object that another object of the report owns is a child of its
/// owner.
///
/// The state of a resource begins at the time in its verdict, unless `previous` contradicts this time.
/// `previous` is the last view of the same app in the same cluster. If the verdict has no usable time, a
/// resource with an unchanged state keeps its time, and the state of any other resource begins at `now_ms`.
pub fn project(input: ClusterInput, previous: Option<&ClusterView>, now_ms: i64) -> ClusterView {
    let report = input
        .reported
        .as_ref()
        .map_or(Report::NotYet, |reported| Report::Received {
            stale: reported.stale.clone(),
        });
    let mut reported = input.reported.unwrap_or_default();
    replace_unreported(&mut reported);
    let last = LastSent::of(previous, &reported.coverage);
    let judged: Vec<Judged<'_>> = reported.objects.iter().zip(&reported.verdicts).collect();
    let matches = match_objects(&input.expected, &reported.objects, &input.namespace);
    let unread = Unread::of(&reported.rejected);
    let mut resources = Vec::with_capacity(input.expected.len() + judged.len());
    let mut of_objects: Vec<Option<usize>> = vec![None; judged.len()];
    for (expected, found) in input.expected.into_iter().zip(matches) {
        if let Some(row) = found.and_then(|position| of_objects.get_mut(position)) {
            *row = Some(resources.len());
        }
        let claims = found.and_then(|position| reported.claims.get(&position));
        let found = found.and_then(|position| judged.get(position));
        let known = last.of_expected(&expected);
        let absent = |expected: &Expected| match &report {
            Report::NotYet => without_report(expected.rsync()),
            Report::Received { .. } => {
                let namespace = expected.namespace_in(&input.namespace);
                let last = known.map(|known| &known.verdict);
                without_object(expected, (namespace, &reported.coverage), &unread, last)
            }
        };
        let mut resource = expected_resource(expected, found.copied(), absent);
        if let Some(known) = known
            && resource.object.is_none()
            && resource.verdict == known.verdict
        {
            resource.object.clone_from(&known.object);
        }
        resource.claims = claims.cloned();
        resources.push(resource);
    }
    for (position, (judged, row)) in judged.into_iter().zip(&mut of_objects).enumerate() {
        if row.is_none() {
            let is_hook = reported.hooks.contains(&position);
            *row = Some(resources.len());
            let role = if is_hook { Role::Hook } else { Role::Unsent };
            resources.push(ResourceView {
                claims: reported.claims.get(&position).cloned(),
                ..extra_resource(judged, role)
            });
        }
    }
    let mut owners = Vec::new();
    for unseen in input.unseen {
        let owner = unseen.owner.clone();
        owners.extend(owner.map(|owner| (resources.len(), owner)));
        resources.push(unseen.into_resource(&reported.coverage));
    }
    children::set_owners(&mut resources, &owners);
    set_since(&mut resources, previous, now_ms);
    let of_objects = of_objects.into_iter().flatten().collect();
    ClusterView::new(input.cluster, report, resources, input.faults)
        .with_objects_at(of_objects)
        .with_coverage(absence::coverage(&reported))
        .after(previous)
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
        claims: None,
    }
}

/// The host's own verdict on an expected resource while there is no report.
fn without_report(rsync: RsyncStatus) -> Verdict {
    match rsync {
        RsyncStatus::Deleted => deleted(),
        _ => Verdict::no_report(),
    }
}

/// The host's own verdict on an expected resource without an object in the report. `last` is its last
/// verdict.
fn without_object(
    expected: &Expected,
    (namespace, coverage): (&str, &Coverage),
    unread: &Unread<'_>,
    last: Option<&Verdict>,
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
    let found = coverage.of(group, kind, Scope::of(namespace));
    let is_final = matches!(
        found.state,
        KindState::NotRequested
            | KindState::NotListable
            | KindState::Unserved
            | KindState::Forbidden
    );
    // The result of the deletion is final. No report will confirm it.
    if is_final && expected.rsync() == RsyncStatus::Deleted {
        return deleted();
    }
    absence::of_sent(&found, kind, last)
}

/// Replaces the verdicts on objects of Kinds that the source cannot report any more.
fn replace_unreported(reported: &mut Reported) {
    if reported.coverage.is_complete() {
        return;
    }
    let coverage = &reported.coverage;
    for (object, verdict) in reported.objects.iter().zip(&mut reported.verdicts) {
        let (gvk, scope) = (&object.gvk, Scope::of(&object.namespace));
        let found = coverage.of(Some(&gvk.group), &gvk.kind, scope);
        if found.state.presence() == Presence::Unreported {
            *verdict = absence::not_reported(&found, &gvk.kind);
        }
    }
}

/// `NotPresent`, because the resource was deleted. The bundle of an app is deleted together with the app, so
/// the result of the deletion is final and no report will confirm it.
fn deleted() -> Verdict {
    Verdict {
        reason: DELETED.into(),
        message: "it was deleted, and the cluster does not report on this app any more".into(),
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
        claims: None,
    }
}

/// Sets the start time of each resource's state.
fn set_since(resources: &mut [ResourceView], previous: Option<&ClusterView>, now_ms: i64) {
    let known = previous.map(ClusterView::resources);
    let mut before = map_for::<ResourceKey<'_>, &ResourceView>(known.map_or(0, ResourceTable::len));
    let known = known.into_iter().flat_map(ResourceTable::iter);
    before.extend(known.map(|resource| (resource.key(), resource)));
    for resource in resources {
        let before = before.get(&resource.key());
        let since_ms = before.map(|before| before.since_of(&resource.verdict, now_ms));
        let since_ms = since_ms.or(resource.verdict.since_ms);
        resource.since_ms = since_ms.or(Some(now_ms));
    }
}

#[cfg(test)]
mod tests;
