//! The size of everything that a cluster has in memory, and the limits on it.

use kindsight_api::push::PushRefusal;
use kindsight_model::{
    Claims, Gvk, Identity, MissingResource, Object, ObjectError, Owner, Rejected, Removal,
};

/// Maximum number of objects of one pushed cluster, with related and missing objects.
pub const CLUSTER_OBJECTS_MAX: usize = 200_000;
/// Maximum size of the objects of one pushed cluster, in bytes: their JSON, and the texts about them. An object whose labels
/// and owners take more memory than its JSON counts with these.
pub const CLUSTER_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Memory of a text without its letters, in bytes, as estimated.
const TEXT_BYTES: usize = 48;

/// Number and bytes of the objects of a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) objects: usize,
    pub(super) bytes: usize,
}

impl Size {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            bytes: self.bytes + other.bytes,
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            objects: self.objects.saturating_sub(other.objects),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// Refuses a cluster that is over a limit.
    pub(super) fn check(self) -> Result<(), PushRefusal> {
        if self.objects > CLUSTER_OBJECTS_MAX {
            let why = format!(
                "the report on the cluster has more than {CLUSTER_OBJECTS_MAX} objects; report fewer namespaces or Kinds"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        if self.bytes > CLUSTER_BYTES_MAX {
            let why = format!(
                "the objects of the cluster have more than {CLUSTER_BYTES_MAX} bytes; report fewer namespaces or Kinds"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        Ok(())
    }
}

/// Bytes of these texts.
pub(super) fn bytes_of_texts(texts: impl IntoIterator<Item: AsRef<str>>) -> usize {
    let bytes = texts.into_iter().map(|text| text.as_ref().len());
    bytes.map(|bytes| TEXT_BYTES + bytes).sum()
}

/// Bytes of an object: of its JSON, or of its labels and owners if they take more memory. A label of eight bytes of JSON
/// takes a hundred bytes.
pub(super) fn bytes_of_object(object: &Object) -> usize {
    let labels = object.labels.iter();
    let labels = labels.map(|(key, value)| bytes_of_texts([&**key, &**value]));
    let owners = object.owners.iter();
    let owners = owners.map(|Owner { kind, name, uid }| bytes_of_texts([&**kind, &**name, &**uid]));
    object.json.len().max(labels.chain(owners).sum())
}

/// Bytes of the texts of an object that cannot be read.
pub(super) fn bytes_of_rejected(rejected: &Rejected) -> usize {
    let why = match &rejected.error {
        ObjectError::NotAnObject(why) | ObjectError::NotReported(why) => why.as_str(),
        ObjectError::TooLarge(_) | ObjectError::NoKind | ObjectError::TooMany(_) => "",
    };
    let identity = rejected.identity.as_ref().map_or(0, |identity| {
        bytes_of_gvk(&identity.gvk) + bytes_of_texts([&*identity.namespace, &*identity.name])
    });
    bytes_of_texts([rejected.pointer.as_str(), why]) + identity
}

/// Bytes of the texts of the claims on an object.
pub(super) fn bytes_of_claims(claims: &Claims) -> usize {
    let others = claims.others.iter();
    let others = others.map(|other| bytes_of_texts([&*other.application, &*other.evidence]));
    bytes_of_texts([&*claims.evidence]) + others.sum::<usize>()
}

/// Bytes of the texts of a missing resource.
pub(super) fn bytes_of_missing(missing: &MissingResource) -> usize {
    let texts = [&*missing.namespace, &*missing.name, &*missing.inventory];
    bytes_of_gvk(&missing.gvk) + bytes_of_texts(texts)
}

/// Bytes of the texts of removed objects.
pub(super) fn bytes_of_removed(removed: &[(Identity, Removal)]) -> usize {
    let removed = removed.iter().map(|(identity, _)| {
        let Identity {
            group,
            kind,
            namespace,
            name,
        } = identity;
        bytes_of_texts([&**group, &**kind, &**namespace, &**name])
    });
    removed.sum()
}

fn bytes_of_gvk(gvk: &Gvk) -> usize {
    bytes_of_texts([&*gvk.group, &*gvk.version, &*gvk.kind])
}
