//! Store addresses, and the function that opens a store by its address.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::{EtcdOptions, EtcdStore, RedbStore, Result, Store, read_only};

/// The port of an etcd endpoint that gives no port.
const ETCD_PORT: u16 = 2379;

/// The maximum number of endpoints of one etcd.
const ENDPOINTS_MAX: usize = 16;

/// The address of a store, as an operator writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// `memory:`: a store for tests, lost when it is dropped.
    Memory,
    /// `file:PATH`: one file, used by one process at a time.
    File(PathBuf),
    /// `etcd://HOST:PORT,HOST:PORT`: an etcd, given by one or more of its members.
    Etcd(Vec<String>),
}

/// A text that is not a store address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a store address: {why}; write file:PATH, etcd://HOST:2379,HOST:2379 or memory:"
)]
pub struct AddressError {
    given: String,
    why: &'static str,
}

/// Opens the store at an address. The options apply only to etcd.
///
/// # Errors
/// The errors of [`RedbStore::open`] and [`EtcdStore::connect`].
pub fn open(address: &StoreAddress, etcd: &EtcdOptions) -> Result<Arc<dyn Store>> {
    Ok(match address {
        StoreAddress::Memory => Arc::new(RedbStore::in_memory()?),
        StoreAddress::File(path) => Arc::new(RedbStore::open(path)?),
        StoreAddress::Etcd(endpoints) => Arc::new(EtcdStore::connect(endpoints, etcd)?),
    })
}

/// Opens the store at an address for reading its keys as they are now, also while other programs
/// write to an etcd. Creates no file, and does not upgrade a file. The options apply only to etcd.
///
/// # Errors
/// The errors of [`RedbStore::open_existing`] and [`EtcdStore::connect_to_snapshot`].
pub fn open_existing(address: &StoreAddress, etcd: &EtcdOptions) -> Result<Arc<dyn Store>> {
    match address {
        StoreAddress::Memory => open(address, etcd).map(read_only),
        StoreAddress::File(path) => Ok(Arc::new(RedbStore::open_existing(path)?)),
        StoreAddress::Etcd(endpoints) => {
            Ok(Arc::new(EtcdStore::connect_to_snapshot(endpoints, etcd)?))
        }
    }
}

impl FromStr for StoreAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let refused = |why| AddressError {
            given: text.chars().take(200).collect(),
            why,
        };
        if text == "memory:" {
            return Ok(Self::Memory);
        }
        if let Some(path) = text.strip_prefix("file:") {
            return match path {
                "" => Err(refused("it contains no file name")),
                path => Ok(Self::File(path.into())),
            };
        }
        let Some(hosts) = text.strip_prefix("etcd://") else {
            return Err(refused("it does not begin with file:, etcd:// or memory:"));
        };
        let endpoints: Result<Vec<_>, _> = hosts.split(',').map(endpoint).collect();
        let endpoints = endpoints.map_err(refused)?;
        if endpoints.len() > ENDPOINTS_MAX {
            return Err(refused("it names more than 16 endpoints"));
        }
        Ok(Self::Etcd(endpoints))
    }
}

/// Parses `HOST` or `HOST:PORT`. An IPv6 address must be in brackets.
fn endpoint(text: &str) -> Result<String, &'static str> {
    let after_host = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(_, after)| after),
        None => Some(text.find(':').map_or("", |at| text.split_at(at).1)),
    };
    let after_host = after_host.ok_or("a host has no closing bracket")?;
    let host = text.strip_suffix(after_host).unwrap_or(text);
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
    if host.is_empty() || host == "[]" || !host.chars().all(is_host) {
        return Err("a host is missing, or is not a name or an address");
    }
    let port = match after_host.strip_prefix(':') {
        Some(port) => port
            .parse()
            .map_err(|_| "a port is not a number up to 65535")?,
        None if after_host.is_empty() => ETCD_PORT,
        None => return Err("a host is followed by text that is not a port"),
    };
    Ok(format!("{host}:{port}"))
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Etcd(endpoints) => write!(f, "etcd://{}", endpoints.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_written() {
        for (text, expect) in [
            ("memory:", "memory:"),
            ("file:a b/store.redb", "file:a b/store.redb"),
            ("etcd://a:1,b.example:2379", "etcd://a:1,b.example:2379"),
            ("etcd://localhost", "etcd://localhost:2379"),
            ("etcd://[::1],[::2]:1", "etcd://[::1]:2379,[::2]:1"),
        ] {
            let address: StoreAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), expect);
            assert_eq!(expect.parse(), Ok(address));
        }
    }

    #[test]
    fn an_invalid_address_is_rejected_with_a_reason() {
        let many = format!("etcd://{}", ["a"; 17].join(","));
        for (text, why) in [
            ("", "it does not begin"),
            ("store.redb", "it does not begin"),
            ("http://a:2379", "it does not begin"),
            ("file:", "it contains no file name"),
            ("memory:x", "it does not begin"),
            ("etcd://", "a host is missing"),
            ("etcd://a,", "a host is missing"),
            ("etcd://:1", "a host is missing"),
            ("etcd://u@a", "a host is missing"),
            ("etcd://a/b", "a host is missing"),
            ("etcd://a:x", "a port is not a number"),
            ("etcd://a:70000", "a port is not a number"),
            ("etcd://[::1", "a host has no closing bracket"),
            ("etcd://[::1]x", "a host is followed by"),
            (&many, "it names more than 16"),
        ] {
            let refused = text.parse::<StoreAddress>().unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
            assert!(refused.ends_with("write file:PATH, etcd://HOST:2379,HOST:2379 or memory:"));
        }
    }

    #[test]
    fn a_store_is_opened_where_its_address_says() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("store.redb");
        for address in [StoreAddress::Memory, StoreAddress::File(path.clone())] {
            let store = open(&address, &EtcdOptions::default()).unwrap();
            assert_eq!(store.keys("/").unwrap().keys, ["/kindsight/format/"]);
        }
        assert!(path.is_file());
    }
}
