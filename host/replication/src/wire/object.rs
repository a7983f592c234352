//! Objects on the wire: their text, which has no content of Secrets, and the parts that the text does not show.

use std::sync::Arc;

use kindsight_model::{Gvk, Object, ObjectError, Texts};
use serde::{Deserialize, Serialize};

/// An object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct WireObject {
    /// The JSON, verbatim.
    json: Arc<str>,
    /// Its Kind, if it differs from the Kind of its row.
    #[serde(rename = "GVK", default, skip_serializing_if = "Option::is_none")]
    gvk: Option<Gvk>,
    /// True if the JSON names no Kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    nameless: bool,
    /// True if the spec may be outdated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    old_spec: bool,
}

impl WireObject {
    /// The form on the wire of an object in a row of a Kind.
    pub(crate) fn of(object: &Object, row: &Gvk) -> Self {
        Self {
            json: Arc::clone(&object.json),
            gvk: Some(&object.gvk).filter(|gvk| *gvk != row).cloned(),
            nameless: !object.names_itself,
            old_spec: object.has_old_spec,
        }
    }

    /// The object. Its constructor removes the content of Secrets again, so a faulty upstream host cannot add any.
    pub(crate) fn read(self, row: &Gvk, texts: &mut Texts) -> Result<Object, ObjectError> {
        let gvk = self.gvk.as_ref().unwrap_or(row);
        let mut object = Object::from_json_sharing(self.json, gvk, texts)?;
        if object.has_old_spec != self.old_spec {
            object.has_old_spec = self.old_spec;
        }
        if object.names_itself == self.nameless {
            object.names_itself = !self.nameless;
        }
        Ok(object)
    }
}
