//! Raw JSON in answers.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// JSON that is written as it came, and kept as text when it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail(Arc<str>);

impl Detail {
    /// Of JSON text.
    pub fn new(json: Arc<str>) -> Self {
        Self(json)
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Detail {
    /// Text that is not JSON, which a [`kindsight_model::Object`] never holds, would be `null`: one bad
    /// object must not cost the others their answer.
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
