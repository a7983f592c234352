//! Settings: everything a server is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use kindsight_catalog::CatalogLimits;
use kindsight_clusters::ClusterSource;
use kindsight_store::Store;

/// Everything a server is started with. [`Settings::new`] has the defaults of `kindsight serve`, at a
/// free port of the loopback address.
pub struct Settings {
    /// Keeps `AppContext`s, records and the catalog of interpreters.
    pub store: Arc<dyn Store>,
    /// The folder of compiled components; without one everything is compiled at each start.
    pub cache: Option<PathBuf>,
    /// The watched directory of interpreters.
    pub interpreters: Option<PathBuf>,
    /// The clusters that report.
    pub clusters: Vec<ClusterSource>,
    /// The address it answers on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Limits of interpreters.
    pub interpreter_limits: kindsight_interpreter::Limits,
    /// Limits of the catalog of interpreters.
    pub catalog_limits: CatalogLimits,
    /// Limits of the REST API.
    pub rest_limits: kindsight_rest::Limits,
}

impl Settings {
    /// The defaults, over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            cache: None,
            interpreters: None,
            clusters: Vec::new(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            interpreter_limits: kindsight_interpreter::Limits::default(),
            catalog_limits: CatalogLimits::default(),
            rest_limits: kindsight_rest::Limits::default(),
        }
    }
}
