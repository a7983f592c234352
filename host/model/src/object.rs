//! One Kubernetes object as a cluster reported it: its identity, and its bytes untouched.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess};

use crate::labels::Labelled;
use crate::lenient::{self, Lenient, Read, Text};
use crate::{BUNDLE_ITEMS_MAX, Gvk};

/// The largest object that is looked at, in bytes of JSON. etcd's own limit on a request is 1.5 MiB.
pub const OBJECT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// An object: who it is, and its JSON as it came.
///
/// The JSON is kept as text, because every reader wants another part of it: an interpreter a few
/// fields, `output=detail` all of it. It was checked in full when the object was made (at most 127
/// levels deep, numbers in range), so that no later reader fails on it.
#[derive(Debug, Clone)]
pub struct Object {
    /// Group, version and Kind; never an empty Kind.
    pub gvk: Gvk,
    /// Empty for what has no namespace, or where the reporter left it out.
    pub namespace: Arc<str>,
    /// `metadata.name`; may be empty where the reporter left it out.
    pub name: Arc<str>,
    /// `metadata.uid`; empty where the reporter left it out.
    pub uid: Arc<str>,
    /// Who owns it.
    pub owners: Arc<[Owner]>,
    /// The whole object as JSON text.
    pub json: Arc<str>,
    /// Whether that text says `apiVersion` and `kind`, which an item of a list of one Kind may leave
    /// out.
    pub names_itself: bool,
}

/// One entry of `metadata.ownerReferences`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The owner's Kind.
    pub kind: Arc<str>,
    /// The owner's name.
    pub name: Arc<str>,
    /// The owner's uid; may be empty.
    pub uid: Arc<str>,
}

/// Why a piece of JSON is not a Kubernetes object, or was not looked at.
///
/// No message repeats what was read, because that may be a Secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Not JSON, or not an object; says what and where.
    #[error("not a Kubernetes object: {0}")]
    NotAnObject(String),
    /// Over [`OBJECT_BYTES_MAX`].
    #[error("object of {0} bytes is over the limit of {OBJECT_BYTES_MAX} bytes")]
    TooLarge(usize),
    /// `kind` is missing or empty and nothing else says what it is.
    #[error("not a Kubernetes object: it has no `kind`")]
    NoKind,
    /// This item of a bundle and so many after it are over [`BUNDLE_ITEMS_MAX`].
    #[error("{0} items are over the limit of {BUNDLE_ITEMS_MAX} items in a bundle")]
    TooMany(usize),
}

impl Object {
    /// Reads an object that says itself what it is.
    ///
    /// A metadata field of the wrong type counts as missing, and of a member that is there twice
    /// the last one counts. An `apiVersion` with more than one `/` is kept whole: all before the
    /// last one is taken for the group, which no interpreter can claim.
    ///
    /// # Errors
    /// Too large, not a JSON object, or without a `kind`.
    pub fn from_json(json: impl Into<Arc<str>>) -> Result<Self, ObjectError> {
        Self::read(&json.into(), None)
    }

    /// Reads an object that may leave out what it is, because it stood in a list of one Kind.
    ///
    /// Of `apiVersion` and `kind`, what the object says itself comes first.
    ///
    /// # Errors
    /// Too large, not a JSON object, or neither the object nor `default` has a Kind.
    pub fn from_json_as(json: impl Into<Arc<str>>, default: &Gvk) -> Result<Self, ObjectError> {
        Self::read(&json.into(), Some(default))
    }

    /// Whether `other` is among this object's owners: by uid where both sides have one, else by
    /// Kind and name in the same namespace.
    pub fn is_owned_by(&self, other: &Self) -> bool {
        self.owners.iter().any(|owner| {
            if owner.uid.is_empty() || other.uid.is_empty() {
                !owner.name.is_empty()
                    && owner.name == other.name
                    && owner.kind == other.gvk.kind
                    && self.namespace == other.namespace
            } else {
                owner.uid == other.uid
            }
        })
    }

    /// The labels, read out of the JSON on every call; what is not a string is left out.
    pub fn labels(&self) -> BTreeMap<String, String> {
        lenient::read::<Labelled>(&self.json)
            .map(|labelled| labelled.metadata.labels.0)
            .unwrap_or_default()
    }

