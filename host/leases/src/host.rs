//! Hosts: their URLs, names and weights.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The greatest weight of a host.
pub const WEIGHT_MAX: u8 = 16;
/// The most bytes of a URL.
const URL_BYTES_MAX: usize = 255;

/// The name of a host: the authority of its URL, such as `10.0.0.1:9015`. It is part of keys, and stays
/// the same when the process restarts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(Arc<str>);

/// The URL at which the other hosts reach a host: `http://HOST:PORT` or `https://HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostUrl {
    text: Arc<str>,
    id: HostId,
}

/// The reason why a text is not the URL of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the URL at which other hosts reach this host, such as `https://10.0.0.1:9015`, without a path"
)]
pub struct HostUrlError;

/// The share of clusters of a host, relative to the other hosts: 1 to [`WEIGHT_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(u8);

impl HostId {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as shared text.
    pub fn text(&self) -> &Arc<str> {
        &self.0
    }
}

/// Reads a name: letters, digits and `.:-[]`.
impl FromStr for HostId {
    type Err = HostUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || ".:-[]".contains(c);
        let is_valid =
            !text.is_empty() && text.len() <= URL_BYTES_MAX && text.chars().all(is_allowed);
        is_valid.then(|| Self(text.into())).ok_or(HostUrlError)
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HostUrl {
    /// The URL as text, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name of the host.
    pub fn id(&self) -> &HostId {
        &self.id
    }
}

impl FromStr for HostUrl {
    type Err = HostUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.strip_suffix('/').unwrap_or(text);
        let rest = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"));
        Ok(Self {
            id: rest.ok_or(HostUrlError)?.parse()?,
            text: text.into(),
        })
    }
}

impl fmt::Display for HostUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Weight {
    /// The nearest permitted weight. A later release may permit greater ones.
    pub fn nearest(number: u64) -> Self {
        let number = number.clamp(1, u64::from(WEIGHT_MAX));
        Self(u8::try_from(number).unwrap_or(WEIGHT_MAX))
    }

    /// The number.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_gives_the_name_of_its_host() {
        for (url, id) in [
            ("http://10.0.0.1:9015", "10.0.0.1:9015"),
            (
                "https://kindsight-0.kindsight:9015/",
                "kindsight-0.kindsight:9015",
            ),
            ("https://[::1]:9015", "[::1]:9015"),
        ] {
            let parsed: HostUrl = url.parse().unwrap();
            assert_eq!(parsed.id().as_str(), id);
            assert_eq!(parsed.as_str(), url.trim_end_matches('/'));
        }
        for wrong in [
            "",
            "10.0.0.1:9015",
            "http://",
            "http://a/b",
            "ftp://a",
            "http://a?b",
            "http://u@a",
        ] {
            assert_eq!(wrong.parse::<HostUrl>(), Err(HostUrlError), "{wrong}");
        }
    }

    #[test]
    fn a_weight_has_limits() {
        assert_eq!(Weight::nearest(0).number(), 1);
        assert_eq!(Weight::nearest(7).number(), 7);
        assert_eq!(Weight::nearest(u64::MAX).number(), WEIGHT_MAX);
    }
}
