use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::bundle::encode::tests::{contents, deployment, pod, report};
use crate::{
    BundleDialect, BundleDocument, BundleError, BundleFormat, Coverage, KindCoverage, KindState,
    PartDocument, Report, Scope, encode_bundle, read_bundle, status_digest,
};

/// A cluster with the objects of one report.
#[derive(Default)]
struct Cluster {
    annotations: BTreeMap<String, String>,
    status: Option<String>,
    parts: BTreeMap<String, PartDocument>,
}

impl Cluster {
    fn stored(&self, encoded: &EncodedBundle) -> StoredBundle {
        StoredBundle {
            annotations: self.annotations.clone(),
            is_status_current: self.status.as_deref() == Some(&encoded.first.status),
            status: self.status.as_deref().map(status_digest),
            parts: self.parts.keys().cloned().collect(),
            damaged: BTreeSet::new(),
        }
    }

    fn write(&mut self, write: &BundleWrite<'_>, encoded: &EncodedBundle) {
        match write {
            BundleWrite::Part(part) => {
                let read = PartDocument::of(deployment(), &part.status);
                self.parts.insert(part.name.clone(), read);
            }
            BundleWrite::Annotations(annotations) => self.annotations.extend(annotations.clone()),
            BundleWrite::Status(status) => self.status = Some((*status).to_owned()),
            BundleWrite::AnnotationsOfStatus => {
                let digest = self.status.as_deref().map(status_digest);
                self.annotations
                    .extend(encoded.annotations(digest.as_ref()));
            }
            BundleWrite::Delete(name) => drop(self.parts.remove(name)),
        }
    }

    /// The report that a reader finds; none while it keeps the last one.
    fn read(&self) -> Option<Report> {
        let status: Value = serde_json::from_str(self.status.as_deref()?).unwrap();
        let document = serde_json::json!({
            "metadata": {"name": "7-sink", "annotations": self.annotations,
                "labels": {"emco/deployment-id": "7-sink"}},
            "status": status,
        });
        match read_bundle(document.to_string().as_bytes()).unwrap() {
            BundleDocument::Whole(bundle) => Some(bundle.report),
            BundleDocument::Split(split) => match split.join(|name| self.parts.get(name)) {
                Ok(bundle) => Some(bundle.report),
                Err(BundleError::Torn(_)) => None,
                Err(error) => panic!("{error}"),
            },
            BundleDocument::Part(_) => panic!("the first object"),
        }
    }
}

fn encoded(report: &Report, bytes_max: usize) -> EncodedBundle {
    let dialect = BundleDialect::V22;
    encode_bundle(&deployment(), report, &BundleFormat { dialect, bytes_max })
}

fn pods(count: usize, node: usize) -> Report {
    let pods = (0..count).map(|at| {
        let mut pod = pod(&at.to_string());
        pod["spec"]["nodeName"] = node.into();
        pod
    });
    report(&pods.collect::<Vec<_>>())
}

