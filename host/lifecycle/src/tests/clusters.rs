//! Clusters in memory, with their observations and a placement controller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use kindsight_appcontext::{AppContexts, Deployed, Place};
use kindsight_model::{ClusterName, ContextId};
use kindsight_store::VALUE_BYTES_MAX;
use serde_json::{Value, json};

use crate::{
    Applied, CannotSend, Change, Deletion, InstalledDefinition, NotPrepared, Preparation, Preview,
    Readiness, Result, SendError, Sender, SentDefinition, SentResource, SentStatus, Target,
};

/// Called with the cluster and the name of a resource.
type Before = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Clusters in memory.
#[derive(Default)]
pub(super) struct Clusters(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    /// The manifests, by cluster, label, and name of the resource.
    pub(super) resources: BTreeMap<(String, String, String), String>,
    /// The number of calls that changed a cluster.
    pub(super) changes: usize,
    pub(super) unreachable: BTreeSet<String>,
    /// The names of resources that clusters refuse.
    pub(super) refused: BTreeSet<String>,
    /// The names of resources that clusters apply, and whose answers are lost.
    pub(super) lost: BTreeSet<String>,
    /// The names of resources that belong to another application.
    pub(super) foreign: BTreeSet<String>,
    /// The name of a resource whose live object is larger than the store permits.
    pub(super) grown: Option<String>,
    /// True if clusters do not answer when the remains of an app are removed.
    pub(super) keeps_remains: bool,
    /// The apps whose remains were removed, as `cluster app`.
    pub(super) without_remains: BTreeSet<String>,
    /// The names of resources with a finalizer.
    pub(super) finalizers: BTreeSet<String>,
    /// The resources that were sent, as `cluster name`.
    pub(super) sent: Vec<String>,
    /// The projects of the resources that were sent.
    pub(super) projects: BTreeSet<Option<String>>,
    /// The number of calls of `announce`.
    pub(super) announced: usize,
    /// The apps and resources that are ready.
    pub(super) ready: BTreeSet<String>,
    /// The generation of objects that are applied now.
    pub(super) generation: i64,
    /// The generation of the objects that are observed.
    pub(super) observed: i64,
    /// The cluster that a controller takes each new context out of.
    pub(super) left_out: Option<String>,
    /// The reason why the controller fails.
    pub(super) controller_fails: Option<NotPrepared>,
    /// The intents of the last call of the controller.
    pub(super) intents: BTreeMap<String, String>,
    /// The time of the readiness.
    pub(super) now: Duration,
    /// Called before each resource is sent or removed.
    pub(super) before: Option<Before>,
}

impl Clusters {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// `cluster resource` of every resource.
    pub(super) fn resources(&self) -> Vec<String> {
        let state = self.state();
        let keys = state.resources.keys();
        keys.map(|(cluster, _, name)| format!("{cluster} {name}"))
            .collect()
    }

    fn begin(&self, target: &Target, name: &str) -> Result<MutexGuard<'_, State>, SendError> {
        let before = self.state().before.clone();
        if let Some(before) = before {
            before(&target.cluster.to_string(), name);
        }
        let state = self.state();
        if state.unreachable.contains(&target.cluster.to_string()) {
            return Err(SendError::Unreachable("told to".to_owned()));
        }
        if state.refused.contains(name) {
            return Err(SendError::Refused("told to".to_owned()));
        }
        Ok(state)
    }
}

fn key(target: &Target, resource: &SentResource<'_>) -> (String, String, String) {
    let name = resource.name.to_owned();
    (
        target.cluster.to_string(),
        target.deployment.to_string(),
        name,
    )
}

impl Sender for Clusters {
    fn check(&self, cluster: &ClusterName) -> Result<(), CannotSend> {
        match &*cluster.name {
            "unknown" => Err(CannotSend::Unknown(cluster.clone())),
            "api" => Err(CannotSend::Unsupported {
                cluster: cluster.clone(),
                reason: "it is not a folder",
            }),
            _ => Ok(()),
        }
    }

    fn vet(&self, target: &Target, resource: &SentResource<'_>) -> Result<(), SendError> {
        let state = self.state();
        if state.unreachable.contains(&target.cluster.to_string()) {
            return Err(SendError::Unreachable("told to".to_owned()));
        }
        if state.foreign.contains(resource.name) {
            return Err(SendError::Refused("it belongs to another".to_owned()));
        }
        Ok(())
    }

