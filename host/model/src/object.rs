//! Kubernetes objects as clusters report them: identity, and the JSON without the content of Secrets.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess};

use crate::labels::Labelled;
use crate::lenient::{self, Lenient, Read, Text};
use crate::redact::redacted;
use crate::{BUNDLE_ITEMS_MAX, Gvk};

/// Maximum size of an object, in bytes of JSON. etcd's own limit on a request is 1.5 MiB.
pub const OBJECT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A Kubernetes object: its identity, and its JSON, unchanged but for the content of Secrets.
///
/// The content of a Secret is removed when the object is made, in its own `data` and `stringData`, in
/// objects that embed it and in annotations: the names of keys stay, each value is `REDACTED`. So nobody
/// who holds an object can show it: no interpreter, log or answer, and no store.
///
/// The JSON is kept as text, because each reader needs another part of it: an interpreter a few fields,
/// `output=detail` all of it. It is validated in full on construction (at most 127 levels deep, numbers in
/// range), so that no later reader fails on it.
#[derive(Debug, Clone)]
pub struct Object {
    /// Group, version and Kind; the Kind is never empty.
    pub gvk: Gvk,
    /// `metadata.namespace`; empty if cluster-scoped, or where the reporter left it out.
    pub namespace: Arc<str>,
    /// `metadata.name`; may be empty where the reporter left it out.
    pub name: Arc<str>,
    /// `metadata.uid`; empty where the reporter left it out.
    pub uid: Arc<str>,
    /// Its owners, from `metadata.ownerReferences`.
    pub owners: Arc<[Owner]>,
    /// The whole object as JSON text, without the content of Secrets.
    pub json: Arc<str>,
    /// True if the JSON has `apiVersion` and `kind`, which an item of a list of one Kind may leave out.
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

/// The reason why a piece of JSON is not a Kubernetes object, or was not read.
///
/// No message repeats the input, because it may be a Secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Not JSON, or not an object; holds the reason.
    #[error("not a Kubernetes object: {0}")]
    NotAnObject(String),
    /// Over [`OBJECT_BYTES_MAX`].
    #[error("object of {0} bytes is over the limit of {OBJECT_BYTES_MAX} bytes")]
    TooLarge(usize),
    /// `kind` is missing or empty, and there is no default.
    #[error("not a Kubernetes object: it has no `kind`")]
    NoKind,
    /// This number of items, from this one on, is over [`BUNDLE_ITEMS_MAX`].
    #[error("{0} items are over the limit of {BUNDLE_ITEMS_MAX} items in a bundle")]
    TooMany(usize),
}

impl Object {
    /// Reads an object with its own `kind`.
    ///
    /// A metadata field of the wrong type counts as missing; of a duplicate member the last one counts. An
    /// `apiVersion` with more than one `/` is split at the last: no interpreter can claim such a group.
    ///
    /// # Errors
    /// Too large, not a JSON object, or without a `kind`.
    pub fn from_json(json: impl Into<Arc<str>>) -> Result<Self, ObjectError> {
        Self::read(&json.into(), None).map(|(object, _)| object)
    }

    /// Reads an object that may leave out its Kind, because it is an item of a list of one Kind.
    ///
    /// The object's own `apiVersion` and `kind` take precedence over `default`.
    ///
    /// # Errors
    /// Too large, not a JSON object, or neither the object nor `default` has a Kind.
    pub fn from_json_as(json: impl Into<Arc<str>>, default: &Gvk) -> Result<Self, ObjectError> {
        Self::read(&json.into(), Some(default)).map(|(object, _)| object)
    }

    /// Returns whether `other` is an owner of this object: by uid where both sides have one, else by Kind
    /// and name in the same namespace.
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

    /// The labels, parsed from the JSON on every call; values that are not strings are left out.
    pub fn labels(&self) -> BTreeMap<String, String> {
        lenient::read::<Labelled>(&self.json)
            .map(|labelled| labelled.metadata.labels.0)
            .unwrap_or_default()
    }

    /// The value of one label; see [`Object::labels`].
    pub fn label(&self, key: &str) -> Option<String> {
        self.labels().remove(key)
    }

    /// Reads an object, and returns whether content of a Secret was removed from it.
    pub(crate) fn read(
        json: &Arc<str>,
        default: Option<&Gvk>,
    ) -> Result<(Self, bool), ObjectError> {
        if json.len() > OBJECT_BYTES_MAX {
            return Err(ObjectError::TooLarge(json.len()));
        }
        let head: Head<'_> = read_object(json).map_err(ObjectError::NotAnObject)?;
        let gvk = head.gvk(default)?;
        let redacted = redacted(json, gvk.is_secret()).map_err(|_| {
            ObjectError::NotAnObject("it cannot be searched for Secrets".to_owned())
        })?;
        if let Some(redacted) = redacted.as_ref().filter(|it| it.len() > OBJECT_BYTES_MAX) {
            return Err(ObjectError::TooLarge(redacted.len()));
        }
        let is_redacted = redacted.is_some();
        let object = Self {
            gvk,
            names_itself: !head.api_version.0.is_empty() && !head.kind.0.is_empty(),
            namespace: head.metadata.namespace.0.into(),
            name: head.metadata.name.0.into(),
            uid: head.metadata.uid.0.into(),
            owners: head.metadata.owners.0.into(),
            json: redacted.map_or_else(|| Arc::clone(json), Arc::from),
        };
        Ok((object, is_redacted))
    }
}

/// Namespace and name of an object that is not read any further; empty where it names none.
pub(crate) fn identity(json: &str) -> (String, String) {
    let head: Head<'_> = lenient::read(json).unwrap_or_default();
    let Metadata {
        name, namespace, ..
    } = head.metadata;
    (namespace.0.into_owned(), name.0.into_owned())
}

/// Reads a shape out of a JSON object; any other value is an error with the reason.
pub(crate) fn read_object<'de, T: Lenient<'de>>(json: &'de str) -> Result<T, String> {
    if !json.trim_start().starts_with('{') {
        return Err("it does not start with `{`".to_owned());
    }
    lenient::read(json).map_err(|error| error.to_string())
}

/// The members that are read of every object.
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
        // An entry without name and uid matches no object.
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
