//! The input of one call.

use std::fmt::Write as _;
use std::sync::Arc;

use kindsight_model::{Gvk, Object};

use crate::bindings::{Input, RelatedObject};
use crate::describe::HandledKind;
use crate::fault::Fault;
use crate::limits::{BUFFER_BYTES_KEPT_MAX, INPUT_BYTES_MAX, RELATED_BYTES_READ_MAX};
use crate::related::Siblings;

/// The input of one call: the trimmed object, then its related objects, in one text that is also
/// the memo's key. At most [`INPUT_BYTES_MAX`] long. Its buffers are reused for the next call.
#[derive(Default)]
pub(crate) struct CallInput {
    text: String,
    /// End of the object's own JSON in `text`.
    object_end: usize,
    related: Vec<Part>,
    truncated: bool,
}

/// One related object; its JSON is a range of [`CallInput::text`].
struct Part {
    object: Object,
    json: std::ops::Range<usize>,
}

impl CallInput {
    /// The whole input as one text, which the memo compares.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The related objects, whole.
    pub(crate) fn related_objects(&self) -> Arc<[Object]> {
        self.related
            .iter()
            .map(|part| part.object.clone())
            .collect()
    }

    /// Lets go of the objects, and of buffers that are larger than usual.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(BUFFER_BYTES_KEPT_MAX);
        self.related.clear();
        self.related
            .shrink_to(BUFFER_BYTES_KEPT_MAX / size_of::<Part>());
    }

    /// Sets an object that is trimmed already, without related objects.
    pub(crate) fn set_trimmed(&mut self, json: &str) {
        self.text.clear();
        self.related.clear();
        self.truncated = false;
        self.text.push_str(json);
        self.object_end = json.len();
    }

    /// Sets an object, trimmed, with its related objects.
    pub(crate) fn fill(
        &mut self,
        handled: &HandledKind,
        object: &Object,
        siblings: &Siblings,
    ) -> Result<(), Fault> {
        self.text.clear();
        self.related.clear();
        self.truncated = false;
        let invalid = |error: serde_json::Error| Fault::InvalidInput(error.to_string());
        handled
            .fields
            .trim(&object.json, &mut self.text)
            .map_err(invalid)?;
        if !object.names_itself {
            append_gvk(&mut self.text, &object.gvk);
        }
        self.object_end = self.text.len();
        let mut bytes_read = 0;
        for rule in &handled.related {
            let (found, truncated) = siblings.find(rule, object);
            self.truncated |= truncated;
            for related in found {
                bytes_read += related.json.len();
                let fits = bytes_read <= RELATED_BYTES_READ_MAX
                    && self.add(&rule.fields, related).map_err(invalid)?;
                if !fits {
                    self.truncated = true;
                    break;
                }
            }
        }
        if self.truncated {
            self.text.push('+');
        }
        Ok(())
    }

    /// Adds a related object. Every part is written with its length, so that no two different
    /// inputs have the same text. Returns false, and adds nothing, where it does not fit.
    fn add(&mut self, fields: &crate::Fields, object: &Object) -> Result<bool, serde_json::Error> {
        let before = self.text.len();
        let Gvk {
            group,
            version,
            kind,
        } = &object.gvk;
        for part in [group, version, kind, &object.namespace, &object.name] {
            // Writing to a String does not fail.
            let _ = write!(self.text, "{}:{part}", part.len());
        }
        let start = self.text.len();
        fields.trim(&object.json, &mut self.text)?;
        if self.text.len() > INPUT_BYTES_MAX {
            self.text.truncate(before);
            return Ok(false);
        }
        self.related.push(Part {
            object: object.clone(),
            json: start..self.text.len(),
        });
        Ok(true)
    }

    pub(crate) fn related(&self) -> Vec<RelatedObject<'_>> {
        let parts = self.related.iter();
        parts
            .map(|part| RelatedObject {
                group: &part.object.gvk.group,
                version: &part.object.gvk.version,
                kind: &part.object.gvk.kind,
                namespace: &part.object.namespace,
                name: &part.object.name,
                object: self.text.get(part.json.clone()).unwrap_or_default(),
            })
            .collect()
    }

    pub(crate) fn input<'p>(
        &'p self,
        related: &'p [RelatedObject<'p>],
        now_ms: i64,
        settings: Option<&'p str>,
    ) -> Input<'p> {
        Input {
            object: self.text.get(..self.object_end).unwrap_or_default(),
            related,
            truncated: self.truncated,
            now_ms,
            settings,
            extras: None,
        }
    }
}