    fn apply(&self, target: &Target, resource: &SentResource<'_>) -> Result<Applied, SendError> {
        let mut state = self.begin(target, resource.name)?;
        let force = if resource.force { " by force" } else { "" };
        let line = format!("{} {}{force}", target.cluster, resource.name);
        state.sent.push(line);
        state.projects.insert(target.project.clone());
        let before = state
            .resources
            .insert(key(target, resource), resource.manifest.to_owned());
        if before.as_deref() != Some(resource.manifest) {
            state.changes += 1;
        }
        if state.lost.contains(resource.name) {
            return Err(SendError::Unreachable("the answer was lost".to_owned()));
        }
        Ok(Applied {
            uid: Some(format!("uid of {}", resource.name)),
            generation: Some(state.generation),
        })
    }

    fn preview(&self, target: &Target, resource: &SentResource<'_>) -> Result<Preview, SendError> {
        let state = self.begin(target, resource.name)?;
        let manifest: Value = serde_json::from_str(resource.manifest).unwrap();
        if let Some(namespace) = manifest["metadata"]["namespace"].as_str() {
            let why = format!("the namespace `{namespace}` does not exist");
            return Err(SendError::Refused(why));
        }
        let change = match state.resources.get(&key(target, resource)) {
            None => Change::Create,
            Some(before) if before == resource.manifest => Change::Unchanged,
            Some(_) => Change::Update,
        };
        Ok(Preview {
            change,
            differences: Vec::new(),
        })
    }

    fn read(&self, target: &Target, resource: &SentResource<'_>) -> Result<String, SendError> {
        let state = self.begin(target, resource.name)?;
        let sent = state.resources.get(&key(target, resource));
        let sent = sent.ok_or_else(|| SendError::Refused("it does not exist".to_owned()))?;
        let mut object: Value = serde_json::from_str(sent).unwrap();
        object["status"] = json!({"ready": true});
        if state.grown.as_deref() == Some(resource.name) {
            object["data"] = "x".repeat(2 * VALUE_BYTES_MAX).into();
        }
        Ok(object.to_string())
    }

    fn delete(&self, target: &Target, resource: &SentResource<'_>) -> Result<Deletion, SendError> {
        let mut state = self.begin(target, resource.name)?;
        if state.finalizers.contains(resource.name) {
            let why = "it has the finalizer kept".to_owned();
            return Ok(Deletion::Deleting { why });
        }
        if state.foreign.contains(resource.name) {
            let why = "it belongs to another".to_owned();
            return Ok(Deletion::Kept { why });
        }
        if state.resources.remove(&key(target, resource)).is_some() {
            state.changes += 1;
        }
        Ok(Deletion::Deleted)
    }

    fn announce(&self, _: &Target) -> Result<(), SendError> {
        self.state().announced += 1;
        Ok(())
    }

    fn apply_status(&self, _: &SentStatus<'_>) -> Result<(), SendError> {
        Err(SendError::Refused("no group has a status".to_owned()))
    }

    fn install(&self, _: &SentDefinition<'_>) -> Result<InstalledDefinition, SendError> {
        Err(SendError::Refused("no group is a definition".to_owned()))
    }

    fn removed(&self, target: &Target) -> Result<(), SendError> {
        let mut state = self.state();
        if state.keeps_remains || state.unreachable.contains(&target.cluster.to_string()) {
            return Err(SendError::Unreachable("told to".to_owned()));
        }
        let line = format!("{} {}", target.cluster, target.deployment.app);
        state.without_remains.insert(line);
        Ok(())
    }
}

impl Readiness for Clusters {
    fn are_ready(&self, _: &ContextId, resources: &BTreeMap<Place, Deployed>) -> bool {
        let state = self.state();
        resources.iter().all(|(place, deployed)| {
            let names = [&*place.app, place.resource.name()];
            let is_named = names.iter().any(|name| state.ready.contains(*name));
            is_named && deployed.generation <= Some(state.observed)
        })
    }

    fn is_reachable(&self, cluster: &ClusterName) -> bool {
        !self.state().unreachable.contains(&cluster.to_string())
    }

    fn now(&self) -> Duration {
        self.state().now
    }
}

/// A placement controller.
pub(super) struct Controller(pub(super) AppContexts, pub(super) Arc<Clusters>);

impl Preparation for Controller {
    fn prepare(
        &self,
        instance: &ContextId,
        intents: &BTreeMap<String, String>,
    ) -> Result<(), NotPrepared> {
        let mut state = self.1.state();
        state.intents.clone_from(intents);
        if let Some(failure) = &state.controller_fails {
            return Err(failure.clone());
        }
        if let Some(cluster) = &state.left_out {
            let app = self.0.load(instance).unwrap().app("front").unwrap();
            let cluster = app.cluster(&cluster.parse().unwrap());
            cluster.unwrap().delete().unwrap();
        }
        Ok(())
    }
}
