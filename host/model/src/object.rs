//! Kubernetes objects as clusters report them: identity, and the JSON without the content of Secrets.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use kindsight_contract::{Node, ReadError, Relative, Tree, is_owned};

use crate::redact::redacted;
use crate::texts::Texts;
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
/// `output=detail` all of it. It is read in full on construction (at most 127 levels deep, numbers in
/// range, [`TREE_NODES_MAX`](kindsight_contract::TREE_NODES_MAX) values), so that no later reader fails on
/// it; its first readers share that tree.
///
/// Cheap to clone, and small: clones share all but the tree.
#[derive(Debug, Clone)]
pub struct Object {
    fields: Arc<ObjectFields>,
    /// The JSON as it was read, until [`Object::settle`].
    tree: Option<Arc<Tree>>,
}

/// Fields of an [`Object`], which reads as these. A change of one is not seen by its clones.
#[derive(Debug, Clone)]
pub struct ObjectFields {
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
    /// Its labels, from `metadata.labels`; values that are not strings are left out.
    pub labels: Arc<[(Arc<str>, Arc<str>)]>,
    /// The whole object as JSON text, without the content of Secrets.
    pub json: Arc<str>,
    /// True if the JSON has `apiVersion` and `kind`, which an item of a list of one Kind may leave out.
    pub names_itself: bool,
}

impl Deref for Object {
    type Target = ObjectFields;

    fn deref(&self) -> &ObjectFields {
        &self.fields
    }
}

impl DerefMut for Object {
    fn deref_mut(&mut self) -> &mut ObjectFields {
        Arc::make_mut(&mut self.fields)
    }
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
        Self::read(json.into(), None, &mut Texts::alone()).map(|(object, _)| object)
    }

    /// Reads an object that may leave out its Kind, because it is an item of a list of one Kind.
    ///
    /// The object's own `apiVersion` and `kind` take precedence over `default`.
    ///
    /// # Errors
    /// Too large, not a JSON object, or neither the object nor `default` has a Kind.
    pub fn from_json_as(json: impl Into<Arc<str>>, default: &Gvk) -> Result<Self, ObjectError> {
        Self::read(json.into(), Some(default), &mut Texts::alone()).map(|(object, _)| object)
    }

    /// Returns whether `other` is an owner of this object: by uid where both sides have one, else by Kind
    /// and name in the same namespace.
    pub fn is_owned_by(&self, other: &Self) -> bool {
        is_owned(self, other)
    }

    /// The JSON as a tree: the one it was made with, or else read anew.
    ///
    /// Read by [`Tree::document`] with [`ObjectFields::json`] as its text.
    pub fn tree(&self) -> Arc<Tree> {
        let read = || Tree::read(&self.json).map_or_else(|_| Arc::default(), Arc::new);
        self.tree.as_ref().map_or_else(read, Arc::clone)
    }

    /// Lets go of the tree that it was made with, which takes as much memory as its JSON: once its batch
    /// is judged.
    pub fn settle(&mut self) {
        self.tree = None;
    }

    /// Bytes of the tree that it holds.
    pub(crate) fn tree_bytes(&self) -> usize {
        self.tree.as_ref().map_or(0, |tree| tree.bytes())
    }

    /// The value of one label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let mut labels = self.labels.iter();
        labels
            .find(|(name, _)| **name == *key)
            .map(|(_, value)| &**value)
    }

    /// Reads an object, and returns whether content of a Secret was removed from it.
    pub(crate) fn read(
        json: Arc<str>,
        default: Option<&Gvk>,
        texts: &mut Texts,
    ) -> Result<(Self, bool), ObjectError> {
        if json.len() > OBJECT_BYTES_MAX {
            return Err(ObjectError::TooLarge(json.len()));
        }
        if !json.trim_start().starts_with('{') {
            return Err(ObjectError::NotAnObject(NO_BRACE.to_owned()));
        }
        let tree = Tree::read(&json)?;
        Self::read_tree(json, tree, default, texts)
    }

    /// As [`Object::read`], of JSON whose tree this is, and which is an object below the limit.
    pub(crate) fn read_tree(
        json: Arc<str>,
        tree: Tree,
        default: Option<&Gvk>,
        texts: &mut Texts,
    ) -> Result<(Self, bool), ObjectError> {
        let document = tree.document(&json);
        let head = Head::of(document.root());
        let gvk = head.gvk(default, texts)?;
        let redacted = redacted(&json, gvk.is_secret()).map_err(|_| {
            ObjectError::NotAnObject("it cannot be searched for Secrets".to_owned())
        })?;
        if let Some(redacted) = redacted.as_ref().filter(|it| it.len() > OBJECT_BYTES_MAX) {
            return Err(ObjectError::TooLarge(redacted.len()));
        }
        let mut fields = ObjectFields {
            gvk,
            names_itself: !head.api_version.is_empty() && !head.kind.is_empty(),
            namespace: texts.share(head.text("namespace")),
            name: head.text("name").into(),
            uid: head.text("uid").into(),
            owners: head.owners(texts),
            labels: head.labels(texts),
            json,
        };
        let is_redacted = redacted.is_some();
        let tree = match redacted {
            Some(redacted) => {
                fields.json = redacted.into();
                Tree::read(&fields.json)?
            }
            None => tree,
        };
        let object = Self {
            fields: Arc::new(fields),
            tree: Some(Arc::new(tree)),
        };
        Ok((object, is_redacted))
    }
}

