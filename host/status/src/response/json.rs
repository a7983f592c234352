//! Values that are not written as serde would.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A moment, written in RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(jiff::Timestamp);

impl Moment {
    /// From Unix milliseconds; none if that is not within the years -9999 to 9999.
    pub fn from_ms(ms: i64) -> Option<Self> {
        jiff::Timestamp::from_millisecond(ms).ok().map(Self)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// JSON that is written as it came.
#[derive(Debug, Clone)]
pub struct Detail(pub(crate) Arc<str>);

impl Serialize for Detail {
    /// Text that is not JSON, which an [`kindsight_model::Object`] never holds, would be `null`:
    /// one bad object must not cost the others their answer.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .ok()
            .serialize(serializer)
    }
}
