//! Names of clusters.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{NameError, is_name};

/// A cluster: `provider+name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterName {
    /// Its provider.
    pub provider: Arc<str>,
    /// Its name at that provider.
    pub name: Arc<str>,
}

impl ClusterName {
    /// A cluster name from its two parts.
    ///
    /// # Errors
    /// [`NameError::NotAName`] with the first invalid part.
    pub fn new(provider: &str, name: &str) -> Result<Self, NameError> {
        for part in [provider, name] {
            if !is_name(part) {
                return Err(NameError::NotAName(part.to_owned()));
            }
        }
        Ok(Self {
            provider: provider.into(),
            name: name.into(),
        })
    }
}

impl FromStr for ClusterName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (provider, name) = text
            .split_once('+')
            .ok_or_else(|| NameError::NotACluster(text.to_owned()))?;
        Self::new(provider, name).map_err(|_| NameError::NotACluster(text.to_owned()))
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.provider, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NAME_BYTES_MAX;
    use super::*;

    #[test]
    fn a_cluster_name_survives_a_round_trip() {
        let cluster: ClusterName = "vfw-cluster-provider+edge01".parse().unwrap();
        assert_eq!(&*cluster.name, "edge01");
        assert_eq!(cluster.to_string(), "vfw-cluster-provider+edge01");
        let long = "x".repeat(NAME_BYTES_MAX);
        for good in ["-p_+_edge-", &format!("{long}+{long}")] {
            assert_eq!(good.parse::<ClusterName>().unwrap().to_string(), good);
        }
        for bad in [
            "edge01",
            "+edge01",
            "p+",
            "p+a+b",
            "-+a",
            "..+a",
            &format!("p+{long}x"),
        ] {
            assert!(bad.parse::<ClusterName>().is_err(), "{bad}");
        }
    }
}
