//! Application of an object, and the check before it.

use http::Method;
use serde_json::Value;
use tokio::time::Instant;

use super::failure::failure;
use super::link::{APPLY, Call, JSON, METADATA};
use super::place::Place;
use super::present::Present;
use super::status::Status;
use super::{AppliedObject, FIELD_MANAGER, ObjectError, ObjectSender, SentObject};
use crate::kubernetes::connection::Reply;

/// A version that no object has: an API server refuses it for an object that exists, and ignores it for a new one.
const NO_VERSION: &str = "1";

impl ObjectSender {
    /// Checks an object before anything is sent: the rights of the project, and the owner of an object that exists. A
    /// Kind that the API server does not serve may be created first, so it is no error here.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub async fn vet(&self, object: &SentObject<'_>) -> Result<(), ObjectError> {
        let Some(place) = self.permitted_place(object).await? else {
            return Ok(());
        };
        if !self.is_known_absent(&place).await {
            self.check_owner(&place, object).await?;
        }
        Ok(())
    }

    /// Returns whether the source of the cluster knows that an object does not exist, and this process has not applied it
    /// since.
    async fn is_known_absent(&self, place: &Place) -> bool {
        !self.recent.may_have(&place.path, Instant::now())
            && self.absences.has(&self.cluster, place.object_name()).await
    }

    /// Applies an object. After a CustomResourceDefinition, waits until its Kinds are served.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub async fn apply(&self, object: &SentObject<'_>) -> Result<AppliedObject, ObjectError> {
        let place = self.served_place(object).await?;
        let reply = {
            let _lock = self.lock(&place.path).await;
            let created = match object.uid {
                None => self.create(&place, object).await?,
                Some(_) => None,
            };
            let reply = if let Some(reply) = created {
                reply
            } else {
                self.check_owner(&place, object).await?;
                self.patch(&place, object, "").await?
            };
            self.recent.note(&place.path, Instant::now());
            reply
        };
        let present = Present::read(&reply)?;
        if place.manifest.is_custom_kind() {
            self.wait_for_kinds(&place, object).await?;
        }
        Ok(AppliedObject {
            uid: present.uid,
            generation: present.generation,
        })
    }

    /// Applies an object that does not exist, and returns the metadata of the result; none if the object exists. The API
    /// server decides, so no other client can create the object in between.
    async fn create(
        &self,
        place: &Place,
        object: &SentObject<'_>,
    ) -> Result<Option<Vec<u8>>, ObjectError> {
        let Some(manifest) = with_version(object.manifest) else {
            return Ok(None);
        };
        let reply = self.send(place, object, &manifest, "").await?;
        if reply.code == 409 || is_about_version(&reply) {
            return Ok(None);
        }
        self.applied(reply, place).map(Some)
    }

    /// Sends an application with further parameters. Returns the metadata of the result, or the result itself if it is a
    /// dry run.
    pub(super) async fn patch(
        &self,
        place: &Place,
        object: &SentObject<'_>,
        parameters: &str,
    ) -> Result<Vec<u8>, ObjectError> {
        let reply = self.send(place, object, object.manifest, parameters);
        self.applied(reply.await?, place)
    }

    async fn send(
        &self,
        place: &Place,
        object: &SentObject<'_>,
        manifest: &str,
        parameters: &str,
    ) -> Result<Reply, ObjectError> {
        let (path, force) = (&place.path, object.force);
        let path = format!("{path}?fieldManager={FIELD_MANAGER}&force={force}{parameters}");
        let call = Call {
            method: Method::PATCH,
            path: &path,
            account: object.rights.account.as_ref(),
            accept: if parameters.is_empty() {
                METADATA
            } else {
                JSON
            },
            body: Some((APPLY, manifest.as_bytes())),
        };
        self.link.call(&call).await
    }

    /// The body of the answer to an application.
    fn applied(&self, reply: Reply, place: &Place) -> Result<Vec<u8>, ObjectError> {
        match reply.code {
            200..300 => Ok(reply.body),
            404 if !Status::of(&reply).is_of_missing_object() => {
                self.kinds.forget(&place.manifest);
                Err(self.unserved(&place.manifest))
            }
            _ => Err(failure(&reply, &place.manifest)),
        }
    }
}

/// The manifest on the condition that its object does not exist; none if it cannot have the condition.
fn with_version(manifest: &str) -> Option<String> {
    let mut manifest: Value = serde_json::from_str(manifest).ok()?;
    let metadata = manifest.get_mut("metadata")?.as_object_mut()?;
    metadata.insert("resourceVersion".to_owned(), NO_VERSION.into());
    Some(manifest.to_string())
}

/// Returns whether an API server refuses a new object because of [`NO_VERSION`]. Those of Kubernetes do not, but an
/// aggregated one may check more.
fn is_about_version(reply: &Reply) -> bool {
    matches!(reply.code, 400 | 422) && Status::of(reply).message.contains("resourceVersion")
}