    /// One label; see [`Object::labels`].
    pub fn label(&self, key: &str) -> Option<String> {
        self.labels().remove(key)
    }

    fn read(json: &Arc<str>, default: Option<&Gvk>) -> Result<Self, ObjectError> {
        if json.len() > OBJECT_BYTES_MAX {
            return Err(ObjectError::TooLarge(json.len()));
        }
        let head: Head<'_> = read_object(json).map_err(ObjectError::NotAnObject)?;
        Ok(Self {
            gvk: head.gvk(default)?,
            names_itself: !head.api_version.0.is_empty() && !head.kind.0.is_empty(),
            namespace: head.metadata.namespace.0.into(),
            name: head.metadata.name.0.into(),
            uid: head.metadata.uid.0.into(),
            owners: head.metadata.owners.0.into(),
            json: Arc::clone(json),
        })
    }
}

/// Reads a shape out of a JSON object; anything that is not one is an error, which says why.
pub(crate) fn read_object<'de, T: Lenient<'de>>(json: &'de str) -> Result<T, String> {
    if !json.trim_start().starts_with('{') {
        return Err("it does not start with `{`".to_owned());
    }
    lenient::read(json).map_err(|error| error.to_string())
}

/// What is read of every object.
#[derive(Default)]
struct Head<'de> {
    api_version: Text<'de>,
    kind: Text<'de>,
    metadata: Metadata<'de>,
}

impl Head<'_> {
    fn gvk(&self, default: Option<&Gvk>) -> Result<Gvk, ObjectError> {
        let (group, version) = match self.api_version.0.as_ref() {
            "" => default.map_or(("", ""), |gvk| (&gvk.group, &gvk.version)),
            own => own.rsplit_once('/').unwrap_or(("", own)),
        };
        let kind = match self.kind.0.as_ref() {
            "" => default.map_or("", |gvk| &gvk.kind),
            own => own,
        };
        if kind.is_empty() {
            return Err(ObjectError::NoKind);
        }
        let is_default =
            |gvk: &&Gvk| &*gvk.group == group && &*gvk.version == version && &*gvk.kind == kind;
        Ok(default
            .filter(is_default)
            .cloned()
            .unwrap_or_else(|| Gvk::new(group, version, kind)))
    }
}

impl<'de> Lenient<'de> for Head<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "apiVersion" => self.api_version = lenient::next(map)?,
            "kind" => self.kind = lenient::next(map)?,
            "metadata" => self.metadata = lenient::next(map)?,
            _ => lenient::next(map)?,
        }
        Ok(())
    }
}

#[derive(Default)]
struct Metadata<'de> {
    name: Text<'de>,
    namespace: Text<'de>,
    uid: Text<'de>,
    owners: Owners,
}

impl<'de> Lenient<'de> for Metadata<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "name" => self.name = lenient::next(map)?,
            "namespace" => self.namespace = lenient::next(map)?,
            "uid" => self.uid = lenient::next(map)?,
            "ownerReferences" => self.owners = lenient::next(map)?,
            _ => lenient::next(map)?,
        }
        Ok(())
    }
}

#[derive(Default)]
struct Owners(Vec<Owner>);

impl<'de> Lenient<'de> for Owners {
    fn element<A: SeqAccess<'de>>(&mut self, seq: &mut A) -> Result<bool, A::Error> {
        let Some(Read(OwnerReference { kind, name, uid })) = seq.next_element()? else {
            return Ok(false);
        };
        // An entry that names nobody can match nobody.
        if !(name.0.is_empty() && uid.0.is_empty()) {
            self.0.push(Owner {
                kind: kind.0.into(),
                name: name.0.into(),
                uid: uid.0.into(),
            });
        }
        Ok(true)
    }
}

#[derive(Default)]
struct OwnerReference<'de> {
    kind: Text<'de>,
    name: Text<'de>,
    uid: Text<'de>,
}

impl<'de> Lenient<'de> for OwnerReference<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "kind" => self.kind = lenient::next(map)?,
            "name" => self.name = lenient::next(map)?,
            "uid" => self.uid = lenient::next(map)?,
            _ => lenient::next(map)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
