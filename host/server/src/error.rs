//! Reasons why a server does not start, or ends early.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use kindsight_access::{AccessControlError, TlsError};
use kindsight_interpreter::{LoadError, PublishError, StartError};
use kindsight_k8splugin::InstanceSettingsError;
use kindsight_model::{ClusterName, InterpreterName, LifecycleState, NameError};
use kindsight_replication::UpstreamSettingsError;

use crate::argo_cm::ArgoCmError;
use crate::lifecycle::DeployError;
use crate::mongodb::MongodbError;

/// The reason why a server did not start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such format of log lines.
    #[error("`{0}` is not a log format; `text` and `json` are")]
    LogFormat(String),
    /// The log filter cannot be parsed.
    #[error("invalid log filter `{filter}`: {why}; try `info` or `debug`")]
    LogFilter {
        /// The filter.
        filter: String,
        /// The reason as text, because the parser's error already contains its causes.
        why: String,
    },
    /// The process logs already.
    #[error("start logging")]
    Logging(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The recorded application cannot be stored.
    #[error(transparent)]
    Application(#[from] ApplicationError),
    /// The data folder cannot be made.
    #[error("make the data folder {}", path.display())]
    DataDir {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A store cannot be opened.
    #[error("open the store {address}")]
    OpenStore {
        /// Its address.
        address: String,
        /// The reason.
        source: kindsight_store::Error,
    },
    /// The store cannot be observed.
    #[error("nothing to observe: {0}")]
    NotObserved(&'static str),
    /// The receivers of notifications cannot be used.
    #[error(transparent)]
    Notify(#[from] kindsight_notify::SettingsError),
    /// The states in a MongoDB cannot be read at all.
    #[error(transparent)]
    Mongodb(#[from] MongodbError),
    /// The files of TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The machine does not give the threads of the executor.
    #[error("start the async runtime")]
    Runtime(#[source] std::io::Error),
    /// The process cannot listen for signals.
    #[error("listen for SIGTERM and Ctrl-C")]
    Signals(#[source] std::io::Error),
    /// The machine cannot run interpreters.
    #[error(transparent)]
    Engine(#[from] StartError),
    /// An interpreter of this binary is refused.
    #[error("built-in interpreter {name}")]
    BuiltIn {
        /// Its name.
        name: &'static str,
        /// The reason.
        source: LoadError,
    },
    /// Loading an interpreter of this binary panicked.
    #[error("loading the built-in interpreter {0} panicked; the log says where")]
    BuiltInPanicked(&'static str),
    /// A cluster is given twice.
    #[error(
        "cluster {cluster} is given twice: as {} and as {}; a cluster has one source",
        first,
        second
    )]
    ClusterTwice {
        /// Its name.
        cluster: ClusterName,
        /// Its first source.
        first: String,
        /// Its second source.
        second: String,
    },
    /// Other machines reach the address, and requests would not be encrypted.
    #[error(
        "other machines reach {0}, so it needs TLS: set `tls-cert` and `tls-key`, listen on a loopback address, or set --insecure-no-tls behind a proxy that ends TLS"
    )]
    NoTls(SocketAddr),
    /// Other machines reach the address, and clients would not be authenticated.
    #[error(
        "other machines reach {0}, so it needs access control: set `roles` and `tokens` or another method, listen on a loopback address, or set --insecure-no-auth behind a proxy that authenticates every client"
    )]
    NoAccessControl(SocketAddr),
    /// Other machines reach the address, and every client could change applications.
    #[error(
        "other machines reach {0}, so --lifecycle needs access control: set `roles` and `tokens` or another method, or listen on loopback addresses only"
    )]
    OpenLifecycle(SocketAddr),
    /// rsync's server does work that the lifecycle does.
    #[error("--rsync-listen needs --lifecycle, which lets this server send resources to clusters")]
    RsyncLifecycle,
    /// The store of contexts is only read.
    #[error(
        "--rsync-listen writes into the store of the orchestrator, and --observe only reads it: set --store without --observe"
    )]
    RsyncObserves,
    /// Other machines reach the address, and every client could change applications.
    #[error(
        "other machines reach {0}, so --rsync-listen needs certificates of clients: set `tls-cert`, `tls-key`, `tls-client-ca` and `roles`, or listen on a loopback address"
    )]
    OpenRsync(SocketAddr),
    /// Other machines reach the address, and every client could read statuses.
    #[error(
        "other machines reach {0}, so --status-notify-listen needs certificates of clients: set `tls-cert`, `tls-key`, `tls-client-ca` and `roles`, or listen on a loopback address"
    )]
    OpenStatusNotify(SocketAddr),
    /// An agent cannot find the host that owns its cluster.
    #[error(
        "cluster {0} is reported by an agent, and --share-clusters cannot share such a cluster: remove its table, or start this host without --share-clusters"
    )]
    SharedPush(ClusterName),
    /// The configuration of instances is not valid.
    #[error("k8splugin")]
    K8splugin(#[from] InstanceSettingsError),
    /// The files of access control cannot be used.
    #[error("access control")]
    AccessControl(#[from] AccessControlError),
    /// A replica shows the state of one other host.
    #[error(
        "--replica-of cannot be combined with {0}: a replica shows the state of one other server"
    )]
    ReplicaWith(&'static str),
    /// The settings of the upstream host of a replica are not valid.
    #[error("--replica-of")]
    Replica(#[from] UpstreamSettingsError),
    /// A limit is zero.
    #[error("the limit `{0}` is 0, and lets nothing through: it has to be at least 1")]
    ZeroLimit(&'static str),
    /// The interpreters cannot judge together.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// A file of a component cannot be read.
    #[error("read {}", file.display())]
    ReadComponent {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The component in a file is refused.
    #[error("interpreter {} is refused: {}", file.display(), error.with_step())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The reason.
        error: LoadError,
    },
    /// Settings were given for a name that no interpreter has.
    #[error("settings are given for `{name}`, and no interpreter has that name; there are {known}")]
    NoInterpreter {
        /// The name.
        name: InterpreterName,
        /// The known names.
        known: String,
    },
    /// The settings of an interpreter do not fit.
    #[error("settings of `{name}`: {why}")]
    Settings {
        /// Its name.
        name: InterpreterName,
        /// Their problem.
        why: String,
    },
    /// The ConfigMap of Argo CD cannot be followed.
    #[error(transparent)]
    ArgoCm(#[from] ArgoCmError),
    /// The store holds a catalog that cannot be opened.
    #[error(transparent)]
    Catalog(#[from] kindsight_catalog::OpenError),
    /// The store holds contexts or records that cannot be loaded.
    #[error("load the store")]
    Load(#[source] kindsight_pipeline::Error),
    /// A step of the start panicked.
    #[error("the start panicked; the log says where")]
    StartPanicked,
    /// The store holds registrations of clusters that cannot be listed.
    #[error("list the registered clusters")]
    Registry(#[source] kindsight_appcontext::Error),
    /// The address cannot be listened on.
    #[error("listen on {address}; `--listen 127.0.0.1:0` takes a free port")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: std::io::Error,
    },
    /// Tasks did not end at the stop.
    #[error("stopped without waiting any longer, after {waited:?}, for: {tasks}")]
    Unfinished {
        /// Their names.
        tasks: String,
        /// The time they were waited for.
        waited: Duration,
    },
    /// A task ended before shutdown, and the server with it.
    #[error("the server stopped because its {task} ended")]
    Task {
        /// The task.
        task: &'static str,
        /// The reason.
        source: TaskError,
    },
}

/// The reason why a task ended early.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// It failed.
    #[error(transparent)]
    Failed(#[from] Box<dyn std::error::Error + Send + Sync>),
    /// It panicked.
    #[error("it panicked; the log says where")]
    Panicked,
    /// It ended before the stop.
    #[error("it returned, although it must run until the stop")]
    Done,
}

/// The reason why a recorded application could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum ApplicationError {
    /// It is not JSON of the right form.
    #[error("read the application")]
    Json(#[from] serde_json::Error),
    /// A later release wrote it.
    #[error("version {found} of the application; this release reads version {known}")]
    Version {
        /// Its version.
        found: u64,
        /// The version that is read.
        known: u64,
    },
    /// A name in it is not valid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It names a manifest that is missing.
    #[error("no manifest {0}")]
    NoManifest(String),
    /// It cannot be deployed.
    #[error(transparent)]
    Deploy(#[from] DeployError),
    /// One of its actions is none of a deployment.
    #[error("the application has the action {0}, which is not repeated")]
    Action(LifecycleState),
}
