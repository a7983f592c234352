//! Objects without a spec, completed from their manifests.
//!
//! Monitors of the first generation omit the spec of an item. Later ones report the spec, and then update only the
//! status. Interpreters need the spec, so they receive the spec of the manifest that was sent.

use kindsight_contract::{
    MANIFEST, RESERVED_ANNOTATIONS, SCALED_BY, SPEC_SOURCE, Tree, has_manifest_spec,
};
use serde_json::{Map, Value};

use super::{Object, ObjectError};
use crate::texts::Texts;

impl Object {
    /// Reads the object of a fixture. Unlike the objects of clusters and users, it may have the reserved annotations
    /// [`SPEC_SOURCE`] and [`SCALED_BY`]. Called for each fixture when an interpreter is loaded.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn from_fixture(json: &str) -> Result<Self, ObjectError> {
        let object = Self::from_json(json)?;
        let tree = Tree::read(json)?;
        let root = tree.document(json);
        let root = root.root();
        if !has_manifest_spec(root) {
            return Ok(object);
        }
        let spec = object.member("spec");
        let annotations = root.get("metadata").get("annotations");
        let scaled_by = annotations.get(SCALED_BY).text();
        Ok(object.with_spec(spec, scaled_by).unwrap_or(object))
    }

    /// Returns whether the JSON has a spec.
    pub fn has_spec(&self) -> bool {
        self.is_present("spec")
    }

    /// Returns whether the reporter says nothing certain about the spec: it omitted the spec, or may have outdated it.
    pub fn lacks_spec(&self) -> bool {
        self.has_old_spec || !self.has_spec()
    }

    /// Returns whether its spec is the spec of its manifest; see [`Self::with_spec_of`].
    pub fn has_manifest_spec(&self) -> bool {
        let tree = self.tree();
        has_manifest_spec(tree.document(&self.json).root())
    }

    /// The object for interpreters: if it [lacks a spec](Self::lacks_spec), with the spec of this manifest and the
    /// reserved annotation [`SPEC_SOURCE`]. `scaled_by` is the value of [`SCALED_BY`]; none without an autoscaler. An
    /// outdated spec is removed if the manifest has none either. Called once for each changed object.
    #[must_use]
    pub fn with_spec_of(&self, manifest: Option<&Self>, scaled_by: Option<&str>) -> Self {
        if !self.lacks_spec() {
            return self.clone();
        }
        let spec = manifest.and_then(|manifest| manifest.member("spec"));
        if spec.is_none() && !self.has_old_spec {
            return self.clone();
        }
        // Each JSON here was parsed before; an object over the limit stays as it is.
        self.with_spec(spec, scaled_by)
            .unwrap_or_else(|| self.clone())
    }

    fn with_spec(&self, spec: Option<Value>, scaled_by: Option<&str>) -> Option<Self> {
        let mut fields = self.fields_of_json()?;
        fields.remove("spec");
        if let Some(spec) = spec {
            fields.insert("spec".to_owned(), spec);
            let annotations = object_at(object_at(&mut fields, "metadata")?, "annotations")?;
            annotations.insert(SPEC_SOURCE.to_owned(), MANIFEST.into());
            if let Some(autoscaler) = scaled_by {
                annotations.insert(SCALED_BY.to_owned(), autoscaler.into());
            }
        }
        let json = Value::Object(fields).to_string();
        let tree = Tree::read(&json).ok()?;
        let read = Self::assemble(json.into(), tree, Some(&self.gvk), &mut Texts::alone());
        let (mut object, _) = read.ok()?;
        object.names_itself = self.names_itself;
        Some(object)
    }

    /// A member of the object, such as `status`. `None` if it is absent. Parses the text.
    pub fn member(&self, name: &str) -> Option<Value> {
        self.fields_of_json()?.remove(name)
    }

    pub(crate) fn has_generation(&self) -> bool {
        let tree = self.tree();
        let document = tree.document(&self.json);
        let metadata = document.root().get("metadata");
        metadata.get("generation").is_present()
    }

    fn is_present(&self, member: &str) -> bool {
        let tree = self.tree();
        tree.document(&self.json).root().get(member).is_present()
    }

    fn fields_of_json(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(&self.json).ok()
    }
}

/// The member of this name, which becomes an object if it is none.
fn object_at<'m>(
    fields: &'m mut Map<String, Value>,
    name: &str,
) -> Option<&'m mut Map<String, Value>> {
    let member = fields.entry(name).or_insert(Value::Null);
    if !member.is_object() {
        *member = Value::Object(Map::new());
    }
    member.as_object_mut()
}

/// The JSON of an object without the reserved annotations; none if it has none of them. Only the host may set them.
pub(super) fn without_marks(json: &str, tree: &Tree) -> Option<String> {
    let document = tree.document(json);
    let annotations = document.root().get("metadata").get("annotations");
    let mut reserved = RESERVED_ANNOTATIONS.iter();
    if !reserved.any(|key| annotations.get(key).is_present()) {
        return None;
    }
    let mut fields: Map<String, Value> = serde_json::from_str(json).ok()?;
    let metadata = fields.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    annotations.retain(|key, _| !RESERVED_ANNOTATIONS.contains(&key.as_str()));
    Some(Value::Object(fields).to_string())
}
