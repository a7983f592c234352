//! Kubernetes objects as clusters report them: identity, and the JSON without the content of Secrets.

mod manifest_spec;
mod parsed;
mod restarts;
mod scale_target;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use kindsight_contract::{Node, ReadError, Relative, Tree};
use serde_json::json;

use crate::redact::redacted;
use crate::texts::Texts;
use crate::{BUNDLE_ITEMS_MAX, Gvk};
use parsed::Parsed;
pub use parsed::{PARSED_BYTES_MAX, set_tree_budget, text_bytes, tree_budget, tree_bytes};
use restarts::most_restarts;
pub use scale_target::ScaleTarget;

/// Maximum size of an object, in bytes of JSON. etcd's own limit on a request is 1.5 MiB.
pub const OBJECT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A Kubernetes object: its identity, and its JSON, unchanged except for the content of Secrets.
///
/// The constructor removes the content of Secrets: from `data` and `stringData`, from embedded Secrets and
/// from annotations. The names of keys remain; each value becomes `REDACTED`. So an interpreter, a log, an
/// answer or a store can never reveal the content.
///
/// The JSON is kept as text, because each reader needs a different part: an interpreter needs a few fields,
/// `output=detail` needs all of it. The constructor parses it completely (at most 127 levels deep, numbers in
/// range, [`TREE_NODES_MAX`](kindsight_contract::TREE_NODES_MAX) values), so later readers cannot fail. The
/// readers share the parsed tree.
///
/// Cheap to clone: clones share the fields and the tree.
#[derive(Debug, Clone)]
pub struct Object {
    fields: Arc<ObjectFields>,
    parsed: Parsed,
}

/// Fields of an [`Object`], which dereferences to them. A change to one object does not affect its clones.
#[derive(Debug, Clone)]
pub struct ObjectFields {
    /// Group, version and Kind; the Kind is never empty.
    pub gvk: Gvk,
    /// `metadata.namespace`; empty if the object is cluster-scoped, or the reporter omitted it.
    pub namespace: Arc<str>,
    /// `metadata.name`; empty if the reporter omitted it.
    pub name: Arc<str>,
    /// `metadata.uid`; empty if the reporter omitted it.
    pub uid: Arc<str>,
    /// Its owners, from `metadata.ownerReferences`.
    pub owners: Arc<[Owner]>,
    /// Its labels, from `metadata.labels`, without values that are not strings.
    pub labels: Arc<[(Arc<str>, Arc<str>)]>,
    /// The complete object as JSON text, without the content of Secrets.
    pub json: Arc<str>,
    /// True if the JSON has `apiVersion` and `kind`. An item of a list of one Kind may omit them.
    pub names_itself: bool,
    /// True if the spec in the JSON is the one of the first report and may be outdated: some monitors update only the
    /// status of an item.
    pub has_old_spec: bool,
    /// `restartCount` of the container that restarted most; 0 for an object without statuses of containers.
    pub restarts: u32,
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

/// The reason why a JSON value was not read as a Kubernetes object.
///
/// Messages never quote the input, because it may be a Secret.
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
    /// This item and all later ones, in total this number, exceed [`BUNDLE_ITEMS_MAX`].
    #[error("{0} items are over the limit of {BUNDLE_ITEMS_MAX} items in a bundle")]
    TooMany(usize),
    /// The monitor did not put the object into its report; holds the reason of the monitor.
    #[error("{0}")]
    NotReported(String),
}

impl Object {
    /// Reads an object with its own `kind`.
    ///
    /// A metadata field of the wrong type counts as missing. The last of duplicate members counts. An
    /// `apiVersion` with more than one `/` is split at the last one; no interpreter can claim such a group.
    ///
    /// # Errors
    /// Too large, not a JSON object, or without a `kind`.
    pub fn from_json(json: impl Into<Arc<str>>) -> Result<Self, ObjectError> {
        Self::read(json.into(), None, &mut Texts::alone()).map(|(object, _)| object)
    }

    /// Reads an item of a list of one Kind, which may omit its Kind.
    ///
    /// The object's own `apiVersion` and `kind` take precedence over `default`.
    ///
    /// # Errors
    /// Too large, not a JSON object, or neither the object nor `default` has a Kind.
    pub fn from_json_as(json: impl Into<Arc<str>>, default: &Gvk) -> Result<Self, ObjectError> {
        Self::read(json.into(), Some(default), &mut Texts::alone()).map(|(object, _)| object)
    }

