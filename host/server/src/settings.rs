//! Settings: everything a server is started with.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kindsight_api::status::Dialect;
use kindsight_catalog::CatalogLimits;
use kindsight_clusters::ClusterSource;
use kindsight_pipeline::{GONE_FOR, RememberedFile};
use kindsight_rest::Access;
use kindsight_store::Store;
use tokio::sync::watch;

use crate::error::Error;
use crate::mongodb::MongodbSettings;

/// Everything a server is started with. [`Settings::new`] has the defaults of `kindsight serve`, at a
/// free port of the loopback address.
pub struct Settings {
    /// Keeps records and the catalog of interpreters.
    pub store: Arc<dyn Store>,
    /// Keeps `AppContext`s: the same store by default, or that of another orchestrator.
    pub contexts: Arc<dyn Store>,
    /// The states that the orchestrator keeps beside those contexts; without it they are derived from the contexts.
    pub mongodb: Option<MongodbSettings>,
    /// What was last known before the start, and where it is kept; without one every start begins anew.
    pub remembered: Option<RememberedFile>,
    /// The folder of compiled components; without one everything is compiled at each start.
    pub cache: Option<PathBuf>,
    /// The watched directory of interpreters.
    pub interpreters: Option<PathBuf>,
    /// Lets a file of that directory take the name of a built-in interpreter without judging all of its
    /// Kinds.
    pub replace_built_in: bool,
    /// The clusters that report, at the start.
    pub clusters: Vec<ClusterSource>,
    /// The clusters from then on, each time all of them; none where they stay as they are.
    pub cluster_changes: Option<ClusterChanges>,
    /// Time for which an object of an application that was found is listed when it is there no more; zero
    /// lists none.
    pub gone_for: Duration,
    /// The address it answers on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Hosts and origins that are allowed beside those that always are.
    pub access: Access,
    /// The wire dialect of answers to status queries that ask for none.
    pub dialect: Dialect,
    /// Limits of interpreters.
    pub interpreter_limits: kindsight_interpreter::Limits,
    /// Limits of the catalog of interpreters.
    pub catalog_limits: CatalogLimits,
    /// Limits of the REST API.
    pub rest_limits: kindsight_rest::Limits,
}

/// The clusters of a configuration as it changes.
pub type ClusterChanges = watch::Receiver<Vec<ClusterSource>>;

/// Finds a cluster that is named twice.
///
/// # Errors
/// [`Error::ClusterTwice`].
pub(crate) fn check_clusters(clusters: &[ClusterSource]) -> Result<(), Error> {
    let mut sources = BTreeMap::new();
    for cluster in clusters {
        if let Some(first) = sources.insert(cluster.name(), cluster) {
            return Err(Error::ClusterTwice {
                cluster: cluster.name().clone(),
                first: first.to_string(),
                second: cluster.to_string(),
            });
        }
    }
    Ok(())
}

impl Settings {
    /// The defaults, over one store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            contexts: Arc::clone(&store),
            store,
            mongodb: None,
            remembered: None,
            cache: None,
            interpreters: None,
            replace_built_in: false,
            clusters: Vec::new(),
            cluster_changes: None,
            gone_for: GONE_FOR,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            access: Access::default(),
            dialect: Dialect::default(),
            interpreter_limits: kindsight_interpreter::Limits::default(),
            catalog_limits: CatalogLimits::default(),
            rest_limits: kindsight_rest::Limits::default(),
        }
    }

    /// Finds what cannot be meant: a cluster that is named twice, or a limit that lets nothing through.
    ///
    /// # Errors
    /// [`Error::ClusterTwice`] and [`Error::ZeroLimit`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_clusters(&self.clusters)?;
        let limits = self.limits_of_requests().into_iter();
        let limits = limits.chain(self.limits_of_interpreters());
        let mut zeros = limits.filter(|(_, value)| *value == 0);
        zeros
            .next()
            .map_or(Ok(()), |(name, _)| Err(Error::ZeroLimit(name)))
    }

    /// Limits of the REST API by the names of their flags.
    fn limits_of_requests(&self) -> [(&'static str, u128); 19] {
        let of = &self.rest_limits;
        [
            ("interpret-bytes-max", of.interpret_bytes_max as u128),
            ("interpret-objects-max", of.interpret_objects_max as u128),
            ("interpret-requests-max", of.interpret_requests_max as u128),
            ("component-bytes-max", of.component_bytes_max as u128),
            ("catalog-json-bytes-max", of.catalog_json_bytes_max as u128),
            ("catalog-requests-max", of.catalog_requests_max as u128),
            ("catalog-seconds-max", of.catalog_time_max.as_nanos()),
            ("uri-bytes-max", of.uri_bytes_max as u128),
            ("requests-max", of.requests_max as u128),
            ("request-seconds-max", of.request_time_max.as_nanos()),
            ("bodies-bytes-max", of.bodies_bytes_max as u128),
            ("answer-bytes-max", of.answer_bytes_max as u128),
            ("answers-bytes-max", of.answers_bytes_max as u128),
            ("connections-max", of.connections_max as u128),
            ("head-seconds-max", of.head_time_max.as_nanos()),
            ("stall-seconds-max", of.stall_max.as_nanos()),
            ("transfer-rate-min", u128::from(of.transfer_rate_min)),
            ("connection-idle-seconds-max", of.idle_max.as_nanos()),
            ("drain-seconds-max", of.drain_max.as_nanos()),
        ]
    }

    /// Limits of interpreters and of their catalog by the names of their flags.
    fn limits_of_interpreters(&self) -> [(&'static str, u128); 9] {
        let of = &self.interpreter_limits;
        [
            ("call-deadline-ms", of.call_deadline.as_nanos()),
            ("memory-bytes-max", of.memory_bytes_max as u128),
            ("component-bytes-max", of.component_bytes_max as u128),
            ("parts-max", u128::from(of.parts_max)),
            ("calls-max", u128::from(of.calls_max)),
            ("idle-seconds-max", of.idle_max.as_nanos()),
            ("memo-bytes-max", of.memo_bytes_max as u128),
            ("queue-max", of.queue_max as u128),
            (
                "versions-kept-max",
                self.catalog_limits.versions_kept_max as u128,
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use kindsight_clusters::FolderCluster;
    use kindsight_store::{RedbStore, chain};

    use super::*;

    fn settings() -> Settings {
        Settings::new(Arc::new(RedbStore::in_memory().unwrap()))
    }

    #[test]
    fn a_cluster_that_is_given_twice_is_refused_with_both_sources() {
        let cluster = |folder: &str| {
            let name = "provider+edge01".parse().unwrap();
            ClusterSource::Folder(FolderCluster::new(name, folder))
        };
        let mut settings = settings();
        settings.clusters = vec![cluster("/a"), cluster("/b")];
        let error = chain(&settings.check().unwrap_err());
        for part in ["provider+edge01", "/a", "/b"] {
            assert!(error.contains(part), "{error}");
        }
        settings.clusters.pop();
        settings.check().unwrap();
    }

    #[test]
    fn a_limit_of_nothing_is_refused_with_its_name() {
        let check = |change: fn(&mut Settings), name: &str| {
            let mut settings = settings();
            change(&mut settings);
            let error = chain(&settings.check().unwrap_err());
            assert!(error.contains(&format!("`{name}` is 0")), "{error}");
        };
        check(|it| it.rest_limits.connections_max = 0, "connections-max");
        check(|it| it.interpreter_limits.queue_max = 0, "queue-max");
        check(
            |it| it.rest_limits.idle_max = Duration::ZERO,
            "connection-idle-seconds-max",
        );
    }
}
