//! The watched clusters, by the addresses and the names in destinations.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use http::Uri;
use kindsight_cluster_index::{Destination, KubeconfigObject};
use kindsight_model::ClusterName;

use super::KubeconfigRef;

/// The port of an address without a port.
const HTTPS_PORT: u16 = 443;
/// The suffix of the Secrets of Cluster API that contain kubeconfigs.
const KUBECONFIG_SUFFIX: &str = "-kubeconfig";

/// The address and the names of a watched cluster.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) server: Uri,
    pub(crate) names: BTreeSet<Arc<str>>,
    /// The objects whose kubeconfigs lead to the cluster, according to the configuration.
    pub(crate) kubeconfigs: BTreeSet<KubeconfigRef>,
}

/// The watched clusters, by their addresses and names. Several clusters may have one name.
#[derive(Default)]
pub(super) struct Directory<'e> {
    servers: HashMap<Server, Clusters<'e>>,
    names: HashMap<&'e str, Clusters<'e>>,
    kubeconfigs: HashMap<&'e KubeconfigRef, Clusters<'e>>,
}

type Clusters<'e> = BTreeSet<&'e Arc<ClusterName>>;

/// The parts of an address that differ if the servers differ: host, port and path.
type Server = (String, u16, String);

fn server(address: &Uri) -> Server {
    let host = address.host().unwrap_or_default().to_ascii_lowercase();
    let port = address.port_u16().unwrap_or(HTTPS_PORT);
    (host, port, address.path().trim_end_matches('/').to_owned())
}

impl<'e> Directory<'e> {
    pub(super) fn of(
        endpoints: impl Iterator<Item = (&'e Arc<ClusterName>, &'e Endpoint)>,
    ) -> Self {
        let mut directory = Self::default();
        for (cluster, endpoint) in endpoints {
            let of_server = directory.servers.entry(server(&endpoint.server));
            of_server.or_default().insert(cluster);
            for name in &endpoint.names {
                directory.names.entry(name).or_default().insert(cluster);
            }
            for kubeconfig in &endpoint.kubeconfigs {
                let of_kubeconfig = directory.kubeconfigs.entry(kubeconfig);
                of_kubeconfig.or_default().insert(cluster);
            }
        }
        directory
    }

    /// The only watched cluster that a destination names. `own` has the inventory.
    ///
    /// # Errors
    /// The reason why there is none, as text for readers.
    pub(super) fn find(
        &self,
        destination: &Destination,
        own: &'e Arc<ClusterName>,
    ) -> Result<&'e Arc<ClusterName>, String> {
        let found = match destination {
            Destination::Own => return Ok(own),
            Destination::Kubeconfig => return Err(format!("its object names {destination}")),
            Destination::KubeconfigIn(object) => return self.find_by_kubeconfig(object, own),
            Destination::Server(address) => {
                let address = address.parse::<Uri>().ok();
                address.and_then(|address| self.servers.get(&server(&address)))
            }
            Destination::Name(name) => self.names.get(&**name),
        };
        let found: Clusters<'e> = found.into_iter().flatten().copied().collect();
        only(&found).ok_or_else(|| {
            if found.is_empty() {
                format!("no watched cluster has {destination}")
            } else {
                format!("several watched clusters have {destination}")
            }
        })
    }

    /// The only watched cluster that the kubeconfig in an object leads to: the cluster whose configuration has the
    /// object, or the cluster with the name of the object.
    fn find_by_kubeconfig(
        &self,
        object: &KubeconfigObject,
        own: &'e Arc<ClusterName>,
    ) -> Result<&'e Arc<ClusterName>, String> {
        let configured = KubeconfigRef::all_of(object, own);
        let configured = configured.iter();
        let configured = configured.filter_map(|name| self.kubeconfigs.get(name));
        let configured: Clusters<'e> = configured.flatten().copied().collect();
        let KubeconfigObject {
            kind,
            namespace,
            name,
        } = object;
        if !configured.is_empty() {
            return only(&configured).ok_or_else(|| {
                format!(
                    "the tables [[cluster]] of several watched clusters have {namespace}/{name} in `kubeconfig-refs`"
                )
            });
        }
        let names = [Some(&**name), name.strip_suffix(KUBECONFIG_SUFFIX)];
        let named = names.into_iter().flatten();
        let named = named.filter_map(|name| self.names.get(name));
        let named: Clusters<'e> = named.flatten().copied().collect();
        only(&named).ok_or_else(|| {
            let count = if named.is_empty() { "no" } else { "more than one" };
            format!(
                "the name of {kind} {namespace}/{name} is the name of {count} watched cluster, and no table [[cluster]] has {namespace}/{name} in `kubeconfig-refs`"
            )
        })
    }
}

/// The only one of these clusters.
fn only<'e>(clusters: &Clusters<'e>) -> Option<&'e Arc<ClusterName>> {
    let mut clusters = clusters.iter();
    match (clusters.next(), clusters.next()) {
        (Some(cluster), None) => Some(*cluster),
        _ => None,
    }
}
