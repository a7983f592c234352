//! Raw JSON in answers.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// JSON that is written unchanged, and kept as text when it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail(Arc<str>);

impl Detail {
    /// Wraps JSON text.
    pub fn new(json: Arc<str>) -> Self {
        Self(json)
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Detail {
    /// Writes text that is not JSON as `null`, so that one bad object does not prevent the answer
    /// on the others. A [`kindsight_model::Object`] never contains such text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .ok()
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(json.get().into()))
    }
}
