//! Application of an object, and the check before it.

use http::Method;
use tokio::time::Instant;

use super::failure::failure;
use super::link::{APPLY, Call, JSON, METADATA};
use super::place::Place;
use super::present::Present;
use super::status::Status;
use super::{AppliedObject, FIELD_MANAGER, ObjectError, ObjectSender, SentObject};

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
        let _lock = self.lock(&place.path).await;
        if self.check_owner(&place, object).await?.is_missing() {
            self.absent
                .note(&place.path, object.deployment, Instant::now());
        }
        Ok(())
    }

    /// Applies an object. After a CustomResourceDefinition, waits until its Kinds are served.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub async fn apply(&self, object: &SentObject<'_>) -> Result<AppliedObject, ObjectError> {
        let place = self.served_place(object).await?;
        let present = {
            let _lock = self.lock(&place.path).await;
            let now = Instant::now();
            if !self.absent.take(&place.path, object.deployment, now) {
                self.check_owner(&place, object).await?;
            }
            let reply = self.patch(&place, object, "").await?;
            Present::read(&reply)?
        };
        if place.manifest.is_custom_kind() {
            self.wait_for_kinds(&place, object).await?;
        }
        Ok(AppliedObject {
            uid: present.uid,
            generation: present.generation,
        })
    }

    /// Sends an application with further parameters. Returns the metadata of the result, or the result itself if it is a
    /// dry run.
    pub(super) async fn patch(
        &self,
        place: &Place,
        object: &SentObject<'_>,
        parameters: &str,
    ) -> Result<Vec<u8>, ObjectError> {
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
            body: Some((APPLY, object.manifest.as_bytes())),
        };
        let reply = self.link.call(&call).await?;
        let status = Status::of(&reply);
        match reply.code {
            200..300 => Ok(reply.body),
            404 if !status.is_of_missing_object() => {
                self.kinds.forget(&place.manifest);
                Err(self.unserved(&place.manifest))
            }
            _ => Err(failure(&reply, &place.manifest)),
        }
    }
}
