//! Replica counts of reports without a spec.
//!
//! A monitor of the first generation omits the spec. The host then passes the spec of the manifest,
//! if there is one. Controllers create ReplicaSets without a manifest.

use crate::{Object, Verdict};

/// The verdict on an object with neither a reported spec nor a manifest, such as a ReplicaSet, from the counts of its status alone. `counts` are the fields below `status` that equal `replicas` when the work is
/// complete. The caller has checked the conditions.
///
/// Kubernetes omits zeros, so an absent count is 0. A status without replicas decides nothing,
/// because the desired number may be higher.
pub fn by_status_alone(object: &Object<'_>, counts: &[&str]) -> Verdict {
    let total = object.status_count("replicas");
    let ready = object.status_count("readyReplicas");
    if ready < total {
        let message = format!("{ready} of {total} replicas are ready");
        return Verdict::pending("NotReady", message);
    }
    let unavailable = object.status_count("unavailableReplicas");
    if unavailable > 0 {
        let message = format!("{unavailable} replicas are unavailable");
        return Verdict::pending("Unavailable", message);
    }
    if total > 0 && are_all(object, counts, total) {
        let message = format!("all {total} replicas are ready; the desired number is not reported");
        return Verdict::ready("ReplicasAgree", message);
    }
    super::spec_not_reported()
}

/// Pending, if fewer replicas exist than the manifest requests, and all of them work: the cluster
/// may have another spec by now. `counts` are the fields below `status` that equal `replicas` when
/// the work is complete. `None` if an autoscaler of the application sets the number of replicas.
pub fn fewer_than_sent(object: &Object<'_>, counts: &[&str]) -> Option<Verdict> {
    let total = object.status_count("replicas");
    let sent = object.replicas().filter(|sent| total < *sent)?;
    let is_settled = total > 0 && object.has_manifest_spec() && are_all(object, counts, total);
    is_settled.then(|| {
        let message = format!("{total} replicas exist, and the manifest requests {sent}");
        Verdict::pending("FewerThanSent", message)
    })
}

fn are_all(object: &Object<'_>, counts: &[&str], total: i64) -> bool {
    let mut counts = counts.iter();
    counts.all(|count| object.status_count(count) == total)
}
