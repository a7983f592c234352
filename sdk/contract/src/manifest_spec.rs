//! The marks of an object whose spec is the spec of its manifest.

use crate::Node;

/// The reserved annotation of an object whose reporter omitted the spec. The host then passes the spec of the manifest
/// that was sent, and adds this annotation with the value [`MANIFEST`].
///
/// The API server adds defaults to a manifest. So a rule that finds the annotation must apply the defaults of the API.
/// The host removes this annotation from every object that it reads.
pub const SPEC_SOURCE: &str = "kindsight.dev/spec-source";

/// The JSON pointer of [`SPEC_SOURCE`]. The SDK adds it to the fields of every Kind that requests a field of the spec.
pub const SPEC_SOURCE_POINTER: &str = "/metadata/annotations/kindsight.dev~1spec-source";

/// The value of [`SPEC_SOURCE`].
pub const MANIFEST: &str = "manifest";

/// The reserved annotation of an object with [`SPEC_SOURCE`] whose number of replicas an autoscaler of the application
/// sets. The autoscaler is an object in the report or a manifest that was applied, and its `spec.scaleTargetRef` names
/// the object. The value is the Kind and the name of the autoscaler: `HorizontalPodAutoscaler/front`.
///
/// The host removes this annotation from every object that it reads.
pub const SCALED_BY: &str = "kindsight.dev/scaled-by";

/// The JSON pointer of [`SCALED_BY`]. The SDK adds it to the fields of every Kind that requests `/spec/replicas` or the
/// complete spec.
pub const SCALED_BY_POINTER: &str = "/metadata/annotations/kindsight.dev~1scaled-by";

/// The annotations that only the host may set.
pub const RESERVED_ANNOTATIONS: [&str; 2] = [SPEC_SOURCE, SCALED_BY];

/// Returns whether the spec of an object is the spec of its manifest.
pub fn has_manifest_spec(object: Node<'_>) -> bool {
    let annotations = object.get("metadata").get("annotations");
    annotations.get(SPEC_SOURCE).text() == Some(MANIFEST)
}
