//! The metadata of an object that exists, and its owner.

use std::collections::BTreeMap;

use kindsight_model::{DeploymentId, clean};
use serde::Deserialize;

use super::failure::failure;
use super::link::{Call, METADATA};
use super::place::Place;
use super::status::Status;
use super::{FIELD_MANAGER, ObjectError, ObjectSender, SentObject};
use crate::kubernetes::REASON_BYTES_MAX;

/// Maximum number of finalizers in a text.
const FINALIZERS_MAX: usize = 10;

/// The answer to a question for an object.
pub(super) enum Lookup {
    Present(Present),
    Missing,
    /// The server does not serve the version of the Kind any more.
    Unserved,
}

/// The metadata of an object that exists.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Present {
    pub(super) uid: String,
    pub(super) generation: Option<i64>,
    labels: BTreeMap<String, String>,
    finalizers: Vec<String>,
    deletion_timestamp: Option<String>,
    managed_fields: Vec<ManagedFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ManagedFields {
    manager: String,
    operation: String,
    subresource: String,
}

impl ObjectSender {
    /// Looks up the metadata of an object.
    ///
    /// # Errors
    /// The server does not answer, or does not allow to read the object.
    pub(super) async fn look_up(
        &self,
        place: &Place,
        object: &SentObject<'_>,
    ) -> Result<Lookup, ObjectError> {
        let account = object.rights.account.as_ref();
        let call = Call::get(&place.path, METADATA, account);
        let reply = self.link.call(&call).await?;
        match reply.code {
            200..300 => Present::read(&reply.body).map(Lookup::Present),
            404 if Status::of(&reply).is_of_missing_object() => Ok(Lookup::Missing),
            404 => {
                self.kinds.forget(&place.manifest);
                Ok(Lookup::Unserved)
            }
            _ => Err(failure(&reply, &place.manifest)),
        }
    }

    /// Refuses an object of another application.
    ///
    /// # Errors
    /// [`ObjectError::Refused`] with the other application, and [`ObjectError::Unreachable`] while the object is being
    /// deleted.
    pub(super) async fn check_owner(
        &self,
        place: &Place,
        object: &SentObject<'_>,
    ) -> Result<(), ObjectError> {
        let Lookup::Present(present) = self.look_up(place, object).await? else {
            return Ok(());
        };
        if present.is_ending() {
            return Err(ObjectError::Unreachable(present.ending()));
        }
        match present.other_application(object.deployment) {
            Some(why) => Err(ObjectError::Refused(why)),
            None => Ok(()),
        }
    }
}

impl Present {
    /// Reads the metadata in the answer of the API server.
    ///
    /// # Errors
    /// [`ObjectError::Unreachable`] without content of the answer.
    pub(super) fn read(body: &[u8]) -> Result<Self, ObjectError> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Present,
        }
        let read: Result<Object, _> = serde_json::from_slice(body);
        let read = read.map(|object| object.metadata);
        read.map_err(|_| {
            ObjectError::Unreachable("the answer of the API server cannot be read".to_owned())
        })
    }

    /// Returns whether the object is being deleted.
    pub(super) fn is_ending(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The reason why the object still exists although it is being deleted.
    pub(super) fn ending(&self) -> String {
        let finalizers = self.finalizers.iter().take(FINALIZERS_MAX);
        let finalizers: Vec<String> = finalizers
            .map(|finalizer| format!("`{finalizer}`"))
            .collect();
        let text = match &*finalizers {
            [] => "the object is being deleted".to_owned(),
            [finalizer] => {
                format!("the object is being deleted and waits for its finalizer {finalizer}")
            }
            finalizers => format!(
                "the object is being deleted and waits for its finalizers {}",
                finalizers.join(", ")
            ),
        };
        clean(&text, REASON_BYTES_MAX).into_owned()
    }

    /// The reason why the object belongs to another application; none without another label.
    fn other_application(&self, deployment: &DeploymentId) -> Option<String> {
        let label = self.labels.get(DeploymentId::LABEL)?;
        (*label != deployment.to_string()).then(|| {
            let key = DeploymentId::LABEL;
            let text = format!(
                "the object belongs to another application: its label `{key}` is `{label}`"
            );
            clean(&text, REASON_BYTES_MAX).into_owned()
        })
    }

    /// The reason why the object does not belong to a deployment; none if it does.
    pub(super) fn other_owner(&self, object: &SentObject<'_>) -> Option<String> {
        if let Some(why) = self.other_application(object.deployment) {
            return Some(why);
        }
        if !self.labels.contains_key(DeploymentId::LABEL) {
            let key = DeploymentId::LABEL;
            return Some(format!("the object does not have the label `{key}`"));
        }
        if object.uid.is_some_and(|uid| uid != self.uid) {
            let text = "another client deleted the applied object and created a new one";
            return Some(text.to_owned());
        }
        let is_applied = self.managed_fields.iter().any(|fields| {
            fields.manager == FIELD_MANAGER
                && fields.operation == "Apply"
                && fields.subresource.is_empty()
        });
        let text = "the manager `kindsight` owns no field of the object";
        (!is_applied).then(|| text.to_owned())
    }
}
