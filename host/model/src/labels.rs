//! Reads labels and annotations from JSON of any structure.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::MapAccess;

use crate::lenient::{self, Lenient};

/// The labels and annotations in the `metadata` of an object; other members are skipped.
#[derive(Default)]
pub(crate) struct LabelledMetadata {
    pub(crate) labels: Labels,
    pub(crate) annotations: Labels,
}

/// Labels or annotations by key, without values that are not strings.
#[derive(Default)]
pub(crate) struct Labels(pub(crate) BTreeMap<String, String>);

/// The value of a label or an annotation; `None` if it is not a string. An empty string is a valid value.
#[derive(Default)]
struct LabelValue(Option<String>);

impl<'de> Lenient<'de> for LabelledMetadata {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "labels" => self.labels = lenient::next(map)?,
            "annotations" => self.annotations = lenient::next(map)?,
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
