//! The ResourceBundleState resources of a cluster: reports that a monitor writes beside what it reports on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use kindsight_contract::Node;
use kindsight_model::{Bundle, BundleError, DeploymentId, decode_bundle};

use super::decode::{Body, Decoded};
use super::news::WatchId;

/// Group and Kind of the reports of monitors.
pub(super) const GROUP: &str = "k8splugin.io";
pub(super) const KIND: &str = "ResourceBundleState";

/// The namespace of a deployment whose `AppContext` names none.
const DEFAULT_NAMESPACE: &str = "default";

/// Hashes statuses, to recognize an unchanged one. Seeded anew in each process, since clusters choose them.
static STATUS_HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// One ResourceBundleState, as far as it was read.
#[derive(Debug)]
pub(super) struct BundleState {
    /// Time of its creation, as the API server writes it.
    created: Arc<str>,
    pub(super) content: Content,
}

/// The report of a ResourceBundleState.
#[derive(Debug)]
pub(super) enum Content {
    /// Its metadata alone was asked for.
    NotAsked,
    /// It was read, and was not told yet.
    Read(Box<Bundle>),
    /// It was told; the hash of its status.
    Told(u64),
    /// It cannot be used.
    Refused(BundleError),
}

impl BundleState {
    /// Reads the metadata of one, and its status where `json`, the whole of it, was asked for.
    pub(super) fn read(metadata: Node<'_>, json: Option<&str>) -> Self {
        let content = match json.map(|it| decode_bundle(it.as_bytes())) {
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
    STATUS_HASHER.hash_one(&*bundle.status_json)
}

/// A ResourceBundleState by its namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StateKey {
    pub(super) watch: WatchId,
    namespace: Arc<str>,
    name: Arc<str>,
}

impl StateKey {
    fn of(watch: WatchId, decoded: &Decoded) -> Self {
        Self {
            watch,
            namespace: Arc::clone(&decoded.namespace),
            name: Arc::clone(&decoded.name),
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
    /// Deployments of which one came, changed or went.
    changed: BTreeSet<DeploymentId>,
}

#[derive(Debug)]
struct Held {
    /// The last pass over its Kind that saw it.
    pass: u64,
    deployment: Arc<DeploymentId>,
    state: BundleState,
}

impl BundleStates {
    /// Takes in one, as it was seen in this pass over its Kind. One without the label of a deployment is
    /// of nobody.
    pub(super) fn apply(&mut self, watch: WatchId, pass: u64, decoded: Decoded) {
        let key = StateKey::of(watch, &decoded);
        let (Some(deployment), Body::BundleState(state)) =
            (decoded.membership.deployment, decoded.body)
        else {
            self.remove_key(&key);
            return;
        };
        let is_moved = |it: &Held| it.deployment != deployment;
        if self.states.get(&key).is_some_and(is_moved) {
            self.remove_key(&key);
        }
        let of = self.by_deployment.entry((*deployment).clone());
        of.or_default().insert(key.clone());
        self.changed.insert((*deployment).clone());
        let held = Held {
            pass,
            deployment,
            state: *state,
        };
        self.states.insert(key, held);
    }

    /// Forgets one.
    pub(super) fn remove(&mut self, watch: WatchId, decoded: &Decoded) {
        self.remove_key(&StateKey::of(watch, decoded));
    }

    /// Forgets those that this pass did not see.
    pub(super) fn sweep(&mut self, watch: WatchId, pass: u64) {
        let states = self.states.iter();
        let old = states.filter(|(key, it)| key.watch == watch && it.pass != pass);
        let old: Vec<StateKey> = old.map(|(key, _)| key.clone()).collect();
        for key in old {
            self.remove_key(&key);
        }
    }

    /// Deployments of which one came, changed or went since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<DeploymentId> {
        std::mem::take(&mut self.changed)
    }

    /// Those on a deployment. The first one counts: the one in the deployment's own namespace, else the
    /// newest, else the first by name.
    pub(super) fn of(&self, deployment: &DeploymentId, namespace: &str) -> Vec<StateKey> {
        let namespace = match namespace {
            "" => DEFAULT_NAMESPACE,
            own => own,
        };
        let keys = self.by_deployment.get(deployment);
        let mut keys: Vec<&StateKey> = keys.into_iter().flatten().collect();
        keys.sort_by_key(|key| {
            let created = self.states.get(key).map(|it| Arc::clone(&it.state.created));
            let is_elsewhere = *key.namespace != *namespace;
            (is_elsewhere, Reverse(created), (*key).clone())
        });
        keys.into_iter().cloned().collect()
    }

    pub(super) fn get_mut(&mut self, key: &StateKey) -> Option<&mut BundleState> {
        self.states.get_mut(key).map(|it| &mut it.state)
    }

    /// Returns whether one of this watch was told.
    pub(super) fn is_told_by(&self, watch: WatchId) -> bool {
        let mut states = self.states.iter().filter(|(key, _)| key.watch == watch);
        states.any(|(_, it)| matches!(it.state.content, Content::Told(_)))
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
