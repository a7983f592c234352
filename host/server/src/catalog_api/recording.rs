//! Fixtures of reported objects.

use kindsight_api::interpreters::{RecordRefusal, Recorded, RecordedObject};
use kindsight_interpreter::{Limits, Published, RecordedFixture, ReportedGroup, record_fixture};
use kindsight_model::{ClusterName, Gvk, Object};
use kindsight_pipeline::ReportedObjects;

use crate::clock::now_ms;
use crate::known_objects::labelled;

/// Finds an object of a cluster among everything that was reported, and makes a fixture of it.
/// Blocks.
///
/// # Errors
/// [`RecordRefusal`]: there is no such object, or it cannot be a fixture.
pub(super) fn record(
    limits: &Limits,
    set: &Published,
    reported: Vec<ReportedObjects>,
    cluster: &ClusterName,
    wanted: &RecordedObject,
) -> Result<Recorded, RecordRefusal> {
    let groups = reported.into_iter();
    let groups = groups.filter(|group| group.cluster == *cluster);
    let groups: Vec<ReportedGroup> = groups.map(labelled).collect();
    let found = groups.iter().flat_map(|group| {
        let objects = group.objects.iter();
        let objects = objects.filter(|object| is_wanted(object, wanted));
        objects.map(move |object| (group, object))
    });
    let found: Vec<(&ReportedGroup, &Object)> = found.collect();
    let (group, object) = found.first().ok_or(RecordRefusal::NotFound)?;
    let mut kinds: Vec<String> = found.iter().map(|(_, other)| kind(&other.gvk)).collect();
    kinds.sort();
    kinds.dedup();
    if kinds.len() > 1 {
        return Err(RecordRefusal::Ambiguous(kinds));
    }
    let recorded = record_fixture(limits, set, group, object, now_ms());
    let RecordedFixture { by, fixture } =
        recorded.map_err(|error| RecordRefusal::Impossible(error.to_string()))?;
    Ok(Recorded {
        interpreter: by.name.clone(),
        version: by.version.to_string(),
        digest: by.digest.clone(),
        fixture,
    })
}

fn is_wanted(object: &Object, wanted: &RecordedObject) -> bool {
    *object.name == *wanted.name
        && *object.namespace == *wanted.namespace
        && (*object.gvk.kind == *wanted.kind || kind(&object.gvk) == wanted.kind)
}

/// `Kind.group`; only the Kind in the core group.
fn kind(gvk: &Gvk) -> String {
    match &*gvk.group {
        "" => gvk.kind.to_string(),
        group => format!("{}.{group}", gvk.kind),
    }
}
