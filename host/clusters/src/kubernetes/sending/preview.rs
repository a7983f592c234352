//! Dry runs on the server, and reads of live objects.

use serde_json::Value;

use super::failure::failure;
use super::link::{Call, JSON};
use super::place::Place;
use super::status::Status;
use super::{ObjectError, ObjectPreview, ObjectSender, SentObject};

/// Members of `metadata` that the API server maintains.
const MAINTAINED: [&str; 4] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
];

impl ObjectSender {
    /// The object before and after an application. Changes nothing.
    ///
    /// # Errors
    /// [`ObjectError`], the same as an application would return.
    pub async fn preview(&self, object: &SentObject<'_>) -> Result<ObjectPreview, ObjectError> {
        let place = self.served_place(object).await?;
        self.check_owner(&place, object).await?;
        let before = self.content(&place, object).await?;
        let after = self.patch(&place, object, "&dryRun=All").await?;
        Ok(ObjectPreview {
            before: before
                .map(|before| content(&before, object.uid))
                .transpose()?,
            after: content(&after, None)?,
        })
    }

    /// The live object as JSON, without `managedFields`.
    ///
    /// # Errors
    /// [`ObjectError`], also if the object does not exist, belongs to another application or is a Secret.
    pub async fn read(&self, object: &SentObject<'_>) -> Result<String, ObjectError> {
        let place = self.served_place(object).await?;
        if place.manifest.is_secret() {
            let why = "a live Secret is not copied into the store";
            return Err(ObjectError::Refused(why.to_owned()));
        }
        self.check_owner(&place, object).await?;
        let json = self.content(&place, object).await?;
        let json = json.ok_or_else(|| ObjectError::Refused("it does not exist".to_owned()))?;
        let mut object = parsed(&json)?;
        let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
        if let Some(metadata) = metadata {
            metadata.remove("managedFields");
        }
        Ok(object.to_string())
    }

    /// The complete object as JSON; none if it does not exist.
    async fn content(
        &self,
        place: &Place,
        object: &SentObject<'_>,
    ) -> Result<Option<Vec<u8>>, ObjectError> {
        let account = object.rights.account.as_ref();
        let reply = self
            .link
            .call(&Call::get(&place.path, JSON, account))
            .await?;
        match reply.code {
            200..300 => Ok(Some(reply.body)),
            404 if Status::of(&reply).is_of_missing_object() => Ok(None),
            _ => Err(failure(&reply, &place.manifest)),
        }
    }
}

fn parsed(json: &[u8]) -> Result<Value, ObjectError> {
    serde_json::from_slice(json).map_err(|_| {
        ObjectError::Unreachable("the answer of the API server cannot be read".to_owned())
    })
}

/// An object without the members that no application changes. The uid stays if the applied object had another one.
fn content(json: &[u8], applied_uid: Option<&str>) -> Result<Value, ObjectError> {
    let mut object = parsed(json)?;
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        metadata.retain(|name, value| match &**name {
            "uid" => applied_uid.is_some_and(|uid| value.as_str() != Some(uid)),
            name => !MAINTAINED.contains(&name),
        });
    }
    Ok(object)
}