fn kinds(writes: &[BundleWrite<'_>]) -> Vec<&'static str> {
    let kinds = writes.iter().map(|write| match write {
        BundleWrite::Part(_) => "part",
        BundleWrite::Annotations(_) => "annotations",
        BundleWrite::Status(_) => "status",
        BundleWrite::AnnotationsOfStatus => "annotations of status",
        BundleWrite::Delete(_) => "delete",
    });
    kinds.collect()
}

/// Makes all writes of a report.
fn write(cluster: &mut Cluster, encoded: &EncodedBundle) -> Vec<&'static str> {
    let writes = encoded.writes(&cluster.stored(encoded));
    for write in &writes {
        cluster.write(write, encoded);
    }
    assert!(encoded.writes(&cluster.stored(encoded)).is_empty());
    kinds(&writes)
}

#[test]
fn a_report_in_one_object_costs_one_write() {
    let mut cluster = Cluster::default();
    let first = write(&mut cluster, &encoded(&pods(3, 1), 100_000));
    assert_eq!(first, ["annotations", "status", "annotations of status"]);
    let later = write(&mut cluster, &encoded(&pods(4, 1), 100_000));
    assert_eq!(later, ["status"]);
}

#[test]
fn a_status_and_another_coverage_are_combined_only_after_both_were_written() {
    let with = |count: usize, state: KindState| {
        let mut report = pods(count, 1);
        report.coverage = Coverage::nothing();
        let coverage = KindCoverage::new(state);
        report.coverage.set("", "Pod", Scope::Cluster, coverage);
        encoded(&report, 100_000)
    };
    let mut cluster = Cluster::default();
    write(&mut cluster, &with(4, KindState::Complete));
    let writes = write(&mut cluster, &with(3, KindState::Forbidden));
    assert_eq!(writes, ["annotations", "status", "annotations of status"]);
    // The status is the same.
    let writes = write(&mut cluster, &with(3, KindState::Unavailable));
    assert_eq!(writes, ["annotations of status"]);
}

#[test]
fn a_report_in_several_objects_is_written_before_it_is_named() {
    let mut cluster = Cluster::default();
    write(&mut cluster, &encoded(&pods(3, 1), 100_000));
    let writes = write(&mut cluster, &encoded(&pods(40, 1), 3000));
    let (parts, rest) = writes.split_at(writes.iter().filter(|kind| **kind == "part").count());
    assert!(
        !parts.is_empty() && parts.iter().all(|kind| *kind == "part"),
        "{writes:?}"
    );
    assert_eq!(rest, ["annotations", "status", "annotations of status"]);
    let writes = write(&mut cluster, &encoded(&pods(3, 2), 100_000));
    assert_eq!(writes[..2], ["status", "annotations of status"]);
    assert!(
        writes[2..].iter().all(|kind| *kind == "delete"),
        "{writes:?}"
    );
    assert!(cluster.parts.is_empty());
}

#[test]
fn a_first_further_object_beside_an_unchanged_status_is_read() {
    let onap = |objects: &[Value]| {
        let format = BundleFormat {
            dialect: BundleDialect::Onap,
            bytes_max: 100_000,
        };
        encode_bundle(&deployment(), &report(objects), &format)
    };
    let policy = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": "policy", "namespace": "d", "uid": "uid-policy"},
    });
    let (before, after) = (onap(&[pod("a")]), onap(&[pod("a"), policy]));
    assert_eq!(before.first.status, after.first.status);
    let mut cluster = Cluster::default();
    write(&mut cluster, &before);
    // The response to the write of a report in one object has no status.
    let stored = StoredBundle {
        status: None,
        ..cluster.stored(&after)
    };
    let writes = after.writes(&stored);
    assert_eq!(
        kinds(&writes),
        ["part", "annotations", "status", "annotations of status"]
    );
    for write in &writes {
        cluster.write(write, &after);
    }
    let read = cluster.read().unwrap();
    assert_eq!(read.objects.len(), 2);
}

#[test]
fn a_damaged_further_object_is_written_again_or_deleted() {
    let mut cluster = Cluster::default();
    let large = encoded(&pods(40, 1), 3000);
    write(&mut cluster, &large);
    let mut stored = cluster.stored(&large);
    let damaged = stored.parts.pop_first().unwrap();
    stored.damaged = BTreeSet::from([damaged.clone()]);
    let writes = large.writes(&stored);
    assert!(
        matches!(&*writes, [BundleWrite::Part(part)] if part.name == damaged),
        "{writes:?}"
    );
    let small = encoded(&pods(3, 1), 100_000);
    let stored = StoredBundle {
        damaged: stored.damaged,
        parts: BTreeSet::new(),
        ..cluster.stored(&small)
    };
    let deleted = BundleWrite::Delete(damaged);
    assert!(small.writes(&stored).contains(&deleted));
}

/// The objects and the coverage of a report.
fn shown_by(report: &Report) -> (Vec<(String, Value)>, Coverage) {
    (contents(&report.objects), report.coverage.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_reader_sees_a_mixture_of_two_reports(
        reports in prop::collection::vec((0_usize..60, 0_usize..3, any::<bool>(), 0_usize..100), 1..6),
    ) {
        let mut cluster = Cluster::default();
        let mut shown = None;
        for (count, node, is_forbidden, stop) in reports {
            let mut report = pods(count, node);
            if is_forbidden {
                let forbidden = KindCoverage::new(KindState::Forbidden);
                report.coverage.set("", "Secret", Scope::Cluster, forbidden);
            }
            let encoded = encoded(&report, 3000);
            let mut other = Cluster::default();
            write(&mut other, &encoded);
            let next = other.read().map(|report| shown_by(&report));
            // A writer that stops after some writes begins again.
            for stop in [stop, usize::MAX] {
                let writes = encoded.writes(&cluster.stored(&encoded));
                for write in writes.iter().take(stop) {
                    cluster.write(write, &encoded);
                    if let Some(read) = cluster.read() {
                        let read = Some(shown_by(&read));
                        prop_assert!(read == next || read == shown);
                        shown = read;
                    }
                }
            }
            prop_assert_eq!(&shown, &next);
        }
    }
}
