//! The identity of a monitor.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::str::FromStr;

use kindsight_model::is_label_value;

/// Maximum length of the part that the name of the host contributes, in bytes.
const HOST_BYTES_MAX: usize = 50;

/// The name of a running monitor for other monitors and users. Each process has its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorIdentity(String);

/// A text that is no identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no identity: write at most 63 letters, digits, `-`, `_` and `.`")]
pub struct IdentityError(String);

impl MonitorIdentity {
    /// The identity of a new process on a host: the name of the host, and a random part.
    pub fn of_process(host: &str) -> Self {
        let is_legal = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '-' | '.');
        let host: String = host.chars().filter(is_legal).take(HOST_BYTES_MAX).collect();
        let host = host.trim_matches(|char: char| !char.is_ascii_alphanumeric());
        let host = if host.is_empty() { "monitor" } else { host };
        // The keys of a new hasher are random.
        let random = RandomState::new().hash_one(host) & 0xff_ffff;
        Self(format!("{host}-{random:06x}"))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MonitorIdentity {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        if text.is_empty() || !is_label_value(text) {
            return Err(IdentityError(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for MonitorIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processes_on_one_host_have_different_identities() {
        let first = MonitorIdentity::of_process("edge-01.example");
        let second = MonitorIdentity::of_process("edge-01.example");
        assert_ne!(first, second);
        assert!(first.as_str().starts_with("edge-01.example-"));
        for host in ["", "\u{1b}[31m", "--", &"x".repeat(300)] {
            let identity = MonitorIdentity::of_process(host);
            assert_eq!(identity.as_str().parse(), Ok(identity.clone()), "{host}");
        }
        assert!("a b".parse::<MonitorIdentity>().is_err());
    }
}
