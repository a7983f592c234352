//! JSON objects split into their members, and written again without some members.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A Kubernetes object, split into its members and the members of its metadata.
#[derive(Debug)]
pub(super) struct ObjectText<'j> {
    /// The text of the object.
    pub(super) json: &'j str,
    /// `None` if the text is no JSON object.
    pub(super) members: Option<Members<'j>>,
    /// `None` if the object has no metadata, or they are no JSON object.
    pub(super) metadata: Option<Members<'j>>,
}

impl<'j> ObjectText<'j> {
    /// Splits a text, which may be any JSON value.
    pub(super) fn of(json: &'j str) -> Self {
        let members: Option<Members<'j>> = serde_json::from_str(json).ok();
        let metadata = members.as_ref().and_then(|members| members.get("metadata"));
        Self {
            json,
            metadata: metadata.and_then(|metadata| serde_json::from_str(metadata).ok()),
            members,
        }
    }

    /// The version of the object; empty if it has none.
    pub(super) fn resource_version(&self) -> String {
        let metadata = self.metadata.as_ref();
        let version = metadata.and_then(|metadata| metadata.get("resourceVersion"));
        let version = version.and_then(|version| serde_json::from_str(version).ok());
        version.unwrap_or_default()
    }
}

/// The members of a JSON object in their order, with the text of each value.
#[derive(Debug, Default)]
pub(super) struct Members<'j>(Vec<(Cow<'j, str>, &'j RawValue)>);

impl<'j> Members<'j> {
    /// The text of a member; the last one if the key is repeated.
    pub(super) fn get(&self, key: &str) -> Option<&'j str> {
        let mut members = self.0.iter().rev();
        members
            .find(|(name, _)| name == key)
            .map(|(_, name)| name.get())
    }

    /// The object with each value replaced by the result of `change`. A member is omitted if the result is none.
    pub(super) fn written<'t>(
        &'t self,
        change: impl Fn(&str, &'t str) -> Option<Cow<'t, str>>,
    ) -> String {
        let mut json = String::from("{");
        for (key, value) in &self.0 {
            let Some(value) = change(key, value.get()) else {
                continue;
            };
            if json.len() > 1 {
                json.push(',');
            }
            match key {
                // It has no escapes.
                Cow::Borrowed(key) => json.extend(["\"", key, "\""]),
                Cow::Owned(key) => json.push_str(&serde_json::Value::from(&**key).to_string()),
            }
            json.push(':');
            json.push_str(&value);
        }
        json.push('}');
        json
    }
}

/// A JSON object without one member. Any other text is returned unchanged.
pub(super) fn without(json: &str, member: &str) -> String {
    match serde_json::from_str::<Members<'_>>(json) {
        Ok(members) => members.written(|key, value| (key != member).then(|| value.into())),
        Err(_) => json.to_owned(),
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        /// A key, borrowed if it has no escapes.
        #[derive(Deserialize)]
        struct Key<'k>(#[serde(borrow)] Cow<'k, str>);

        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            members.push((key, map.next_value()?));
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_members_keep_their_order_and_their_text() {
        let json = r#"{"b": 1.50, "managed": [ {} ], "a\"b": {"x":null}}"#;
        let expected = r#"{"b":1.50,"a\"b":{"x":null}}"#;
        assert_eq!(without(json, "managed"), expected);
        assert_eq!(without("[1]", "managed"), "[1]");
        assert_eq!(without(r#"{"managed":1}"#, "managed"), "{}");
    }

    #[test]
    fn an_object_has_the_version_of_its_metadata() {
        let version = |json| ObjectText::of(json).resource_version();
        assert_eq!(version(r#"{"metadata": {"resourceVersion": "7"}}"#), "7");
        for other in [
            r#"{"metadata": {"resourceVersion": 7}}"#,
            r#"{"metadata": "7"}"#,
            r#"{"resourceVersion": "7"}"#,
            "7",
        ] {
            assert_eq!(version(other), "", "{other}");
        }
    }

    #[test]
    fn the_last_of_several_equal_keys_is_read() {
        let members: Members<'_> = serde_json::from_str(r#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(members.get("a"), Some("2"));
    }
}
