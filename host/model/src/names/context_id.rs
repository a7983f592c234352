//! Ids of `AppContext`s.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::NameError;

/// The id of an `AppContext`: a decimal number of 64 bits, kept verbatim.
///
/// Below 2^63. Orchestrators that choose ids themselves may use negative ids. A context with a negative id is
/// read like any other, but no label can name it (see [`DeploymentId`](super::DeploymentId)), so no monitor
/// reports on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(Arc<str>);

impl ContextId {
    /// The text, as in keys and labels.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the id is negative. New ids are never negative.
    pub fn is_negative(&self) -> bool {
        self.0.starts_with('-')
    }
}

impl FromStr for ContextId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        // `parse` also accepts a `+`.
        if digits.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<i64>().is_ok() {
            Ok(Self(text.into()))
        } else {
            Err(NameError::NotAContextId(text.to_owned()))
        }
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_number_of_64_bits() {
        for good in [
            "0",
            "007",
            "-5",
            "9223372036854775807",
            "-9223372036854775808",
        ] {
            let id: ContextId = good.parse().unwrap();
            assert_eq!(id.as_str(), good);
            assert_eq!(id.is_negative(), good.starts_with('-'));
        }
        for bad in [
            "",
            "-",
            "--5",
            "+5",
            "5-",
            "1.0",
            "0x1",
            "9223372036854775808",
        ] {
            assert!(bad.parse::<ContextId>().is_err(), "{bad}");
        }
    }
}
