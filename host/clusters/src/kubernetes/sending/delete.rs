//! Deletion of an object in the foreground: its dependents are deleted first.

use std::time::Duration;

use http::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::failure::failure;
use super::link::{Call, JSON};
use super::place::Place;
use super::present::{Lookup, Present};
use super::{ObjectDeletion, ObjectError, ObjectSender, SentObject};

/// Maximum time for one call to wait for the end of a deletion. Most deletions take some milliseconds.
const DELETED_WITHIN: Duration = Duration::from_secs(2);
/// Interval at which the object is requested meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl ObjectSender {
    /// Deletes an object if it belongs to its deployment. Of a Kind that is not served, no object exists.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub async fn delete(&self, object: &SentObject<'_>) -> Result<ObjectDeletion, ObjectError> {
        // The second attempt uses another version of the Kind, if the server has removed a version.
        for _ in 0..2 {
            let Some(place) = self.place(object).await? else {
                return Ok(ObjectDeletion::Deleted);
            };
            let _lock = self.lock(&place.path).await;
            match self.look_up(&place, object).await? {
                Lookup::Present(present) => return self.remove(&place, object, &present).await,
                Lookup::Missing => return Ok(ObjectDeletion::Deleted),
                Lookup::Unserved => {}
            }
        }
        Ok(ObjectDeletion::Deleted)
    }

    /// Deletes an object that exists.
    async fn remove(
        &self,
        place: &Place,
        object: &SentObject<'_>,
        present: &Present,
    ) -> Result<ObjectDeletion, ObjectError> {
        if let Some(why) = present.other_owner(object) {
            return Ok(ObjectDeletion::Kept(why));
        }
        if !present.is_ending() {
            self.begin_deletion(place, object, present).await?;
        }
        self.deleted(place, object, &present.uid).await
    }

    /// Has the server begin the deletion of the object that was checked.
    async fn begin_deletion(
        &self,
        place: &Place,
        object: &SentObject<'_>,
        present: &Present,
    ) -> Result<(), ObjectError> {
        let options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
            "preconditions": {"uid": present.uid},
        });
        let options = options.to_string();
        let call = Call {
            method: Method::DELETE,
            path: &place.path,
            account: object.rights.account.as_ref(),
            accept: JSON,
            body: Some((JSON, options.as_bytes())),
        };
        let reply = self.link.call(&call).await?;
        match reply.code {
            200..300 | 404 => Ok(()),
            _ => Err(failure(&reply, &place.manifest)),
        }
    }

    /// Waits for a short time until the object with a uid is gone.
    async fn deleted(
        &self,
        place: &Place,
        object: &SentObject<'_>,
        uid: &str,
    ) -> Result<ObjectDeletion, ObjectError> {
        let until = Instant::now() + DELETED_WITHIN;
        loop {
            let present = match self.look_up(place, object).await? {
                Lookup::Present(present) if present.uid == uid => present,
                _ => return Ok(ObjectDeletion::Deleted),
            };
            if Instant::now() >= until {
                return Ok(ObjectDeletion::Deleting(present.ending()));
            }
            sleep(LOOK_EVERY).await;
        }
    }
}
