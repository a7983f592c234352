//! The values of the keys of leases, in JSON.
//!
//! Each value has a `version`. A later release only adds members, so a reader ignores the version and
//! the members that it does not know. A release that changes the meaning of a member uses other keys.

use std::collections::BTreeSet;
use std::fmt;

use kindsight_model::ClusterName;
use serde::{Deserialize, Serialize};

use crate::assignment::hash;
use crate::{HostId, HostUrl, Weight};

/// The version of the values that this release writes.
const VERSION: u32 = 1;
/// The version of the assignment. Hosts whose versions differ do not move clusters between each other.
const ASSIGNMENT_VERSION: u64 = 1;
/// The largest value that is read, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 4096;

/// The process that owns a lease. A restarted host has another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name of the host.
    pub host: HostId,
    /// The start of its process, in Unix milliseconds.
    pub started_ms: i64,
}

/// The value of the key of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostValue {
    /// The version of the value.
    #[serde(default)]
    version: u32,
    /// The URL at which the other hosts reach the host.
    pub url: String,
    /// The release of kindsight.
    #[serde(default)]
    pub release: String,
    /// The start of the process, in Unix milliseconds.
    #[serde(default)]
    pub started_ms: i64,
    /// The weight.
    #[serde(default)]
    weight: u64,
}

/// The value of the key of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnerValue {
    #[serde(default)]
    version: u32,
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) started_ms: i64,
}

/// A digest of the clusters that a host has in its configuration, and of its rule of assignment. Hosts
/// with the same digest compute the same owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

/// The value of the key with the digest of a host.
#[derive(Debug, Serialize, Deserialize)]
struct DigestValue {
    #[serde(default)]
    version: u32,
    digest: String,
}

impl HostValue {
    /// The value for a process at a URL.
    pub fn new(url: &HostUrl, release: &str, started_ms: i64, weight: Weight) -> Self {
        Self {
            version: VERSION,
            url: url.as_str().to_owned(),
            release: release.to_owned(),
            started_ms,
            weight: u64::from(weight.number()),
        }
    }

    /// The weight of the host.
    pub fn weight(&self) -> Weight {
        Weight::nearest(self.weight)
    }

    /// The bytes of the value.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }
}

impl Identity {
    /// The value of the keys of the clusters that the process owns.
    pub fn owner_value(&self) -> Vec<u8> {
        encode(&OwnerValue {
            version: VERSION,
            host: self.host.to_string(),
            started_ms: self.started_ms,
        })
    }
}

impl Digest {
    /// The digest of a configuration.
    pub fn of(clusters: &BTreeSet<ClusterName>) -> Self {
        let names = clusters.iter();
        Self(names.fold(ASSIGNMENT_VERSION, |digest, name| {
            hash(&name.to_string(), digest)
        }))
    }

    /// The value of the key with the digest.
    pub fn encode(self) -> Vec<u8> {
        encode(&DigestValue {
            version: VERSION,
            digest: self.to_string(),
        })
    }

    /// Reads the value; `None` if it has another form.
    pub(crate) fn decode(value: &[u8]) -> Option<Self> {
        let value: DigestValue = decode(value)?;
        u64::from_str_radix(&value.digest, 16).ok().map(Self)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Reads a value; `None` if it has another form or is too large.
pub(crate) fn decode<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Option<T> {
    let value = Some(value).filter(|value| value.len() <= VALUE_BYTES_MAX)?;
    serde_json::from_slice(value).ok()
}

fn encode(value: &impl Serialize) -> Vec<u8> {
    // These types always have a form in JSON.
    serde_json::to_vec(value).unwrap_or_default()
}
