//! Creation of ResourceBundleStates for apps without one, and their deletion with the apps.
//!
//! Only a monitor that may create objects does so. Otherwise the sender decides: after it has removed an app, objects
//! with its label may exist for a while, and a report on them would make the app appear again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::{ApiRequest, ApiServer, ApiVerb, StateMetadata};
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
/// Time before a deleted object is created again. A client that deletes the app deletes its objects in this time.
const CREATE_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// Time before a creation or deletion is repeated. It doubles with each failure.
const RETRY_FIRST: Duration = Duration::from_secs(10);
const RETRY_LONGEST: Duration = Duration::from_mins(10);
/// Number of creations and deletions at a time.
const CREATIONS_MAX: usize = 4;

/// ResourceBundleStates to create and to delete.
#[derive(Debug)]
pub(super) struct Creations {
    may_create: bool,
    /// Deployments that had objects in the cluster since the start. Only their end is known to this process.
    alive: BTreeSet<DeploymentId>,
    /// Deployments without an object, with its creation.
    missing: BTreeMap<DeploymentId, Pending>,
    /// Deployments without objects in the cluster, with the created object and its deletion.
    abandoned: BTreeMap<DeploymentId, (StateName, Pending)>,
    running: BTreeSet<DeploymentId>,
}

/// A creation or deletion.
#[derive(Debug)]
struct Pending {
    /// The time of the next attempt.
    at: Instant,
    /// Number of failed attempts since the last success.
    failures: u32,
    /// The reason of the last failure, which the log has.
    reason: Option<String>,
}

/// The end of a creation or deletion.
pub(super) struct Ended {
    deployment: DeploymentId,
    action: &'static str,
    /// True if this monitor did it; false if another client did it at the same time.
    result: Result<bool, CreationError>,
}

