//! Reads labels out of JSON of any shape.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::MapAccess;

use crate::lenient::{self, Lenient};

/// An object, of which only the labels are wanted.
#[derive(Default)]
pub(crate) struct Labelled {
    pub(crate) metadata: LabelledMetadata,
}

/// The `metadata` of an object, of which only the labels are wanted.
#[derive(Default)]
pub(crate) struct LabelledMetadata {
    pub(crate) labels: Labels,
}

/// Labels by key; a value that is not a string is left out.
#[derive(Default)]
pub(crate) struct Labels(pub(crate) BTreeMap<String, String>);

/// Tells an empty string from something that is no string: an empty label is a label.
#[derive(Default)]
struct LabelValue(Option<String>);

impl<'de> Lenient<'de> for Labelled {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "metadata" => self.metadata = lenient::next(map)?,
            _ => lenient::next(map)?,
        }
        Ok(())
    }
}

impl<'de> Lenient<'de> for LabelledMetadata {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "labels" => self.labels = lenient::next(map)?,
            _ => lenient::next(map)?,
        }
        Ok(())
    }
}

impl<'de> Lenient<'de> for Labels {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let LabelValue(value) = lenient::next(map)?;
        match value {
            Some(value) => self.0.insert(key.to_owned(), value),
            None => self.0.remove(key),
        };
        Ok(())
    }
}

impl<'de> Lenient<'de> for LabelValue {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = Some(text.into_owned());
    }
}