    /// Reads an object like [`Self::from_json_as`], whose texts are shared with other objects.
    ///
    /// # Errors
    /// As [`Self::from_json_as`].
    pub fn from_json_sharing(
        json: impl Into<Arc<str>>,
        default: &Gvk,
        texts: &mut Texts,
    ) -> Result<Self, ObjectError> {
        Self::read(json.into(), Some(default), texts).map(|(object, _)| object)
    }

    /// An object without content, for an object that was not read. Returns `None` if the Kind is empty, or if the
    /// names exceed [`OBJECT_BYTES_MAX`].
    pub fn of_identity(gvk: &Gvk, namespace: &str, name: &str) -> Option<Self> {
        let json = json!({
            "apiVersion": gvk.api_version(),
            "kind": gvk.kind,
            "metadata": {"namespace": namespace, "name": name},
        });
        Self::from_json_as(json.to_string(), gvk).ok()
    }

    /// Returns whether both have the same content. Clones cost one comparison of pointers.
    pub fn is_unchanged(&self, before: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.fields, &before.fields);
        is_same || self.json == before.json && self.gvk == before.gvk
    }

    /// Returns whether both are versions of one object with the same labels and owners.
    pub fn is_same_relative(&self, before: &Self) -> bool {
        self.gvk == before.gvk
            && self.namespace == before.namespace
            && self.name == before.name
            && self.uid == before.uid
            && self.labels == before.labels
            && self.owners == before.owners
    }

    /// The parsed JSON. The trees of all objects share a budget, see [`set_tree_budget`]: an object whose tree was
    /// dropped is parsed again.
    ///
    /// Use [`Tree::document`] with [`ObjectFields::json`] to read it.
    pub fn tree(&self) -> Arc<Tree> {
        self.parsed.tree(&self.json)
    }

    /// `metadata.generation`, which grows with each change of the spec; none if the object has none.
    pub fn generation(&self) -> Option<i64> {
        let tree = self.tree();
        let document = tree.document(&self.json);
        document.root().get("metadata").get("generation").integer()
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

    /// Like [`Object::read`], for JSON with its parsed tree. The JSON must be an object within the size
    /// limit.
    pub(crate) fn read_tree(
        json: Arc<str>,
        tree: Tree,
        default: Option<&Gvk>,
        texts: &mut Texts,
    ) -> Result<(Self, bool), ObjectError> {
        match manifest_spec::without_marks(&json, &tree) {
            None => Self::assemble(json, tree, default, texts),
            Some(unmarked) => {
                let tree = Tree::read(&unmarked)?;
                Self::assemble(unmarked.into(), tree, default, texts)
            }
        }
    }

    fn assemble(
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
        if let Some(redacted) = redacted
            .as_ref()
            .filter(|text| text.len() > OBJECT_BYTES_MAX)
        {
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
            restarts: most_restarts(document.root()),
            json,
            has_old_spec: false,
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
            parsed: Parsed::of(tree, fields.json.len()),
            fields: Arc::new(fields),
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

/// Namespace and name of a rejected object; empty if it has none.
pub(crate) fn identity(json: &str) -> (String, String) {
    let tree = Tree::read(json).unwrap_or_default();
    let document = tree.document(json);
    let head = Head::of(document.root());
    let text = |member: &str| head.metadata.get(member).text_or_empty().to_owned();
    (text("namespace"), text("name"))
}

/// The members that every object is read for.
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

    /// The labels, in the order of their keys. The last of duplicate keys counts.
    fn labels(&self, texts: &mut Texts) -> Arc<[(Arc<str>, Arc<str>)]> {
        // A search among all labels for each key would take minutes for the largest objects.
        let mut last = BTreeMap::new();
        for (key, value) in self.metadata.get("labels").members() {
            last.insert(key, value.text());
        }
        let last = last
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        last.map(|(key, value)| (texts.share(key), texts.share(value)))
            .collect()
    }

    /// The owners; an entry without name and uid matches no object.
    fn owners(&self, texts: &mut Texts) -> Arc<[Owner]> {
        let owners = self.metadata.get("ownerReferences").items();
        let owners = owners.map(|owner| {
            let text = |member: &str| owner.get(member).text_or_empty();
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
