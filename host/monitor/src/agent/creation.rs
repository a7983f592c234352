//! Creation of ResourceBundleStates for apps without one, and their deletion with the apps.
//!
//! Only a monitor that may create objects does so. Otherwise the sender decides: after it has removed an app, objects
//! with its label may exist for a while, and a report on them would make the app appear again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::{ApiRequest, ApiServer, ApiVerb};
use kindsight_model::DeploymentId;
use serde_json::json;
use tokio::time::Instant;

use super::Agent;
use crate::state_name::StateName;
use crate::write::{FIELD_MANAGER, WriteError};

/// The annotation of objects that a monitor created, and that a monitor may delete.
const CREATED: &str = "kindsight.dev/created-by-monitor";
/// Time for which an app has no object before its ResourceBundleState is deleted.
const DELETE_AFTER: Duration = Duration::from_mins(2);
/// Time before a failed creation or deletion is repeated.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// Number of creations and deletions at a time.
const CREATIONS_MAX: usize = 4;

/// ResourceBundleStates to create and to delete.
#[derive(Debug)]
pub(super) struct Creations {
    may_create: bool,
    /// Deployments that had objects in the cluster since the start. Only their end is known to this process.
    alive: BTreeSet<DeploymentId>,
    /// Deployments without an object, by the time of the creation.
    missing: BTreeMap<DeploymentId, Instant>,
    /// Deployments without objects in the cluster, with the created object and the time of its deletion.
    abandoned: BTreeMap<DeploymentId, (StateName, Instant)>,
    running: BTreeSet<DeploymentId>,
}

/// The end of a creation or deletion.
pub(super) struct Ended {
    deployment: DeploymentId,
    action: &'static str,
    result: Result<(), WriteError>,
}

impl Creations {
    pub(super) fn new(may_create: bool) -> Self {
        Self {
            may_create,
            alive: BTreeSet::new(),
            missing: BTreeMap::new(),
            abandoned: BTreeMap::new(),
            running: BTreeSet::new(),
        }
    }

    /// Takes what a report says about a deployment. `created` is its object if a monitor created it.
    pub(super) fn note(
        &mut self,
        id: &DeploymentId,
        is_recorded: bool,
        created: Option<&StateName>,
        is_empty: bool,
        now: Instant,
    ) {
        if !self.may_create {
            return;
        }
        if is_empty || is_recorded {
            self.missing.remove(id);
        } else {
            self.missing.entry(id.clone()).or_insert(now);
        }
        if !is_empty {
            self.alive.insert(id.clone());
        }
        match created.filter(|_| is_empty && self.alive.contains(id)) {
            Some(state) => {
                let at = (state.clone(), now + DELETE_AFTER);
                self.abandoned.entry(id.clone()).or_insert(at);
            }
            None => drop(self.abandoned.remove(id)),
        }
    }

    /// Notes that a deployment has an object.
    pub(super) fn settle(&mut self, id: &DeploymentId) {
        self.missing.remove(id);
    }

    /// Notes that the object of a deployment is gone.
    pub(super) fn forget(&mut self, id: &DeploymentId) {
        self.alive.remove(id);
        self.abandoned.remove(id);
    }

    /// The time of the next creation or deletion.
    pub(super) fn next_at(&self) -> Option<Instant> {
        if self.running.len() >= CREATIONS_MAX {
            return None;
        }
        let is_idle = |id: &&DeploymentId| !self.running.contains(*id);
        let missing = self.missing.iter().filter(|(id, _)| is_idle(id));
        let abandoned = self.abandoned.iter().filter(|(id, _)| is_idle(id));
        let times = missing.map(|(_, at)| *at);
        times.chain(abandoned.map(|(_, (_, at))| *at)).min()
    }
}

impl Agent {
    /// Returns whether a monitor created an object.
    pub(super) fn is_created(&mut self, state: &StateName) -> bool {
        let target = self.targets.get_mut(state);
        target.is_some_and(|target| target.annotations.contains_key(CREATED))
    }

