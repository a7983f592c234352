//! Names of the Secrets and ConfigMaps whose kubeconfigs lead to a cluster.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use kindsight_cluster_index::KubeconfigObject;
use kindsight_model::ClusterName;

use crate::NamespacedName;

/// The name of a Secret or a ConfigMap whose kubeconfig leads to a cluster, as `spec.kubeConfig` of Flux refers to it:
/// `NAMESPACE/NAME` in any watched cluster, or `PROVIDER+CLUSTER/NAMESPACE/NAME` in one. kindsight does not read the
/// object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubeconfigRef {
    /// The cluster with the object. `None` for each watched cluster.
    cluster: Option<ClusterName>,
    namespace: Arc<str>,
    name: Arc<str>,
}

/// The text is not the name of such an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected NAMESPACE/NAME or PROVIDER+CLUSTER/NAMESPACE/NAME")]
pub struct KubeconfigRefError;

impl KubeconfigRef {
    /// The references that name an object of a cluster.
    pub(super) fn all_of(object: &KubeconfigObject, cluster: &ClusterName) -> [Self; 2] {
        [None, Some(cluster.clone())].map(|cluster| Self {
            cluster,
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
        })
    }
}

impl FromStr for KubeconfigRef {
    type Err = KubeconfigRefError;

    fn from_str(text: &str) -> Result<Self, KubeconfigRefError> {
        let (cluster, object) = match text.split_once('/') {
            Some((cluster, object)) if cluster.contains('+') => {
                let cluster = cluster.parse().map_err(|_| KubeconfigRefError)?;
                (Some(cluster), object)
            }
            _ => (None, text),
        };
        let object: NamespacedName = object.parse().map_err(|_| KubeconfigRefError)?;
        Ok(Self {
            cluster,
            namespace: object.namespace().into(),
            name: object.name().into(),
        })
    }
}

impl fmt::Display for KubeconfigRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cluster) = &self.cluster {
            write!(f, "{cluster}/")?;
        }
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_an_object_of_one_cluster_or_of_each() {
        for text in ["flux-system/edge01", "p+hub/flux-system/edge01"] {
            assert_eq!(text.parse::<KubeconfigRef>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "edge01",
            "hub/flux-system/edge01",
            "+hub/a/b",
            "p+hub/a",
        ] {
            assert!(text.parse::<KubeconfigRef>().is_err(), "{text}");
        }
    }
}
