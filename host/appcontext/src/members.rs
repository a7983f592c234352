//! JSON objects whose members are kept as they are: unknown ones, their order and their spelling.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Result, go_json};

/// The members of a JSON object, in their stored order and spelling.
///
/// Two are equal if they have the same members in the same order, spelled alike.
#[derive(Clone, Default)]
pub struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// The names of the members, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The JSON text of a member; the last of several of one name.
    pub fn json(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().rev().filter(|(known, _)| known == name);
        found.next().map(|(_, raw)| raw.get())
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decodes a member; none when it is absent or `null`.
    pub(crate) fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, String> {
        let Some(json) = self.json(name) else {
            return Ok(None);
        };
        serde_json::from_str(json).map_err(|error| format!("`{name}`: {error}"))
    }

    /// Adds a member that is known to be new.
    pub(crate) fn push<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        self.0.push((name.to_owned(), raw(value)?));
        Ok(())
    }

    /// Sets a member in its place, or at the end when it is new.
    pub(crate) fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        let raw = raw(value)?;
        match self.0.iter_mut().rev().find(|(known, _)| known == name) {
            Some((_, stored)) => *stored = raw,
            None => self.0.push((name.to_owned(), raw)),
        }
        Ok(())
    }

    /// Keeps the members that `keep` accepts by name and JSON text. Returns whether all were kept.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, &str) -> bool) -> bool {
        let before = self.0.len();
        self.0.retain(|(name, raw)| keep(name, raw.get()));
        self.0.len() == before
    }
}

fn raw<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>> {
    let json = go_json::encode(value)?;
    RawValue::from_string(json).map_err(crate::Error::Encode)
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        let texts = |(name, raw): &(String, Box<RawValue>)| (name.clone(), raw.get().to_owned());
        self.0.len() == other.0.len() && self.0.iter().map(texts).eq(other.0.iter().map(texts))
    }
}

impl Eq for Members {}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.0.iter().map(|(name, raw)| (name, raw.get()));
        f.debug_map().entries(texts).finish()
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, raw) in &self.0 {
            map.serialize_entry(name, raw)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Members::default();
        while let Some(member) = map.next_entry()? {
            members.0.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(json: &str) -> Members {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_not_changed_is_written_as_it_was() {
        let mut stored = members(r#"{"z":1.50,"a":"\u003c<","n":12345678901234567890123}"#);
        assert_eq!(
            go_json::encode(&stored).unwrap(),
            r#"{"z":1.50,"a":"\u003c<","n":12345678901234567890123}"#
        );
        stored.set("a", "&").unwrap();
        stored.set("new", &["x"]).unwrap();
        assert_eq!(
            go_json::encode(&stored).unwrap(),
            r#"{"z":1.50,"a":"\u0026","n":12345678901234567890123,"new":["x"]}"#
        );
    }

    #[test]
    fn the_last_of_several_members_of_one_name_counts() {
        let stored = members(r#"{"a":"1","a":"2"}"#);
        assert_eq!(stored.get::<String>("a").unwrap().as_deref(), Some("2"));
        assert_eq!(stored.get::<String>("b").unwrap(), None);
        assert!(stored.get::<bool>("a").is_err());
        assert_eq!(members(r#"{"a":null}"#).get::<String>("a").unwrap(), None);
    }

    #[test]
    fn only_an_object_has_members() {
        for json in ["[]", "1", "null", r#""{}""#, ""] {
            assert!(serde_json::from_str::<Members>(json).is_err(), "{json}");
        }
    }
}
