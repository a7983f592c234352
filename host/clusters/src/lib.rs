//! Reports of clusters, as a stream of events for each of them.
//!
//! ```text
//! cluster ─report─▶ ClusterSource ─ClusterEvent─▶ pipeline
//! ```
//!
//! A cluster can be an API server that is watched, [`KubernetesCluster`], a folder of report files,
//! [`FolderCluster`], or a cluster whose agent pushes its reports, [`PushedCluster`]. Every source keeps the contract
//! of [`ClusterEvent`], so the receiver of the events does not depend on the source.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod absences;
mod audits;
mod awaited;
mod confirmations;
mod event;
mod folder;
mod kubernetes;
mod needs;
mod project_rights;
mod pushed;
mod remote_inventories;
mod source;

pub use absences::Absences;
pub use audits::{AUDIT_INTERVAL, Audits};
pub use awaited::{AwaitedClusters, Awaiting};
pub use confirmations::Confirmations;
pub use event::{ClusterEvent, FACTS_EVERY};
pub use folder::{FolderCluster, ManifestFile};
pub use kindsight_cluster_index::{
    ApplicationRule, ConfiguredApp, ConfiguredApplication, RelatedKinds, RelatedRules,
    RemoteInventory,
};
pub use kubernetes::{
    ApiAnswer, ApiRequest, ApiServer, ApiVerb, AppliedObject, BareName, BareNameError,
    BundleStateEvent, BundleStateWatch, CHILD_KINDS, ConfigMapRef, ConfigMapRefError,
    ConfigMapState, ConfigMapWatch, HostSecrets, Identities, IssuedToken, KindDefinition,
    KubeconfigError, KubernetesCluster, LEFT_OUT, ListTurns, NameError, NamespacedName,
    NoHostSecrets, ObjectDeletion, ObjectError, ObjectPreview, ObjectSender, ObjectStatus,
    ObjectWatch, ProxiedService, RegisteredKubeconfig, ReviewedUser, Selection, SentObject,
    ServiceAnswer, ServiceName, StateMetadata, StatusManager, TokenReviewError, TokenReviewer,
    UserCluster, UserClusterError, WatchOptions, WatchedObjects, kubeconfig_clusters,
};
pub use needs::{Needs, Recorded, RecordedDeployment, RecordedDeployments};
pub use project_rights::{ProjectRights, Projects, RightsError, SentKind};
pub use pushed::{
    ConfirmationId, PushInlet, PushedBatch, PushedCluster, PushedClusters, PushedNeeds, SILENT_MAX,
};
pub use remote_inventories::{KubeconfigRef, KubeconfigRefError, RemoteInventories};
pub use source::{ClusterSource, ParseClusterError};
