//! The ResourceBundleState resources of a cluster: reports of a monitor in the cluster on its deployments.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use kindsight_cluster_index::{ApiKind, ScopeId};
use kindsight_contract::Node;
use kindsight_model::{Bundle, BundleError, DeploymentId, decode_bundle, is_label_value};

/// Group and Kind of the reports of monitors.
pub(super) const GROUP: &str = "k8splugin.io";
pub(super) const KIND: &str = "ResourceBundleState";

/// The namespace of a deployment whose `AppContext` names none.
const DEFAULT_NAMESPACE: &str = "default";

/// Hashes statuses to recognize an unchanged status. Each process has its own seed, because clusters choose the
/// statuses.
static STATUS_HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Returns whether the objects of a Kind are the reports of monitors.
pub(super) fn are(kind: &ApiKind) -> bool {
    *kind.gvk.group == *GROUP && *kind.gvk.kind == *KIND
}

/// A ResourceBundleState of a list or an event.
#[derive(Debug)]
pub(super) struct ReadState {
    namespace: Arc<str>,
    name: Arc<str>,
    /// The deployment that its label names.
    deployment: Option<Arc<DeploymentId>>,
    state: BundleState,
}

impl ReadState {
    /// Reads the metadata of a resource. `json` is the resource if the status was requested.
    pub(super) fn read(metadata: Node<'_>, json: Option<&str>) -> Self {
        let text = |member: &str| Arc::from(metadata.get(member).text_or_empty());
        let label = metadata.get("labels").get(DeploymentId::LABEL).text();
        let label = label.filter(|label| is_label_value(label));
        Self {
            namespace: text("namespace"),
            name: text("name"),
            deployment: label.and_then(|label| label.parse().ok().map(Arc::new)),
            state: BundleState::read(metadata, json),
        }
    }
}

/// The requested content of one ResourceBundleState.
#[derive(Debug)]
pub(super) struct BundleState {
    /// Time of its creation, as the API server writes it.
    created: Arc<str>,
    pub(super) content: Content,
}

/// The report of a ResourceBundleState.
#[derive(Debug)]
pub(super) enum Content {
    /// Only the metadata was requested.
    NotAsked,
    /// The status was read, and not reported yet.
    Read(Box<Bundle>),
    /// The status was reported. This is its hash.
    Reported(u64),
    /// It cannot be used.
    Refused(BundleError),
}

impl BundleState {
    /// Reads the metadata of a resource. `json` is the resource if the status was requested.
    fn read(metadata: Node<'_>, json: Option<&str>) -> Self {
        let content = match json.map(|status| decode_bundle(status.as_bytes())) {
            None => Content::NotAsked,
            Some(Ok(bundle)) => Content::Read(Box::new(bundle)),
            Some(Err(error)) => Content::Refused(error),
        };
        Self {
            created: metadata.get("creationTimestamp").text_or_empty().into(),
            content,
        }
    }
}

/// The hash of a report's status.
pub(super) fn status_hash(bundle: &Bundle) -> u64 {
    STATUS_HASHER.hash_one(&*bundle.status_json())
}

/// A ResourceBundleState by its namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StateKey {
    pub(super) watch: ScopeId,
    namespace: Arc<str>,
    name: Arc<str>,
}

impl StateKey {
    fn of(watch: ScopeId, read: &ReadState) -> Self {
        Self {
            watch,
            namespace: Arc::clone(&read.namespace),
            name: Arc::clone(&read.name),
        }
    }

    /// Its name for people.
    pub(super) fn origin(&self) -> String {
        format!("{KIND} {}/{}", self.namespace, self.name)
    }
}

/// The ResourceBundleState resources of one cluster.
#[derive(Debug, Default)]
pub(super) struct BundleStates {
    states: BTreeMap<StateKey, Held>,
    by_deployment: HashMap<DeploymentId, BTreeSet<StateKey>>,
    /// Deployments with an added, changed or removed resource.
    changed: BTreeSet<DeploymentId>,
}

#[derive(Debug)]
struct Held {
    /// The last pass over its Kind that contained it.
    pass: u64,
    deployment: Arc<DeploymentId>,
    state: BundleState,
}

impl BundleStates {
    /// Takes a resource of this pass over its Kind. A resource without the label of a deployment is ignored.
    pub(super) fn apply(&mut self, watch: ScopeId, pass: u64, read: ReadState) {
        let key = StateKey::of(watch, &read);
        let Some(deployment) = read.deployment else {
            self.remove_key(&key);
            return;
        };
        let is_moved = |held: &Held| held.deployment != deployment;
        if self.states.get(&key).is_some_and(is_moved) {
            self.remove_key(&key);
        }
        let of = self.by_deployment.entry((*deployment).clone());
        of.or_default().insert(key.clone());
        self.changed.insert((*deployment).clone());
        let held = Held {
            pass,
            deployment,
            state: read.state,
        };
        self.states.insert(key, held);
    }

    /// Removes a resource.
    pub(super) fn remove(&mut self, watch: ScopeId, read: &ReadState) {
        self.remove_key(&StateKey::of(watch, read));
    }

    /// Removes the resources that this pass did not contain.
    pub(super) fn sweep(&mut self, watch: ScopeId, pass: u64) {
        let states = self.states.iter();
        let old = states.filter(|(key, read)| key.watch == watch && read.pass != pass);
        let old: Vec<StateKey> = old.map(|(key, _)| key.clone()).collect();
        for key in old {
            self.remove_key(&key);
        }
    }

    /// Deployments with an added, changed or removed resource since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<DeploymentId> {
        std::mem::take(&mut self.changed)
    }

    /// The resources on a deployment. The first one is used: in the deployment's own namespace, else the newest,
    /// else the first by name.
    pub(super) fn of(&self, deployment: &DeploymentId, namespace: &str) -> Vec<StateKey> {
        let namespace = match namespace {
            "" => DEFAULT_NAMESPACE,
            own => own,
        };
        let keys = self.by_deployment.get(deployment);
        let mut keys: Vec<&StateKey> = keys.into_iter().flatten().collect();
        keys.sort_by_key(|key| {
            let created = self
                .states
                .get(key)
                .map(|held| Arc::clone(&held.state.created));
            let is_elsewhere = *key.namespace != *namespace;
            (is_elsewhere, Reverse(created), (*key).clone())
        });
        keys.into_iter().cloned().collect()
    }

    pub(super) fn get_mut(&mut self, key: &StateKey) -> Option<&mut BundleState> {
        self.states.get_mut(key).map(|read| &mut read.state)
    }

    /// Removes the resources of other scopes.
    pub(super) fn retain(&mut self, is_watched: impl Fn(ScopeId) -> bool) {
        let old = self.states.keys().filter(|key| !is_watched(key.watch));
        let old: Vec<StateKey> = old.cloned().collect();
        for key in old {
            self.remove_key(&key);
        }
    }

    fn remove_key(&mut self, key: &StateKey) {
        let Some(Held { deployment, .. }) = self.states.remove(key) else {
            return;
        };
        if let Some(keys) = self.by_deployment.get_mut(&*deployment) {
            keys.remove(key);
            if keys.is_empty() {
                self.by_deployment.remove(&*deployment);
            }
        }
        self.changed.insert((*deployment).clone());
    }
}
