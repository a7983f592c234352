//! Manifests, indexes and descriptors of the OCI image specification, reduced to the members that
//! this crate uses. Other members of a manifest are ignored.

use std::collections::BTreeMap;

use kindsight_model::Digest;
use serde::{Deserialize, Serialize};

/// Media type of a manifest.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media type of an index of manifests.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Media types of docker for the same two documents. Old registries answer with them.
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
/// Media type of an empty config.
pub(crate) const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// Value of `Accept` for a request for a manifest.
pub(crate) const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json";

/// Annotation of an index entry: the tag.
pub(crate) const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// Annotations of a descriptor or a manifest.
pub(crate) type AnnotationMap = BTreeMap<String, String>;

/// A reference to a blob or a manifest by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    pub(crate) media_type: String,
    pub(crate) digest: Digest,
    /// Size in bytes.
    pub(crate) size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: AnnotationMap,
}

impl Descriptor {
    /// The descriptor of these bytes.
    pub(crate) fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: Digest::of(bytes),
            size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            artifact_type: None,
            annotations: AnnotationMap::new(),
        }
    }

    /// The same descriptor with an annotation.
    pub(crate) fn with(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.to_owned(), value.to_owned());
        self
    }
}

/// A manifest of one artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) schema_version: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    pub(crate) config: Descriptor,
    #[serde(default)]
    pub(crate) layers: Vec<Descriptor>,
    /// The manifest that this one refers to, such as the artifact that it signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: AnnotationMap,
}

impl Manifest {
    /// A manifest without annotations.
    pub(crate) fn new(config: Descriptor, layers: Vec<Descriptor>) -> Self {
        Self {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: None,
            config,
            layers,
            subject: None,
            annotations: AnnotationMap::new(),
        }
    }
}

/// A list of manifests: the index of a layout folder, the referrers of a manifest, or a manifest
/// for several platforms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Index {
    pub(crate) schema_version: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    #[serde(default)]
    pub(crate) manifests: Vec<Descriptor>,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            schema_version: 2,
            media_type: Some(INDEX.to_owned()),
            manifests: Vec::new(),
        }
    }
}

/// The bytes of a manifest or an index, as they were received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// The media type that the document or its source names.
    pub(crate) media_type: String,
    /// The digest of the bytes.
    pub(crate) digest: Digest,
    pub(crate) bytes: Vec<u8>,
}

/// The member of a document that names its own media type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnMediaType {
    media_type: Option<String>,
    manifests: Option<serde::de::IgnoredAny>,
}

impl Document {
    /// A document that was received with this media type. The document's own media type counts
    /// first, because some registries answer with a general one.
    pub(crate) fn new(media_type: &str, bytes: Vec<u8>) -> Self {
        let own = serde_json::from_slice::<OwnMediaType>(&bytes).ok();
        let is_index = own.as_ref().is_some_and(|own| own.manifests.is_some());
        let known = if is_index { INDEX } else { MANIFEST };
        let media_type = match own.and_then(|own| own.media_type) {
            Some(own) => own,
            None if media_type.contains("vnd.") => media_type.to_owned(),
            None => known.to_owned(),
        };
        Self {
            media_type,
            digest: Digest::of(&bytes),
            bytes,
        }
    }

    /// Returns whether it is an index of manifests.
    pub(crate) fn is_index(&self) -> bool {
        self.media_type == INDEX || self.media_type == DOCKER_INDEX
    }

    /// Returns whether it is a manifest.
    pub(crate) fn is_manifest(&self) -> bool {
        self.media_type == MANIFEST || self.media_type == DOCKER_MANIFEST
    }

    /// The descriptor of the document.
    pub(crate) fn descriptor(&self) -> Descriptor {
        Descriptor::of(&self.media_type, &self.bytes)
    }
}
