//! Settings: everything a server is started with.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kindsight_aai::AaiSettings;
use kindsight_access::{AccessSettings, TlsSettings};
use kindsight_api::status::Dialect;
use kindsight_catalog::{ArtifactSource, CatalogLimits, ComponentDirectory};
use kindsight_clusters::{AUDIT_INTERVAL, ClusterSource, Projects};
use kindsight_grpc::{CONNECTIONS_MAX, Controllers};
use kindsight_k8splugin::InstanceSettings;
use kindsight_model::{ClusterName, PARSED_BYTES_MAX};
use kindsight_notify::ReceiverSettings;
use kindsight_outgoing::Destinations;
use kindsight_pipeline::{KIND_GRACE, RememberedFile, Timeouts};
use kindsight_rest::AllowedNames;
use kindsight_status_notify::LISTENER_LIMITS;
use kindsight_store::Store;
use tokio::sync::watch;

use crate::argo_cm::ArgoCm;
use crate::engine::{OnLoaded, SettingsByName};
use crate::error::Error;
use crate::mongodb::MongodbSettings;
use crate::registry::RegistrySettings;
use crate::replica::ReplicaSettings;
use crate::sharing::{self, SharingSettings};
use crate::telemetry::INSECURE;

/// Everything a server is started with. [`Settings::new`] has the defaults of `kindsight serve`, at a
/// free port of the loopback address.
pub struct Settings {
    /// Keeps records and the catalog of interpreters.
    pub store: Arc<dyn Store>,
    /// Keeps `AppContext`s: the same store by default, or the store of another orchestrator.
    pub contexts: Arc<dyn Store>,
    /// The lifecycle states that the orchestrator keeps in MongoDB. Without this setting, they are derived from the
    /// contexts.
    pub mongodb: Option<MongodbSettings>,
    /// The last-known state and its file. Without a file, every start begins without known objects.
    pub remembered: Option<RememberedFile>,
    /// The folder of compiled components; without one everything is compiled at each start.
    pub cache: Option<PathBuf>,
    /// The watched directory of interpreters.
    pub interpreters: Option<PathBuf>,
    /// The interpreters in registries and layout folders.
    pub artifacts: Option<ArtifactSource>,
    /// The chosen projects of the catalogue of rules, in a layout folder.
    pub catalogue: Option<ArtifactSource>,
    /// The ConfigMap of a running Argo CD whose health scripts are followed.
    pub argo_cm: Option<ArgoCm>,
    /// Lets a file of that directory take the name of a built-in interpreter without judging all of its
    /// Kinds.
    pub replace_built_in: bool,
    /// The settings of interpreters that the configuration declares, by name.
    pub interpreter_settings: SettingsByName,
    /// The clusters that report, at the start.
    pub clusters: Vec<ClusterSource>,
    /// Receiver of changed clusters: each value has all clusters. Without a receiver, the clusters do not change.
    pub cluster_changes: Option<ClusterChanges>,
    /// Shares the clusters with other hosts over [`Self::store`], an etcd. Without this setting, this host watches all
    /// clusters.
    pub sharing: Option<SharingSettings>,
    /// Clusters that operators register while the server runs.
    pub registry: RegistrySettings,
    /// The host whose state this server shows. Such a replica has no clusters of its own.
    pub replica_of: Option<ReplicaSettings>,
    /// Times after which waits of applications end.
    pub timeouts: Timeouts,
    /// Memory for the parsed objects of this process, in bytes; with 0, objects are parsed for each evaluation.
    pub parsed_bytes_max: usize,
    /// Time after the start of a cluster for which each Kind that it has not answered for makes its applications
    /// stale.
    pub kind_grace: Duration,
    /// Average time between two samples of the audit of watched clusters; with 0, there is no audit.
    pub audit_interval: Duration,
    /// The address it answers on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Access control; without it, every client may do everything.
    pub access: Option<AccessSettings>,
    /// Permitted ways to serve an address that is not a loopback address.
    pub insecure: Insecure,
    /// The files of TLS. Without this setting, the server speaks HTTP.
    pub tls: Option<TlsSettings>,
    /// Allowed hosts and origins, in addition to the hosts and origins that are always allowed.
    pub allowed_names: AllowedNames,
    /// Changes of groups through the REST API, and the work that they cause.
    pub lifecycle: bool,
    /// The number of instances of each group that are kept, at least 1.
    pub lifecycle_instances_kept: usize,
    /// The number of retries in succession after which the resources of an app in an unreachable cluster are Failed.
    /// `None` for no limit.
    pub lifecycle_retries_max: Option<u32>,
    /// The rights of projects whose resources are sent. A changed value has an effect on the next resource.
    pub projects: watch::Receiver<Projects>,
    /// Controllers, which change the context of each instance in [`Self::store`] before its resources are sent.
    pub controllers: Controllers,
    /// The receivers of notifications.
    pub notify: Vec<ReceiverSettings>,
    /// The destinations of requests to configured receivers.
    pub outgoing: Arc<Destinations>,
    /// The inventory A&AI, which is updated. Without this setting, nothing is sent.
    pub aai: Option<AaiSettings>,
    /// The address of rsync's gRPC server, for an orchestrator that writes into [`Self::store`]; port 0 takes a free one.
    pub rsync_listen: Option<SocketAddr>,
    /// The address of EMCO's `StatusNotify` over gRPC; port 0 takes a free one.
    pub status_notify_listen: Option<SocketAddr>,
    /// Applications in the form of ONAP's Kubernetes plugin. Without this setting, its routes are disabled.
    pub k8splugin: Option<InstanceSettings>,
    /// The wire dialect of answers to status queries that do not select a dialect.
    pub dialect: Dialect,
    /// Limits of interpreters.
    pub interpreter_limits: kindsight_interpreter::Limits,
    /// Limits of the catalog of interpreters.
    pub catalog_limits: CatalogLimits,
    /// Limits of the REST API.
    pub rest_limits: kindsight_rest::Limits,
    /// The metrics at `/metrics`.
    pub metrics: MetricsSettings,
    /// Receives the progress of the start.
    pub on_loaded: OnLoaded,
}

