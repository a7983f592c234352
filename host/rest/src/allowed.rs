//! Allowed host names of the server, and allowed origins of pages that send changes.
//!
//! A browser lets a page send requests to any address. Two checks refuse such pages: the header `Host` shows a name that
//! an attacker's resolver directs to this machine (DNS rebinding), and the header `Origin` shows a page of another site.
//! Programs are not affected: they use an allowed name, and send no `Origin`.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// Longest name of a host, in bytes: the longest domain name.
const NAME_BYTES_MAX: usize = 253;

/// Allowed hosts and origins, in addition to the hosts and origins that are always allowed.
///
/// The host `localhost`, loopback addresses, and the address at which the connection was accepted are always allowed. An
/// origin is always allowed if it equals the host of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedNames {
    /// Further names and addresses of this server.
    pub hosts: Vec<AllowedHost>,
    /// Origins of pages that may send changes, in addition to this server's own pages.
    pub origins: Vec<AllowedOrigin>,
}

/// An allowed name or address of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost(Option<Authority>);

/// An origin of pages that may send changes, such as `https://status.example`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedOrigin(Origin);

/// The reason why a text is not a host or an origin. The message contains the valid form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllowedNameError {
    /// Not a host.
    #[error("`{0}` is not a host: write `name`, `name:port`, an address, or `*` for any host")]
    Host(String),
    /// Not an origin.
    #[error("`{0}` is not an origin: write `https://name` or `http://name:port`")]
    Origin(String),
}

impl AllowedNames {
    /// Returns whether a request may use this name, on a connection that was accepted at `local`.
    pub(crate) fn allows_host(&self, host: &Authority, local: Option<IpAddr>) -> bool {
        let is_own = match &host.host {
            Host::Name(name) => name == "localhost",
            Host::Address(address) => {
                address.is_loopback() || local.is_some_and(|local| local.to_canonical() == *address)
            }
        };
        let is_listed = |allowed: &AllowedHost| match &allowed.0 {
            None => true,
            Some(listed) => {
                listed.host == host.host && (listed.port.is_none() || listed.port == host.port)
            }
        };
        is_own || self.hosts.iter().any(is_listed)
    }

    /// Returns whether a page of this origin may send changes to a server under the name `host`.
    pub(crate) fn allows_origin(&self, origin: &Origin, host: Option<&Authority>) -> bool {
        let is_own = host.is_some_and(|host| {
            origin.authority.host == host.host && origin.port() == host.port_of(&origin.scheme)
        });
        is_own || self.lists_origin(origin)
    }

    /// True if this origin is one of [`AllowedNames::origins`].
    pub(crate) fn lists_origin(&self, origin: &Origin) -> bool {
        self.origins.iter().any(|listed| listed.0 == *origin)
    }
}

impl FromStr for AllowedHost {
    type Err = AllowedNameError;

    fn from_str(text: &str) -> Result<Self, AllowedNameError> {
        if text == "*" {
            return Ok(Self(None));
        }
        // An IPv6 address is written without brackets too, where no port can follow.
        let address = text.parse::<Ipv6Addr>().ok();
        let address = address.map(|address| Authority {
            host: Host::Address(IpAddr::V6(address).to_canonical()),
            port: None,
        });
        let host = address.or_else(|| Authority::read(text));
        let host = host.ok_or_else(|| AllowedNameError::Host(text.to_owned()))?;
        Ok(Self(Some(host)))
    }
}

impl FromStr for AllowedOrigin {
    type Err = AllowedNameError;

    fn from_str(text: &str) -> Result<Self, AllowedNameError> {
        let origin = Origin::read(text).ok_or_else(|| AllowedNameError::Origin(text.to_owned()))?;
        Ok(Self(origin))
    }
}

/// A host with its port, as in `Host`: lower-case, without a dot at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Address(IpAddr),
}

impl Authority {
    /// Reads `name`, `name:port`, `1.2.3.4:port` or `[::1]:port`; `None` for anything else.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (host, port) = if let Some(text) = text.strip_prefix('[') {
            let (address, after) = text.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            let port = match after {
                "" => "",
                after => after.strip_prefix(':')?,
            };
            (Host::Address(IpAddr::V6(address).to_canonical()), port)
        } else {
            let (name, port) = text.split_once(':').unwrap_or((text, ""));
            (Host::read(name)?, port)
        };
        let port = match port {
            "" => None,
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
            _ => return None,
        };
        Some(Self { host, port })
    }

    fn port_of(&self, scheme: &str) -> u16 {
        self.port
            .unwrap_or(if scheme == "https" { 443 } else { 80 })
    }
}

impl Host {
    fn read(name: &str) -> Option<Self> {
        if let Ok(address) = name.parse::<IpAddr>() {
            return Some(Self::Address(address));
        }
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_valid =
            !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_name);
        is_valid.then(|| Self::Name(name.to_ascii_lowercase()))
    }
}

/// An origin as browsers send it.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    scheme: String,
    authority: Authority,
}

impl Origin {
    /// Reads `http://host:port` or `https://host`; `None` for anything else, as `null`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let authority = Authority::read(authority)?;
        matches!(&*scheme, "http" | "https").then_some(Self { scheme, authority })
    }

    fn port(&self) -> u16 {
        self.authority.port_of(&self.scheme)
    }
}

impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme
            && self.authority.host == other.authority.host
            && self.port() == other.port()
    }
}

impl Eq for Origin {}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(hosts: &[&str], host: &str) -> bool {
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let access = AllowedNames {
            hosts,
            ..AllowedNames::default()
        };
        let local = Some("10.1.2.3".parse().unwrap());
        Authority::read(host).is_some_and(|host| access.allows_host(&host, local))
    }

    #[test]
    fn loopback_and_the_own_address_are_always_allowed() {
        for host in [
            "localhost",
            "LocalHost:9015",
            "localhost.",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:9015",
            "[::ffff:127.0.0.1]",
            "10.1.2.3:80",
        ] {
            assert!(allowed(&[], host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "2130706433",
            "0x7f.1",
            "10.1.2.4",
            "0.0.0.0",
            "[::2]",
            "[::1",
            "[::1]x",
            "localhost:x",
            "localhost:99999",
            "a@localhost",
            "localhost/",
            "",
            ":80",
        ] {
            assert!(!allowed(&[], host), "{host}");
        }
    }

    #[test]
    fn a_listed_host_is_allowed_with_its_port_if_it_has_one() {
        let hosts = ["status.example", "other.example:81", "2001:db8::1"];
        for host in [
            "Status.Example:8443",
            "other.example:81",
            "[2001:db8::1]:9015",
        ] {
            assert!(allowed(&hosts, host), "{host}");
        }
        for host in ["other.example", "other.example:82", "x.status.example"] {
            assert!(!allowed(&hosts, host), "{host}");
        }
        assert!(allowed(&["*"], "evil.example"));
    }

    #[test]
    fn an_invalid_host_or_origin_is_refused_with_the_right_form() {
        for text in ["", "a b", "http://x", "x:port", "*.example"] {
            let error = text.parse::<AllowedHost>().unwrap_err().to_string();
            assert!(error.contains("write `name`"), "{error}");
        }
        for text in ["", "null", "*", "x.example", "ftp://x", "https://x/y"] {
            let error = text.parse::<AllowedOrigin>().unwrap_err().to_string();
            assert!(error.contains("write `https://name`"), "{error}");
        }
    }
}
