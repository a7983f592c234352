//! The hosts and addresses that requests may go to.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::address::{IpRange, Use, forbidden};

/// Maximum length of a host pattern, in bytes: a name of DNS, `*.` and a port.
const PATTERN_BYTES_MAX: usize = 253 + 2 + 6;

/// Destinations that requests may go to: the table `[outgoing]` of the configuration.
///
/// The default permits each host that the configuration names in a URL, at any address that is not loopback,
/// link-local, multicast, unspecified, reserved or the address of a metadata service. Private addresses are permitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Destinations {
    /// Permitted hosts. If the list is empty, each host in a configured URL is permitted, because only the operator
    /// writes these URLs.
    pub hosts: Vec<HostPattern>,
    /// Ranges of addresses that are permitted although they would be forbidden, such as `127.0.0.0/8`.
    pub addresses: Vec<IpRange>,
}

impl Destinations {
    /// Returns whether requests may go to a host, which is a name or an address, at a port.
    pub(crate) fn permits_host(&self, host: &str, port: u16) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|pattern| pattern.matches(host, port))
    }

    /// The reason why no request may go to an address; `None` if requests may.
    pub(crate) fn refusal(&self, address: IpAddr) -> Option<Use> {
        forbidden(address, &self.addresses)
    }
}

/// A pattern of hosts: `receiver.example.com`, or `*.example.com` for all names below this domain. Both match every
/// port, or only one with `:PORT`. An IPv6 address has brackets: `[fd00::1]:8443`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    /// The name or the suffix, in lower case, without a final dot.
    name: String,
    is_suffix: bool,
    port: Option<u16>,
}

/// The reason why a text is not a pattern of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a host such as `receiver.example.com`, `*.example.com`, `10.1.2.3:8443` or `[fd00::1]:8443`"
)]
pub struct HostPatternError(String);

impl HostPattern {
    /// Returns whether the pattern matches a host at a port.
    pub(crate) fn matches(&self, host: &str, port: u16) -> bool {
        let host = normalized(host);
        let matches_name = if self.is_suffix {
            let below = host.strip_suffix(&self.name);
            below.is_some_and(|below| below.len() > 1 && below.ends_with('.'))
        } else {
            host == self.name
        };
        matches_name && self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        let invalid = || HostPatternError(text.to_owned());
        if text.len() > PATTERN_BYTES_MAX {
            return Err(invalid());
        }
        let (rest, is_suffix) = match text.strip_prefix("*.") {
            Some(suffix) => (suffix, true),
            None => (text, false),
        };
        // The colons of an IPv6 address are inside brackets.
        let (name, port) = match rest.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(port)),
            _ => (rest, None),
        };
        let port = port.map(|port| port.parse::<u16>().map_err(|_| invalid()));
        let is_address = name
            .strip_prefix('[')
            .and_then(|address| address.strip_suffix(']'))
            .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_name = !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_letter);
        if !is_name && (!is_address || is_suffix) {
            return Err(invalid());
        }
        Ok(Self {
            name: normalized(name),
            is_suffix,
            port: port.transpose()?,
        })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.is_suffix { "*." } else { "" };
        write!(f, "{star}{}", self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The normal form of a host, for comparisons: in lower case and without a final dot.
fn normalized(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, host: &str, port: u16) -> bool {
        pattern.parse::<HostPattern>().unwrap().matches(host, port)
    }

    #[test]
    fn a_name_matches_itself_and_a_suffix_what_is_below() {
        assert!(matches("a.example.com", "A.example.com.", 443));
        assert!(!matches("a.example.com", "b.a.example.com", 443));
        assert!(matches("*.example.com", "b.a.example.com", 443));
        assert!(!matches("*.example.com", "example.com", 443));
        assert!(!matches("*.example.com", "evilexample.com", 443));
        assert!(!matches("*.example.com", ".example.com", 443));
        assert!(!matches("*.example.com", "example.com.evil.org", 443));
    }

    #[test]
    fn a_port_restricts_a_pattern() {
        assert!(matches("a.example.com:8443", "a.example.com", 8443));
        assert!(!matches("a.example.com:8443", "a.example.com", 443));
        assert!(matches("[fd00::1]:8443", "[fd00::1]", 8443));
        assert!(matches("[fd00::1]", "[fd00::1]", 1));
        assert!(matches("10.1.2.3:80", "10.1.2.3", 80));
    }

    #[test]
    fn an_invalid_pattern_is_refused_with_the_correct_form() {
        for text in [
            "",
            "*",
            "*.",
            "a.*.com",
            "https://a.com",
            "a.com/path",
            "a:b",
            "a.com:99999",
            "user@a.com",
            "fd00::1",
            "*.[fd00::1]",
        ] {
            let error = text.parse::<HostPattern>().unwrap_err().to_string();
            assert!(error.contains("*.example.com"), "{text}: {error}");
        }
    }

    #[test]
    fn an_empty_list_permits_each_configured_host() {
        let mut destinations = Destinations::default();
        assert!(destinations.permits_host("anything", 1));
        destinations.hosts = vec!["a.com".parse().unwrap()];
        assert!(!destinations.permits_host("anything", 1));
        assert_eq!(destinations.hosts.first().unwrap().to_string(), "a.com");
    }
}
