//! Waiting for the Kinds of a CustomResourceDefinition: the API server serves them some time after the application.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_model::clean;
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use super::failure::failure;
use super::link::{Call, JSON};
use super::manifest::Manifest;
use super::place::Place;
use super::{ObjectError, ObjectSender, SentObject};
use crate::kubernetes::REASON_BYTES_MAX;

/// Maximum time for one call to wait until the API server has established a CustomResourceDefinition.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(10);
/// Interval at which the CustomResourceDefinition is requested meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Time after the application of a CustomResourceDefinition for which its Kinds are awaited.
const AWAITED_FOR: Duration = Duration::from_mins(1);

/// Groups whose Kinds are awaited, with the end of the time.
#[derive(Default)]
pub(super) struct AwaitedGroups(Mutex<BTreeMap<String, Instant>>);

impl AwaitedGroups {
    fn add(&self, group: &str) {
        let now = Instant::now();
        let mut groups = self.groups();
        groups.retain(|_, until| *until > now);
        groups.insert(group.to_owned(), now + AWAITED_FOR);
    }

    /// Returns whether Kinds of a group are awaited.
    pub(super) fn has(&self, group: &str) -> bool {
        let until = self.groups().get(group).copied();
        until.is_some_and(|until| until > Instant::now())
    }

    fn groups(&self) -> MutexGuard<'_, BTreeMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The members of a CustomResourceDefinition that are read.
#[derive(Deserialize)]
struct Definition {
    spec: Spec,
    #[serde(default)]
    status: State,
}

#[derive(Deserialize)]
struct Spec {
    group: String,
    names: Names,
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Names {
    kind: String,
}

#[derive(Deserialize)]
struct Version {
    name: String,
    served: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct State {
    /// `null` right after the creation.
    conditions: Option<Vec<Condition>>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: String,
    status: String,
    #[serde(default)]
    message: String,
}

impl State {
    fn condition(&self, name: &str) -> Option<&Condition> {
        let mut conditions = self.conditions.iter().flatten();
        conditions.find(|condition| condition.r#type == name)
    }
}

impl ObjectSender {
    /// Waits until the API server serves each Kind of a CustomResourceDefinition.
    ///
    /// # Errors
    /// [`ObjectError::Refused`] if the names are taken, and [`ObjectError::Unreachable`] if it takes too long.
    pub(super) async fn wait_for_kinds(
        &self,
        place: &Place,
        object: &SentObject<'_>,
    ) -> Result<(), ObjectError> {
        let account = object.rights.account.as_ref();
        let until = Instant::now() + ESTABLISHED_WITHIN;
        loop {
            let reply = self
                .link
                .call(&Call::get(&place.path, JSON, account))
                .await?;
            if !(200..300).contains(&reply.code) {
                return Err(failure(&reply, &place.manifest));
            }
            let read = serde_json::from_slice::<Definition>(&reply.body);
            let definition = read.map_err(|error| {
                ObjectError::Unreachable(format!("the definition cannot be read: {error}"))
            })?;
            self.awaited.add(&definition.spec.group);
            if self.is_served(&definition).await? {
                return Ok(());
            }
            if Instant::now() >= until {
                let seconds = ESTABLISHED_WITHIN.as_secs();
                let text = format!("the API server did not establish the Kind in {seconds} s");
                return Err(ObjectError::Unreachable(text));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Returns whether the API server serves every version of a definition.
    ///
    /// # Errors
    /// Another definition has its names.
    async fn is_served(&self, definition: &Definition) -> Result<bool, ObjectError> {
        let state = &definition.status;
        if let Some(taken) = state.condition("NamesAccepted")
            && taken.status == "False"
        {
            let text = format!("the names of the Kind are not accepted: {}", taken.message);
            let text = clean(&text, REASON_BYTES_MAX).into_owned();
            return Err(ObjectError::Refused(text));
        }
        let established = state.condition("Established");
        if established.is_none_or(|condition| condition.status != "True") {
            return Ok(false);
        }
        let spec = &definition.spec;
        for version in spec.versions.iter().filter(|it| it.served) {
            let manifest = Manifest {
                group: spec.group.clone(),
                version: version.name.clone(),
                kind: spec.names.kind.clone(),
                namespace: None,
                name: String::new(),
            };
            if self.kinds.of(&self.link, &manifest).await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
