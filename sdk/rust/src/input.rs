//! Input of a call beside the object.

use crate::bindings::exports::kindsight::interpreter::interpreter as wit;
use crate::{Failure, Object};

/// Input of a call beside the object: time, settings and related objects.
pub struct Input<'a> {
    input: &'a wit::Input,
}

/// A related object.
pub struct Related<'a> {
    /// API group; empty for the core group.
    pub group: &'a str,
    /// API version.
    pub version: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Namespace; empty where there is none.
    pub namespace: &'a str,
    /// Name.
    pub name: &'a str,
    json: &'a str,
}

impl Related<'_> {
    /// Reads the object and hands it to `judge`.
    ///
    /// # Errors
    /// [`Failure::InvalidInput`] when it is not a JSON object; the failure of `judge` otherwise.
    pub fn read<T>(
        &self,
        judge: impl FnOnce(&Object<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        Object::read(self.json, judge)
    }
}

impl<'a> Input<'a> {
    pub(crate) fn new(input: &'a wit::Input) -> Self {
        Self { input }
    }

    /// The time of judging, in Unix milliseconds. A verdict that depends on it sets when to be
    /// judged again, with [`crate::Verdict::recheck_at`].
    pub fn now_ms(&self) -> i64 {
        self.input.now_ms
    }

    /// Related objects, in order of rule, then namespace and name.
    pub fn related(&self) -> impl Iterator<Item = Related<'a>> + use<'a> {
        self.input.related.iter().map(|related| Related {
            group: &related.group,
            version: &related.version,
            kind: &related.kind,
            namespace: &related.namespace,
            name: &related.name,
            json: &related.object,
        })
    }

    /// Returns whether there were more related objects than a rule's limit.
    pub fn is_truncated(&self) -> bool {
        self.input.truncated
    }

    /// Reads the operator's settings and hands them to `read`; `None` without settings.
    ///
    /// # Errors
    /// [`Failure::InvalidInput`] when they are not a JSON object; the failure of `read` otherwise.
    pub fn settings<T>(
        &self,
        read: impl FnOnce(&Object<'_>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let Some(settings) = &self.input.settings else {
            return Ok(None);
        };
        Object::read(settings, read).map(Some)
    }

    /// A time in milliseconds that the operator sets in seconds under `name`; `default_s` seconds
    /// where it is not set.
    ///
    /// # Errors
    /// [`Failure::InvalidInput`] when it is set to anything but a whole number that is not negative.
    pub fn setting_ms(&self, name: &str, default_s: i64) -> Result<i64, Failure> {
        let seconds = self.settings(|settings| {
            let setting = settings.root().get(name);
            match setting.integer() {
                _ if !setting.is_present() => Ok(default_s),
                Some(seconds) if seconds >= 0 => Ok(seconds),
                _ => Err(Failure::InvalidInput(format!(
                    "setting {name} is not a number of seconds"
                ))),
            }
        })?;
        Ok(seconds.unwrap_or(default_s).saturating_mul(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_set_in_seconds_and_read_in_milliseconds() {
        let wrong = Failure::InvalidInput("setting grace is not a number of seconds".to_owned());
        let table = [
            (None, Ok(15_000)),
            (Some("{}"), Ok(15_000)),
            (Some(r#"{"grace": null}"#), Ok(15_000)),
            (Some(r#"{"grace": 0}"#), Ok(0)),
            (Some(r#"{"grace": "60"}"#), Ok(60_000)),
            (Some(r#"{"grace": 9223372036854775807}"#), Ok(i64::MAX)),
            (Some(r#"{"grace": -1}"#), Err(wrong.clone())),
            (Some(r#"{"grace": "a while"}"#), Err(wrong)),
        ];
        for (settings, expected) in table {
            let input = wit::Input {
                object: "{}".to_owned(),
                related: Vec::new(),
                truncated: false,
                now_ms: 0,
                settings: settings.map(str::to_owned),
                extras: None,
            };
            let read = Input::new(&input).setting_ms("grace", 15);
            assert_eq!(read, expected, "{settings:?}");
        }
    }
}