    /// Begins the creations and deletions that are due.
    pub(super) fn begin_creations(&mut self, now: Instant) {
        if !self.targets.is_listed() {
            return;
        }
        let creations = &self.creations;
        let missing = creations.missing.iter();
        let due: Vec<DeploymentId> = missing
            .filter(|(id, at)| **at <= now && !creations.running.contains(*id))
            .map(|(id, _)| id.clone())
            .collect();
        let abandoned = creations.abandoned.iter();
        let old: Vec<(DeploymentId, StateName)> = abandoned
            .filter(|(id, (_, at))| *at <= now && !creations.running.contains(*id))
            .map(|(id, (state, _))| (id.clone(), state.clone()))
            .collect();
        for id in due {
            if self.creations.running.len() >= CREATIONS_MAX {
                return;
            }
            self.creations.running.insert(id.clone());
            let creating = create(id, Arc::clone(&self.server));
            self.creating.push(Box::pin(creating));
        }
        for (id, state) in old {
            if self.creations.running.len() >= CREATIONS_MAX {
                return;
            }
            self.creations.running.insert(id.clone());
            let target = self.targets.get_mut(&state);
            let uid = target.map(|target| Arc::clone(&target.uid));
            let uid = uid.unwrap_or_default();
            let deleting = delete(id, state, uid, Arc::clone(&self.server));
            self.creating.push(Box::pin(deleting));
        }
    }

    /// Takes the end of a creation or deletion. The watch reports the object.
    pub(super) fn end_creation(&mut self, ended: Ended) {
        let Ended {
            deployment,
            action,
            result,
        } = ended;
        self.creations.running.remove(&deployment);
        let again_at = Instant::now() + RETRY_AFTER;
        if let Some(at) = self.creations.missing.get_mut(&deployment) {
            *at = again_at;
        }
        if let Some((_, at)) = self.creations.abandoned.get_mut(&deployment) {
            *at = again_at;
        }
        match result {
            Ok(()) => tracing::info!(%deployment, "ResourceBundleState {action}"),
            Err(error) => {
                tracing::warn!(%deployment, %error, "ResourceBundleState not {action}; this is repeated");
            }
        }
    }
}

async fn create(deployment: DeploymentId, server: Arc<ApiServer>) -> Ended {
    let state = StateName::usual(&deployment);
    let labels = json!({DeploymentId::LABEL: deployment.to_string()});
    let body = json!({
        "apiVersion": "k8splugin.io/v1alpha1", "kind": "ResourceBundleState",
        "metadata": {"name": &*state.name, "namespace": &*state.namespace, "labels": labels,
            "annotations": {CREATED: "true"}},
        "spec": {"selector": {"matchLabels": labels}},
    });
    let path = format!("{}?fieldManager={FIELD_MANAGER}", state.collection());
    let result = send(&server, ApiVerb::Create, &path, &body.to_string()).await;
    let result = match result {
        // A sender created it at the same time.
        Err(WriteError::Conflict) => Ok(()),
        result => result,
    };
    Ended {
        deployment,
        action: "created",
        result,
    }
}

async fn delete(
    deployment: DeploymentId,
    state: StateName,
    uid: Arc<str>,
    server: Arc<ApiServer>,
) -> Ended {
    let body =
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": &*uid}});
    let result = send(&server, ApiVerb::Delete, &state.path(), &body.to_string()).await;
    let result = match result {
        Err(WriteError::Missing | WriteError::Conflict) => Ok(()),
        result => result,
    };
    Ended {
        deployment,
        action: "deleted",
        result,
    }
}

async fn send(server: &ApiServer, verb: ApiVerb, path: &str, body: &str) -> Result<(), WriteError> {
    let request = ApiRequest {
        verb,
        path,
        is_metadata_enough: true,
        body,
    };
    let answer = server.send(&request).await?;
    if answer.is_success() {
        Ok(())
    } else {
        Err(WriteError::of(&answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_created_for_an_app_and_deleted_two_minutes_after_it() {
        let now = Instant::now();
        let id: DeploymentId = "7-front".parse().unwrap();
        let state = StateName::usual(&id);
        let mut creations = Creations::new(true);
        creations.note(&id, false, None, false, now);
        assert_eq!(creations.next_at(), Some(now));
        creations.settle(&id);
        assert_eq!(creations.next_at(), None);
        let other: DeploymentId = "7-other".parse().unwrap();
        creations.note(&other, true, Some(&StateName::usual(&other)), true, now);
        assert_eq!(
            creations.next_at(),
            None,
            "it had no objects since the start"
        );
        creations.note(&id, true, Some(&state), true, now);
        assert_eq!(creations.next_at(), Some(now + DELETE_AFTER));
        creations.note(&id, true, Some(&state), false, now);
        assert_eq!(creations.next_at(), None, "the app has objects again");
        creations.note(&id, true, None, true, now);
        assert_eq!(creations.next_at(), None, "a sender created the object");
    }

    #[test]
    fn a_monitor_that_may_not_create_does_nothing() {
        let now = Instant::now();
        let id: DeploymentId = "7-front".parse().unwrap();
        let mut creations = Creations::new(false);
        creations.note(&id, false, None, false, now);
        creations.note(&id, true, Some(&StateName::usual(&id)), true, now);
        assert_eq!(creations.next_at(), None);
    }
}