/// Adds `apiVersion` and `kind` to the text of an object; the contract promises them. They come
/// last: of members of one name the last counts.
fn append_gvk(text: &mut String, gvk: &Gvk) {
    text.truncate(text.trim_end().len());
    text.pop();
    let comma = if text.trim() == "{" { "" } else { "," };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (api_version, kind) = (quoted(&gvk.api_version()), quoted(&gvk.kind));
    // Writing to a String does not fail.
    let _ = write!(text, r#"{comma}"apiVersion":{api_version},"kind":{kind}}}"#);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::{RelatedRule, Relation};
    use crate::trim::Fields;
    use kindsight_model::KindPattern;

    /// An object of a Kind that asks for whole objects by eight rules, among reported ones.
    fn filled(related: Vec<Object>) -> CallInput {
        let pattern = KindPattern {
            group: "*".to_owned(),
            version: "*".to_owned(),
            kind: "*".to_owned(),
        };
        let rule = RelatedRule {
            pattern: pattern.clone(),
            relation: Relation::Owned,
            fields: Fields::new(&[""]),
            limit: 256,
        };
        let handled = HandledKind {
            pattern,
            when: None,
            fields: Fields::new(&[""]),
            uses_now: false,
            related: vec![rule; 8],
        };
        let object = r#"{"kind": "Owner", "metadata": {"name": "o", "uid": "u"}}"#;
        let object = Object::from_json(object).expect("an object");
        let mut input = CallInput::default();
        let siblings = Siblings::of(related.into());
        input.fill(&handled, &object, &siblings).expect("JSON");
        input
    }

    fn owned(number: usize, bytes: usize) -> Object {
        let pad = "x".repeat(bytes);
        let json = format!(
            r#"{{"kind": "Owned", "metadata": {{"name": "{number:03}", "ownerReferences": [{{"uid": "u"}}]}}, "pad": "{pad}"}}"#
        );
        Object::from_json(json).expect("an object")
    }

    #[test]
    fn related_objects_that_do_not_fit_are_left_out_and_it_says_so() {
        let mut input = filled((0..200).map(|number| owned(number, 100 * 1024)).collect());
        assert!(input.text().len() <= INPUT_BYTES_MAX + 1);
        let related = input.related();
        assert!((35..42).contains(&related.len()), "{}", related.len());
        assert!(input.input(&related, 0, None).truncated);
        assert_eq!(related[1].name, "001");
        drop(related);
        input.clear();
        assert!(input.text.capacity() <= BUFFER_BYTES_KEPT_MAX);
        assert!(input.related.is_empty(), "no object is held any longer");
        let input = filled((0..3).map(|number| owned(number, 100)).collect());
        assert_eq!(input.related().len(), 24);
        assert!(!input.truncated);
    }

    #[test]
    fn a_missing_version_and_kind_are_added_last() {
        let gvk = Gvk::new("apps", "v1", "Deployment");
        for (json, expected) in [
            ("{}", r#"{"apiVersion":"apps/v1","kind":"Deployment"}"#),
            (
                "{\"kind\":\"\",\"status\":{\"a\":{}} }\n",
                r#"{"kind":"","status":{"a":{}} ,"apiVersion":"apps/v1","kind":"Deployment"}"#,
            ),
        ] {
            let mut text = json.to_owned();
            append_gvk(&mut text, &gvk);
            assert_eq!(text, expected);
        }
    }
}
