//! Encodes a report as ResourceBundleStates. The opposite of `read_bundle`.
//!
//! `docs/bundles.md` describes the format, the order of dropped content, and the order of writes.

mod draft;
mod left_out;
mod piece;
mod shorten;
mod status;
mod writes;

use std::collections::BTreeMap;

use super::canonical::status_digest;
use super::header::{Header, PartEntry, REPORT_ANNOTATION, Stated};
use super::split::PART_LABEL;
use crate::{DeploymentId, Digest, Report};
use draft::Draft;
use left_out::LeftOut;
use piece::Piece;
pub use writes::{BundleWrite, StoredBundle};

/// Maximum size of a status that kindsight's monitor writes, in bytes of JSON. etcd takes requests of 1.5 MiB, and the
/// object has metadata too.
pub const REPORT_BYTES_MAX: usize = 900_000;

/// Maximum number of further objects of a report.
const PARTS_MAX: usize = 64;

/// Number of digits of a digest in the name of a further object.
const NAME_DIGITS: usize = 16;

/// The generation of readers that a report is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BundleDialect {
    /// EMCO: eight lists of one Kind each, and the list of any Kind.
    #[default]
    V22,
    /// ONAP: ten lists of one Kind each. It has no list of any Kind, so the other Kinds are in a further object, which
    /// only kindsight reads.
    Onap,
}

/// The format of encoded reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleFormat {
    /// The generation of readers.
    pub dialect: BundleDialect,
    /// Maximum size of each status, in bytes of JSON.
    pub bytes_max: usize,
}

impl Default for BundleFormat {
    fn default() -> Self {
        Self {
            dialect: BundleDialect::V22,
            bytes_max: REPORT_BYTES_MAX,
        }
    }
}

/// One or more ResourceBundleStates that together are the report on one app.
///
/// The API server takes the status of an object in another request than its annotations. A reader combines objects only
/// while they belong together, and keeps the last report until then. [`EncodedBundle::writes`] lists the writes in this
/// order, so that no reader sees a mixture:
///
/// 1. Each further object that does not exist yet: first the object, then its status.
/// 2. The annotations of the first object, if they change together with the status: then they first name a digest that
///    no status has.
/// 3. The status of the first object.
/// 4. The annotations of the first object for the new status ([`EncodedBundle::annotations`]).
/// 5. The deletion of further objects that are not used any more.
///
/// A writer that stops after any of these writes leaves objects that no reader misunderstands. It calls `writes` again
/// after the restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedBundle {
    /// The object with the label `emco/deployment-id`. It is named as the deployment; see [`EncodedBundle::in_object`].
    pub first: BundlePart,
    /// Further objects; almost always none.
    pub further: Vec<BundlePart>,
    header: Header,
}

/// One ResourceBundleState.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePart {
    /// Its name. The name of a further object has a digest of its content, so two objects of one name are equal.
    pub name: String,
    /// Its labels, which are also the labels in its `spec.selector`.
    pub labels: BTreeMap<String, String>,
    /// Its annotations; empty for a further object.
    pub annotations: BTreeMap<String, String>,
    /// Its status, as JSON.
    pub status: String,
    /// The number of items in its status.
    pub items: usize,
}

impl BundlePart {
    /// The object without its status, as JSON that creates it in a namespace. The API server ignores a status in this
    /// request.
    pub fn manifest(&self, namespace: &str) -> serde_json::Value {
        serde_json::json!({
            "apiVersion": "k8splugin.io/v1alpha1",
            "kind": "ResourceBundleState",
            "metadata": {
                "name": self.name,
                "namespace": namespace,
                "labels": self.labels,
                "annotations": self.annotations,
            },
            "spec": {"selector": {"matchLabels": self.labels}},
        })
    }
}

/// Encodes a report on a deployment. Called by kindsight's monitor after each change of a report, at most once a second
/// for each app. It is pure, and takes time and memory in proportion to the report.
///
/// It encodes any report. A report above the limit loses content in this order, each time as little as necessary and
/// the largest objects first: the content of objects above an eighth of the limit, messages, specs of owned objects,
/// owned objects. The rest continues in further objects. The header states the Kinds that lost content as incomplete.
pub fn encode_bundle(
    deployment: &DeploymentId,
    report: &Report,
    format: &BundleFormat,
) -> EncodedBundle {
    let mut left_out = LeftOut::of(format.bytes_max);
    let pieces = report.objects.iter();
    let pieces = pieces.map(|object| Piece::of(object, format.dialect));
    let mut draft = Draft::of(pieces.collect());
    draft.fit(format.bytes_max, &mut left_out);
    let (first, rest) = draft.split(format);
    let further = further(deployment, &rest, format, &mut left_out);
    let header = header(report, left_out, &further);
    let coverage = header.coverage.coverage();
    let moved = rest.iter().filter_map(Piece::list).collect();
    let is_any_moved = rest.iter().any(|piece| piece.list().is_none());
    let lists = status::Lists {
        coverage: &coverage,
        dialect: format.dialect,
        moved: &moved,
        is_any_moved,
    };
    let mut encoded = EncodedBundle {
        first: BundlePart {
            name: deployment.to_string(),
            labels: label(DeploymentId::LABEL, deployment),
            annotations: BTreeMap::new(),
            status: status::first(&first, &lists),
            items: first.len(),
        },
        further,
        header,
    };
    encoded.annotate();
    encoded
}