/// The reason why an object was not created or deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum CreationError {
    /// An object that is not about the app has the name.
    #[error(
        "the ResourceBundleState {0} exists without the label `emco/deployment-id` of the app; add the label, or delete the object"
    )]
    NameTaken(StateName),
    /// The request failed.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Pending {
    fn at(at: Instant) -> Self {
        Self {
            at,
            failures: 0,
            reason: None,
        }
    }

    /// Notes the end of an attempt. Returns whether it failed for another reason than the last attempt. After a success,
    /// the watch reports the object before the next attempt.
    fn end(&mut self, error: Option<&CreationError>, now: Instant) -> bool {
        let Some(error) = error else {
            *self = Self::at(now + RETRY_FIRST);
            return false;
        };
        let wait = RETRY_FIRST.saturating_mul(1 << self.failures.min(10));
        self.at = now + wait.min(RETRY_LONGEST);
        self.failures = self.failures.saturating_add(1);
        let reason = Some(error.to_string());
        let is_other = self.reason != reason;
        self.reason = reason;
        is_other
    }
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
            let missing = self.missing.entry(id.clone());
            missing.or_insert_with(|| Pending::at(now));
        }
        if !is_empty {
            self.alive.insert(id.clone());
        }
        match created.filter(|_| is_empty && self.alive.contains(id)) {
            Some(state) => {
                let abandoned = self.abandoned.entry(id.clone());
                abandoned.or_insert_with(|| (state.clone(), Pending::at(now + DELETE_AFTER)));
            }
            None => drop(self.abandoned.remove(id)),
        }
    }

    /// Notes that a deployment has an object.
    pub(super) fn settle(&mut self, id: &DeploymentId) {
        self.missing.remove(id);
    }

    /// Notes that the object of a deployment is gone. `is_empty` is about its last report. Returns whether the object is
    /// created again, because the app has objects.
    pub(super) fn forget(&mut self, id: &DeploymentId, is_empty: bool, now: Instant) -> bool {
        self.abandoned.remove(id);
        if is_empty || !self.may_create {
            self.alive.remove(id);
            return false;
        }
        let missing = self.missing.entry(id.clone());
        missing.or_insert_with(|| Pending::at(now + CREATE_AGAIN_AFTER));
        true
    }

    /// Forgets every app, because the source reports on another cluster.
    pub(super) fn clear(&mut self) {
        self.alive.clear();
        self.missing.clear();
        self.abandoned.clear();
    }

    /// The time of the next creation or deletion.
    pub(super) fn next_at(&self) -> Option<Instant> {
        if self.running.len() >= CREATIONS_MAX {
            return None;
        }
        let is_idle = |id: &&DeploymentId| !self.running.contains(*id);
        let missing = self.missing.iter().filter(|(id, _)| is_idle(id));
        let abandoned = self.abandoned.iter().filter(|(id, _)| is_idle(id));
        let times = missing.map(|(_, pending)| pending.at);
        let deletions = abandoned.map(|(_, (_, pending))| pending.at);
        times.chain(deletions).min()
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
            .filter(|(id, pending)| pending.at <= now && !creations.running.contains(*id))
            .map(|(id, _)| id.clone())
            .collect();
        let abandoned = creations.abandoned.iter();
        let old: Vec<(DeploymentId, StateName)> = abandoned
            .filter(|(id, (_, pending))| pending.at <= now && !creations.running.contains(*id))
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
        let Creations {
            missing,
            abandoned,
            running,
            ..
        } = &mut self.creations;
        running.remove(&deployment);
        let abandoned = abandoned.get_mut(&deployment).map(|(_, pending)| pending);
        let pending = missing.get_mut(&deployment).or(abandoned);
        let (error, now) = (result.as_ref().err(), Instant::now());
        let is_other = pending.is_some_and(|pending| pending.end(error, now));
        match result {
            Ok(true) => tracing::info!(%deployment, "ResourceBundleState {action}"),
            Ok(false) => {
                tracing::debug!(%deployment, "another client changed the ResourceBundleState; it is not {action}");
            }
            Err(error) if is_other => {
                tracing::warn!(%deployment, %error, "ResourceBundleState not {action}; this is repeated");
            }
            Err(error) => {
                tracing::debug!(%deployment, %error, "ResourceBundleState not {action}; this is repeated");
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
    let result = match send(&server, ApiVerb::Create, &path, &body.to_string()).await {
        Ok(_) => Ok(true),
        Err(WriteError::Conflict) => {
            let found = send(&server, ApiVerb::Get, &state.path(), "").await;
            found
                .map_err(CreationError::from)
                .and_then(|found| check_found(&found, &deployment, state))
        }
        Err(error) => Err(error.into()),
    };
    Ended {
        deployment,
        action: "created",
        result,
    }
}

/// Checks the object that has the name already. False means that a sender created it at the same time.
fn check_found(
    answer: &[u8],
    deployment: &DeploymentId,
    state: StateName,
) -> Result<bool, CreationError> {
    let found = StateMetadata::read(answer).and_then(|found| found.deployment);
    if found.as_ref() == Some(deployment) {
        Ok(false)
    } else {
        Err(CreationError::NameTaken(state))
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
    let result = match send(&server, ApiVerb::Delete, &state.path(), &body.to_string()).await {
        Ok(_) => Ok(true),
        Err(WriteError::Missing | WriteError::Conflict) => Ok(false),
        Err(error) => Err(error.into()),
    };
    Ended {
        deployment,
        action: "deleted",
        result,
    }
}

/// The body of a successful answer.
async fn send(
    server: &ApiServer,
    verb: ApiVerb,
    path: &str,
    body: &str,
) -> Result<Vec<u8>, WriteError> {
    let request = ApiRequest {
        verb,
        path,
        is_metadata_enough: true,
        body,
    };
    let answer = server.send(&request).await?;
    if answer.is_success() {
        Ok(answer.body)
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
    fn an_object_that_another_client_deletes_is_created_again() {
        let now = Instant::now();
        let id: DeploymentId = "7-front".parse().unwrap();
        let state = StateName::usual(&id);
        let mut creations = Creations::new(true);
        creations.note(&id, true, Some(&state), false, now);
        assert!(creations.forget(&id, false, now));
        assert_eq!(creations.next_at(), Some(now + CREATE_AGAIN_AFTER));
        // The app goes too.
        creations.note(&id, false, None, true, now);
        assert_eq!(creations.next_at(), None);
        // The created object is deleted after the app, as before.
        assert!(creations.forget(&id, false, now));
        creations.settle(&id);
        creations.note(&id, true, Some(&state), true, now);
        assert_eq!(creations.next_at(), Some(now + DELETE_AFTER));
        assert!(!creations.forget(&id, true, now), "this monitor deleted it");
        assert_eq!(creations.next_at(), None);
    }

    #[test]
    fn a_failure_is_logged_once_and_repeated_less_and_less_often() {
        let now = Instant::now();
        let mut pending = Pending::at(now);
        let taken = CreationError::NameTaken(StateName::usual(&"7-front".parse().unwrap()));
        assert!(pending.end(Some(&taken), now));
        assert_eq!(pending.at, now + RETRY_FIRST);
        assert!(!pending.end(Some(&taken), now));
        assert_eq!(pending.at, now + RETRY_FIRST * 2);
        let other = CreationError::from(WriteError::Missing);
        assert!(pending.end(Some(&other), now));
        assert!(pending.end(Some(&taken), now), "the reason changed");
        for _ in 0..20 {
            assert!(!pending.end(Some(&taken), now));
        }
        assert_eq!(pending.at, now + RETRY_LONGEST);
        assert!(!pending.end(None, now));
        assert_eq!(pending.at, now + RETRY_FIRST);
    }

    #[test]
    fn an_object_with_the_name_is_of_the_app_only_with_its_label() {
        let id: DeploymentId = "7-front".parse().unwrap();
        let state = StateName::usual(&id);
        let check = |labels: &serde_json::Value| {
            let found = json!({"metadata": {"name": "7-front", "labels": labels}});
            check_found(found.to_string().as_bytes(), &id, state.clone())
        };
        assert_eq!(check(&json!({DeploymentId::LABEL: "7-front"})), Ok(false));
        for labels in [json!({}), json!({DeploymentId::LABEL: "8-back"})] {
            let error = check(&labels).unwrap_err();
            assert_eq!(error, CreationError::NameTaken(state.clone()));
            assert!(error.to_string().contains("default/7-front"), "{error}");
        }
    }

    #[test]
    fn a_monitor_that_may_not_create_does_nothing() {
        let now = Instant::now();
        let id: DeploymentId = "7-front".parse().unwrap();
        let mut creations = Creations::new(false);
        creations.note(&id, false, None, false, now);
        creations.note(&id, true, Some(&StateName::usual(&id)), true, now);
        assert!(!creations.forget(&id, false, now));
        assert_eq!(creations.next_at(), None);
    }
}
