//! Requests of an agent in a cluster: about single objects, with the rights of its own account.

use http::Method;
use kindsight_cluster_index::ApiKind;
use kindsight_model::clean;

use super::ObjectError;
use super::link::{APPLY, Call, JSON, Link, METADATA};
use super::status::Status;
use crate::KubernetesCluster;
use crate::kubernetes::REASON_BYTES_MAX;
use crate::kubernetes::discovery::discover;
use crate::kubernetes::session::FIRST_GROUP_MAX;

/// The media type of a merge patch.
const MERGE: &str = "application/merge-patch+json";

/// The API server of a cluster, for requests about single objects.
///
/// The connection is made at the first request and kept. After `Retry-After`, requests fail until the time has passed.
/// Calls may run at the same time.
pub struct ApiServer {
    link: Link,
}

/// The action of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiVerb {
    /// Reads an object or a list.
    Get,
    /// Creates an object in a collection.
    Create,
    /// Replaces an object or a part of it.
    Replace,
    /// Changes members of an object: a JSON merge patch.
    Merge,
    /// Applies an object on the server.
    Apply,
    /// Deletes an object.
    Delete,
}

/// A request. Not `Debug`, because the body can be a Secret.
#[derive(Clone, Copy)]
pub struct ApiRequest<'a> {
    /// The action.
    pub verb: ApiVerb,
    /// The path with its query, percent-encoded.
    pub path: &'a str,
    /// True if the answer contains only the metadata of the object.
    pub is_metadata_enough: bool,
    /// The body as JSON; empty if there is no body.
    pub body: &'a str,
}

/// A complete answer, with any status. Not `Debug`, because the body can be a Secret.
pub struct ApiAnswer {
    /// The status code.
    pub code: u16,
    /// The body: at most 16 MiB.
    pub body: Vec<u8>,
    /// The message of the `Status` in the body, for people.
    pub message: String,
}

impl ApiAnswer {
    /// Returns whether the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

impl ApiServer {
    /// The API server of a cluster.
    pub fn new(cluster: &KubernetesCluster) -> Self {
        Self {
            link: Link::new(cluster.access.clone()),
        }
    }

    /// The answer to a request. A starting server refuses requests, so a refusal counts only if it is repeated.
    ///
    /// # Errors
    /// [`ObjectError::Unreachable`] if there is no answer, if the server does not accept the credentials or asks to wait.
    /// [`ObjectError::Refused`] if the path cannot be requested.
    pub async fn send(&self, request: &ApiRequest<'_>) -> Result<ApiAnswer, ObjectError> {
        let (method, media_type) = match request.verb {
            ApiVerb::Get => (Method::GET, JSON),
            ApiVerb::Create => (Method::POST, JSON),
            ApiVerb::Replace => (Method::PUT, JSON),
            ApiVerb::Merge => (Method::PATCH, MERGE),
            ApiVerb::Apply => (Method::PATCH, APPLY),
            ApiVerb::Delete => (Method::DELETE, JSON),
        };
        let has_body = !request.body.is_empty();
        let call = Call {
            method,
            path: request.path,
            account: None,
            accept: if request.is_metadata_enough {
                METADATA
            } else {
                JSON
            },
            body: has_body.then_some((media_type, request.body.as_bytes())),
        };
        let reply = self.link.call(&call).await?;
        let message = match reply.code {
            200..300 => String::new(),
            _ => clean(&Status::of(&reply).message, REASON_BYTES_MAX).into_owned(),
        };
        Ok(ApiAnswer {
            code: reply.code,
            body: reply.body,
            message,
        })
    }

    /// The Kinds that the server serves and whose objects can be listed and watched. The Kinds of an API group that does
    /// not answer within two seconds are missing.
    ///
    /// # Errors
    /// [`ObjectError::Unreachable`] if the server does not list its API groups.
    pub async fn kinds(&self) -> Result<Vec<ApiKind>, ObjectError> {
        let client = self.link.client().await?;
        let found = discover(&client, FIRST_GROUP_MAX).await;
        let found = found.map_err(|error| ObjectError::Unreachable(error.to_string()))?;
        Ok(found.kinds.into_iter().collect())
    }
}