/// Settings of metrics.
#[derive(Debug, Clone, Default)]
pub struct MetricsSettings {
    /// An additional address that answers only `/metrics` and `/healthz`, without access control; port 0 takes a free
    /// one.
    pub listen: Option<SocketAddr>,
    /// Adds a series for each application, with its name.
    pub names_applications: bool,
}

/// Ways to serve an address that is not a loopback address, which an operator permits for a server behind a proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Insecure {
    /// Without TLS: a proxy ends TLS.
    pub no_tls: bool,
    /// Without access control: a proxy authenticates every client.
    pub no_auth: bool,
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
    /// The names of the configured clusters.
    pub(crate) fn cluster_names(&self) -> BTreeSet<ClusterName> {
        let clusters = self.clusters.iter();
        clusters.map(|cluster| cluster.name().clone()).collect()
    }

    /// The watched directory of interpreters, with the limits of its files.
    pub(crate) fn component_directory(&self) -> Option<ComponentDirectory> {
        let path = self.interpreters.clone()?;
        Some(ComponentDirectory {
            path,
            component_bytes_max: self.interpreter_limits.component_bytes_max,
            replaces_built_in: self.replace_built_in,
        })
    }

    /// The defaults, over one store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            contexts: Arc::clone(&store),
            store,
            mongodb: None,
            remembered: None,
            cache: None,
            interpreters: None,
            artifacts: None,
            catalogue: None,
            argo_cm: None,
            replace_built_in: false,
            interpreter_settings: SettingsByName::new(),
            clusters: Vec::new(),
            cluster_changes: None,
            sharing: None,
            registry: RegistrySettings::default(),
            replica_of: None,
            timeouts: Timeouts::default(),
            parsed_bytes_max: PARSED_BYTES_MAX,
            kind_grace: KIND_GRACE,
            audit_interval: AUDIT_INTERVAL,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            access: None,
            insecure: Insecure::default(),
            allowed_names: AllowedNames::default(),
            tls: None,
            lifecycle: false,
            lifecycle_instances_kept: kindsight_lifecycle::INSTANCES_KEPT,
            lifecycle_retries_max: None,
            projects: watch::channel(Projects::default()).1,
            controllers: Controllers::default(),
            notify: Vec::new(),
            outgoing: Arc::default(),
            aai: None,
            rsync_listen: None,
            status_notify_listen: None,
            k8splugin: None,
            dialect: Dialect::default(),
            interpreter_limits: kindsight_interpreter::Limits::default(),
            catalog_limits: CatalogLimits::default(),
            rest_limits: kindsight_rest::Limits::default(),
            metrics: MetricsSettings::default(),
            on_loaded: OnLoaded::default(),
        }
    }

    /// Refuses invalid settings: a cluster that is named twice, a limit of zero, or an address that other machines reach
    /// without TLS or access control.
    ///
    /// # Errors
    /// [`Error::ClusterTwice`], [`Error::ZeroLimit`], [`Error::NoTls`] and [`Error::NoAccessControl`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_clusters(&self.clusters)?;
        self.check_exposure()?;
        self.check_lifecycle()?;
        self.check_rsync()?;
        self.check_status_notify()?;
        if let Some(sharing) = &self.sharing {
            sharing::check(sharing)?;
            sharing::check_shared(&self.clusters)?;
        }
        let limits = self.limits_of_requests().into_iter();
        let limits = limits.chain(self.limits_of_interpreters());
        let mut zeros = limits.filter(|(_, value)| *value == 0);
        zeros
            .next()
            .map_or(Ok(()), |(name, _)| Err(Error::ZeroLimit(name)))
    }

    /// Warns about each permission of [`Insecure`], with each filter of the log. Called at every start.
    pub(crate) fn warn_insecure(&self) {
        let tls = if self.tls.is_some() {
            "no effect, because TLS is configured; remove the flag"
        } else {
            "requests and tokens are not encrypted"
        };
        let auth = if self.access.is_some() {
            "no effect, because access control is configured; remove the flag"
        } else {
            "every client that can connect may read and change everything"
        };
        if self.insecure.no_tls {
            tracing::warn!(target: INSECURE, "--insecure-no-tls: {tls}");
        }
        if self.insecure.no_auth {
            tracing::warn!(target: INSECURE, "--insecure-no-auth: {auth}");
        }
    }

    /// Other machines cannot reach a loopback address, so it is open unless access control is configured.
    fn check_exposure(&self) -> Result<(), Error> {
        let Self {
            listen, insecure, ..
        } = self;
        if listen.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        if self.tls.is_none() && !insecure.no_tls {
            return Err(Error::NoTls(*listen));
        }
        if self.access.is_none() && !insecure.no_auth {
            return Err(Error::NoAccessControl(*listen));
        }
        Ok(())
    }

    /// Every client may change applications without access control, so each listener must be a loopback address, also
    /// behind a proxy.
    fn check_lifecycle(&self) -> Result<(), Error> {
        if !self.lifecycle || self.access.is_some() {
            return Ok(());
        }
        let listeners = [Some(self.listen), self.metrics.listen].into_iter();
        let mut reachable = listeners
            .flatten()
            .filter(|address| !address.ip().to_canonical().is_loopback());
        reachable
            .next()
            .map_or(Ok(()), |address| Err(Error::OpenLifecycle(address)))
    }

    /// rsync's clients have no tokens. Each has a certificate, or connects from this machine.
    fn check_rsync(&self) -> Result<(), Error> {
        let Some(listen) = self.rsync_listen else {
            return Ok(());
        };
        if !self.lifecycle {
            return Err(Error::RsyncLifecycle);
        }
        if !Arc::ptr_eq(&self.contexts, &self.store) {
            return Err(Error::RsyncObserves);
        }
        if !self.grpc_has_certificates() && !listen.ip().to_canonical().is_loopback() {
            return Err(Error::OpenRsync(listen));
        }
        Ok(())
    }

    /// Each client that is notified has a certificate, or connects from this machine.
    fn check_status_notify(&self) -> Result<(), Error> {
        match self.status_notify_listen {
            Some(listen)
                if !self.grpc_has_certificates() && !listen.ip().to_canonical().is_loopback() =>
            {
                Err(Error::OpenStatusNotify(listen))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether each client of gRPC must have a certificate.
    pub(crate) fn grpc_has_certificates(&self) -> bool {
        let tls = self.tls.as_ref();
        self.access.is_some() && tls.is_some_and(|tls| tls.client_ca.is_some())
    }

    /// Maximum number of connections to the listeners of gRPC.
    pub(crate) fn grpc_connections(&self) -> usize {
        let rsync = self.rsync_listen.map_or(0, |_| CONNECTIONS_MAX);
        let notified = self
            .status_notify_listen
            .map_or(0, |_| LISTENER_LIMITS.connections_max);
        rsync + notified
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
mod tests;