impl Relative for Object {
    fn gvk(&self) -> (&str, &str, &str) {
        (&self.gvk.group, &self.gvk.version, &self.gvk.kind)
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn owners(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let owners = self.owners.iter();
        owners.map(|Owner { kind, name, uid }| (&**kind, &**name, &**uid))
    }

    fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(key, value)| (&**key, &**value))
    }
}

impl From<ReadError> for ObjectError {
    fn from(error: ReadError) -> Self {
        Self::NotAnObject(error.to_string())
    }
}

pub(crate) const NO_BRACE: &str = "it does not start with `{`";

/// Namespace and name of an object that is not read any further; empty where it names none.
pub(crate) fn identity(json: &str) -> (String, String) {
    let tree = Tree::read(json).unwrap_or_default();
    let document = tree.document(json);
    let head = Head::of(document.root());
    let text = |member: &str| head.metadata.get(member).text_or_empty().to_owned();
    (text("namespace"), text("name"))
}

/// The members that are read of every object.
struct Head<'t> {
    api_version: &'t str,
    kind: &'t str,
    metadata: Node<'t>,
}

impl<'t> Head<'t> {
    fn of(root: Node<'t>) -> Self {
        Self {
            api_version: root.get("apiVersion").text_or_empty(),
            kind: root.get("kind").text_or_empty(),
            metadata: root.get("metadata"),
        }
    }

    fn gvk(&self, default: Option<&Gvk>, texts: &mut Texts) -> Result<Gvk, ObjectError> {
        let (group, version) = match self.api_version {
            "" => default.map_or(("", ""), |gvk| (&gvk.group, &gvk.version)),
            own => own.rsplit_once('/').unwrap_or(("", own)),
        };
        let kind = match self.kind {
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
            .unwrap_or_else(|| texts.gvk(group, version, kind)))
    }

    fn text(&self, member: &str) -> &'t str {
        self.metadata.get(member).text_or_empty()
    }

    /// The labels; of those of one key the last one.
    fn labels(&self, texts: &mut Texts) -> Arc<[(Arc<str>, Arc<str>)]> {
        let labels = self.metadata.get("labels");
        let is_last = |key: &str, value: Node<'_>| labels.get(key).is_same_node(value);
        let last = labels.members().filter(|(key, value)| is_last(key, *value));
        let last = last.filter_map(|(key, value)| Some((key, value.text()?)));
        last.map(|(key, value)| (texts.share(key), texts.share(value)))
            .collect()
    }

    /// The owners; an entry without name and uid matches no object.
    fn owners(&self, texts: &mut Texts) -> Arc<[Owner]> {
        let owners = self.metadata.get("ownerReferences").items();
        let owners = owners.map(|it| {
            let text = |member: &str| it.get(member).text_or_empty();
            (text("kind"), text("name"), text("uid"))
        });
        let owners = owners.filter(|(_, name, uid)| !(name.is_empty() && uid.is_empty()));
        let owners = owners.map(|(kind, name, uid)| Owner {
            kind: texts.share(kind),
            name: texts.share(name),
            uid: texts.share(uid),
        });
        owners.collect()
    }
}

#[cfg(test)]
mod tests;
