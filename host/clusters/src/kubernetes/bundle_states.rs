//! The ResourceBundleState resources of a cluster: reports of a monitor in the cluster on its deployments.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use kindsight_cluster_index::{ApiKind, ScopeId};
use kindsight_contract::Node;
use kindsight_model::{
    Bundle, BundleDocument, BundleError, DeploymentId, PART_LABEL, PartDocument, SplitBundle,
    is_label_value, read_bundle,
};

/// Group and Kind of the reports of monitors.
pub(super) const GROUP: &str = "k8splugin.io";
pub(super) const KIND: &str = "ResourceBundleState";

/// The namespace of a deployment whose `AppContext` names none.
const DEFAULT_NAMESPACE: &str = "default";

/// Maximum size of the further objects of reports that are kept for one cluster, in bytes of JSON. A report whose further
/// objects are over the limit cannot be used.
const PARTS_BYTES_MAX: usize = 64 * 1024 * 1024;

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
    role: Role,
}

/// The role of a ResourceBundleState in the report on its deployment.
#[derive(Debug)]
enum Role {
    /// It is the report, or the first object of the report.
    Report(BundleState),
    /// It is a further object of the report; `None` if its status was not requested, or cannot be read.
    Part(Option<PartDocument>),
}

impl ReadState {
    /// Reads the metadata of a resource. `json` is the resource if the status was requested.
    pub(super) fn read(metadata: Node<'_>, json: Option<&str>) -> Self {
        let text = |member: &str| Arc::from(metadata.get(member).text_or_empty());
        let label = |key: &str| metadata.get("labels").get(key).text();
        let own = label(DeploymentId::LABEL);
        let part = label(PART_LABEL).filter(|_| own.is_none());
        let deployment = own.or(part).filter(|label| is_label_value(label));
        let document = json.map(|json| read_bundle(json.as_bytes()));
        let role = if part.is_some() {
            Role::Part(match document {
                Some(Ok(BundleDocument::Part(part))) => Some(part),
                _ => None,
            })
        } else {
            Role::Report(BundleState::read(metadata, document))
        };
        Self {
            namespace: text("namespace"),
            name: text("name"),
            deployment: deployment.and_then(|label| label.parse().ok().map(Arc::new)),
            role,
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
    /// The first object of a report in several objects was read.
    Split(Box<SplitBundle>),
    /// The status was reported. This is its hash.
    Reported(u64),
    /// It cannot be used.
    Refused(BundleError),
}

impl BundleState {
    /// The content of a resource with this metadata; `document` is none if the status was not requested.
    fn read(metadata: Node<'_>, document: Option<Result<BundleDocument, BundleError>>) -> Self {
        let content = match document {
            None => Content::NotAsked,
            Some(Ok(BundleDocument::Whole(bundle))) => Content::Read(bundle),
            Some(Ok(BundleDocument::Split(split))) => Content::Split(split),
            // Its labels were read above: it is no further object.
            Some(Ok(BundleDocument::Part(_))) => Content::Refused(BundleError::NoStatus),
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
    /// Further objects of reports.
    parts: BTreeMap<StateKey, HeldPart>,
    /// The size of all kept further objects, in bytes.
    parts_bytes: usize,
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

/// A further object of a report.
#[derive(Debug)]
struct HeldPart {
    /// The last pass over its Kind that contained it.
    pass: u64,
    deployment: Arc<DeploymentId>,
    /// None if its status was not requested, cannot be read, or is over the limit.
    document: Option<PartDocument>,
}

impl HeldPart {
    fn bytes(&self) -> usize {
        self.document.as_ref().map_or(0, PartDocument::bytes)
    }
}

impl BundleStates {
    /// Takes a resource of this pass over its Kind. A resource without the label of a deployment is ignored.
    pub(super) fn apply(&mut self, watch: ScopeId, pass: u64, read: ReadState) {
        let key = StateKey::of(watch, &read);
        let Some(deployment) = read.deployment else {
            self.remove_key(&key);
            return;
        };
        match read.role {
            Role::Report(state) => self.apply_report(key, pass, deployment, state),
            Role::Part(document) => {
                self.remove_key(&key);
                self.apply_part(key, pass, deployment, document);
            }
        }
    }

    fn apply_part(
        &mut self,
        key: StateKey,
        pass: u64,
        deployment: Arc<DeploymentId>,
        document: Option<PartDocument>,
    ) {
        let space = PARTS_BYTES_MAX.saturating_sub(self.parts_bytes);
        let document = document.filter(|document| document.bytes() <= space);
        self.changed.insert((*deployment).clone());
        let part = HeldPart {
            pass,
            deployment,
            document,
        };
        self.parts_bytes += part.bytes();
        self.parts.insert(key, part);
    }

    fn apply_report(
        &mut self,
        key: StateKey,
        pass: u64,
        deployment: Arc<DeploymentId>,
        state: BundleState,
    ) {
        self.remove_part(&key);
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
            state,
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
        let parts = self.parts.iter();
        let parts = parts.filter(|(key, read)| key.watch == watch && read.pass != pass);
        let old = old.map(|(key, _)| key).chain(parts.map(|(key, _)| key));
        let old: Vec<StateKey> = old.cloned().collect();
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

    /// The scopes with resources.
    pub(super) fn scopes(&self) -> BTreeSet<ScopeId> {
        let keys = self.states.keys().chain(self.parts.keys());
        keys.map(|key| key.watch).collect()
    }

    /// Removes the resources of other scopes.
    pub(super) fn retain(&mut self, is_watched: impl Fn(ScopeId) -> bool) {
        let keys = self.states.keys().chain(self.parts.keys());
        let old = keys.filter(|key| !is_watched(key.watch));
        let old: Vec<StateKey> = old.cloned().collect();
        for key in old {
            self.remove_key(&key);
        }
    }

    /// Completes a report in several objects. A complete report becomes [`Content::Read`], and one with a fault of its
    /// own [`Content::Refused`].
    ///
    /// # Errors
    /// [`BundleError::Torn`] while its objects do not belong together.
    pub(super) fn join(&mut self, key: &StateKey) -> Result<(), BundleError> {
        let Some(held) = self.states.get_mut(key) else {
            return Ok(());
        };
        let Content::Split(split) = &held.state.content else {
            return Ok(());
        };
        let part = |name: &str| {
            let key = StateKey {
                name: name.into(),
                ..key.clone()
            };
            self.parts.get(&key)?.document.as_ref()
        };
        held.state.content = match split.join(part) {
            Ok(bundle) => Content::Read(Box::new(bundle)),
            Err(error @ BundleError::Torn(_)) => return Err(error),
            Err(error) => Content::Refused(error),
        };
        Ok(())
    }

    fn remove_part(&mut self, key: &StateKey) {
        if let Some(part) = self.parts.remove(key) {
            self.parts_bytes -= part.bytes();
            self.changed.insert((*part.deployment).clone());
        }
    }

    fn remove_key(&mut self, key: &StateKey) {
        self.remove_part(key);
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