impl EncodedBundle {
    /// The report in a first object with this name. Called by the monitor for each report, because a deployment can have
    /// several first objects.
    ///
    /// The first object owns its further objects, and the API server deletes them together. So a first object that is
    /// not named as the deployment gives its further objects names of their own. Two first objects of one deployment in
    /// one namespace then share no further object.
    #[must_use]
    pub fn in_object(mut self, name: &str) -> Self {
        if self.first.name == name {
            return self;
        }
        name.clone_into(&mut self.first.name);
        for (part, entry) in self.further.iter_mut().zip(&mut self.header.parts) {
            let digest = Digest::of(format!("{name} {}", entry.status).as_bytes());
            let deployment = part.name.rsplit_once('-').map(|(deployment, _)| deployment);
            part.name = further_name(deployment.unwrap_or_default(), &digest);
            entry.name.clone_from(&part.name);
        }
        self.annotate();
        self
    }

    /// Sets the annotations of the first object for the status that is sent.
    fn annotate(&mut self) {
        let digest = (!self.further.is_empty()).then(|| status_digest(&self.first.status));
        self.first.annotations = self.annotations(digest.as_ref());
    }

    /// The annotations of the first object once its status was written. `stored` is the [`status_digest`] of the status
    /// in the response of the API server, which may differ from the status that was sent: the definition of the
    /// original monitors removes members. Only a report in several objects needs it.
    pub fn annotations(&self, stored: Option<&Digest>) -> BTreeMap<String, String> {
        let mut header = self.header.clone();
        if header.is_bound() {
            header.status = stored.cloned();
        }
        [(REPORT_ANNOTATION.to_owned(), header.json())].into()
    }
}

fn label(key: &str, deployment: &DeploymentId) -> BTreeMap<String, String> {
    [(key.to_owned(), deployment.to_string())].into()
}

/// The header of a report with these losses.
fn header(report: &Report, mut left_out: LeftOut, further: &[BundlePart]) -> Header {
    let mut header = Header::of(Stated::default());
    let mut omitted = header.reject(&report.rejected);
    omitted.extend(header.reject(&left_out.rejected));
    for gvk in omitted {
        left_out.note_rejected(&gvk);
    }
    header.coverage = Stated::of(&left_out.limit(&report.coverage));
    header.add_hooks(report);
    header.parts = further.iter().map(entry).collect();
    header
}

fn entry(part: &BundlePart) -> PartEntry {
    PartEntry {
        name: part.name.clone(),
        items: part.items,
        status: status_digest(&part.status),
    }
}

/// The further objects with these pieces.
fn further(
    deployment: &DeploymentId,
    pieces: &[Piece<'_>],
    format: &BundleFormat,
    left_out: &mut LeftOut,
) -> Vec<BundlePart> {
    let mut chunks: Vec<Vec<&Piece<'_>>> = Vec::new();
    let mut space = 0;
    for piece in pieces {
        let bytes = piece.entry_bytes();
        if bytes > space {
            if chunks.len() == PARTS_MAX {
                left_out.note_object(piece.object);
                continue;
            }
            chunks.push(Vec::new());
            space = format.bytes_max.saturating_sub(status::FRAME_BYTES);
        }
        space = space.saturating_sub(bytes);
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(piece);
        }
    }
    let parts = chunks.iter().map(|chunk| {
        let status = status::further(chunk);
        BundlePart {
            name: further_name(&deployment.to_string(), &status_digest(&status)),
            labels: label(PART_LABEL, deployment),
            annotations: BTreeMap::new(),
            status,
            items: chunk.len(),
        }
    });
    parts.collect()
}

/// The name of a further object, which ends with digits of a digest.
fn further_name(deployment: &str, digest: &Digest) -> String {
    let digits = digest.as_str().rsplit(':').next().unwrap_or_default();
    let digits = digits.get(..NAME_DIGITS).unwrap_or(digits);
    format!("{deployment}-{digits}")
}

#[cfg(test)]
mod tests;
