//! Requests about resources: with impersonation, and with the reactions to refused credentials, to an overloaded server
//! and to a starting server.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request};
use tokio::time::{Instant, sleep};

use super::ObjectError;
use super::failure::paused;
use super::refusals::Refusals;
use super::status::Status;
use crate::NamespacedName;
use crate::kubernetes::Access;
use crate::kubernetes::connection::{ApiClient, ApiError, Reply};
use crate::kubernetes::kept_client::KeptClient;

/// Maximum size of an answer, in bytes. Objects of etcd have 1.5 MiB, and lists of Kinds less.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longest time that the API server can make requests wait.
const PAUSE_MAX: Duration = Duration::from_mins(2);
/// Time before a refusal is asked for again.
const CONFIRM_AFTER: Duration = Duration::from_secs(1);
/// Number of repetitions of a refused request, if the server does not say whether it has started.
const CONFIRMATIONS_MAX: usize = 3;
/// The media types of answers.
pub(super) const JSON: &str = "application/json";
/// Only the metadata, so that content of Secrets does not leave the API server.
pub(super) const METADATA: &str =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// The media type of an application on the server.
pub(super) const APPLY: &str = "application/apply-patch+yaml";

/// A request. Not `Debug`, because the body can be a Secret.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    /// The `ServiceAccount` whose rights the request has.
    pub(super) account: Option<&'a NamespacedName>,
    pub(super) accept: &'static str,
    /// The body with its media type.
    pub(super) body: Option<(&'static str, &'a [u8])>,
}

impl<'a> Call<'a> {
    /// A request for a path.
    pub(super) fn get(
        path: &'a str,
        accept: &'static str,
        account: Option<&'a NamespacedName>,
    ) -> Self {
        Self {
            method: Method::GET,
            path,
            account,
            accept,
            body: None,
        }
    }

    fn request(&self) -> Result<Request<Vec<u8>>, ObjectError> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(self.path)
            .header(ACCEPT, self.accept);
        if let Some(account) = self.account {
            let (namespace, name) = (account.namespace(), account.name());
            // The API server adds the groups of a ServiceAccount.
            let user = format!("system:serviceaccount:{namespace}:{name}");
            request = request.header("Impersonate-User", user);
        }
        let body = self.body.map_or_else(Vec::new, |(_, body)| body.to_vec());
        if let Some((media_type, _)) = self.body {
            request = request.header(CONTENT_TYPE, media_type);
        }
        let request = request.body(body);
        request.map_err(|_| ObjectError::Refused("its names cannot be a path".to_owned()))
    }
}

/// The way to an API server.
pub(super) struct Link {
    client: KeptClient,
    refusals: Refusals,
    /// The end of the time for which the server wants no requests.
    paused_until: Mutex<Option<Instant>>,
}

/// The state of a server that refused a request.
enum Readiness {
    Ready,
    Starting,
    /// The credentials do not allow the question, or the server has not loaded its rules.
    Unknown,
}

impl Link {
    pub(super) fn new(access: Access) -> Self {
        Self {
            client: KeptClient::new(access),
            refusals: Refusals::default(),
            paused_until: Mutex::default(),
        }
    }

    /// The answer to a request, with any status. A starting server refuses requests, so a refusal counts only if it is
    /// repeated, now or within the last minute.
    ///
    /// # Errors
    /// [`ObjectError::Unreachable`] if there is no answer, if the credentials are not accepted, or if the server is
    /// starting. [`ObjectError::Refused`] if the request cannot be made.
    pub(super) async fn call(&self, call: &Call<'_>) -> Result<Reply, ObjectError> {
        let mut reply = self.authenticated(call).await?;
        if needs_confirmation(&reply) && self.refusals.has(call, reply.code, Instant::now()) {
            return Ok(reply);
        }
        for _ in 0..CONFIRMATIONS_MAX {
            if !needs_confirmation(&reply) {
                break;
            }
            let readiness = self.readiness().await?;
            if matches!(readiness, Readiness::Starting) {
                let text = "the API server is starting";
                return Err(ObjectError::Unreachable(text.to_owned()));
            }
            sleep(CONFIRM_AFTER).await;
            reply = self.authenticated(call).await?;
            if matches!(readiness, Readiness::Ready) {
                break;
            }
        }
        if needs_confirmation(&reply) {
            self.refusals.note(call, reply.code, Instant::now());
        }
        Ok(reply)
    }

    /// The client of the kept connection.
    ///
    /// # Errors
    /// [`ObjectError::Unreachable`].
    pub(super) async fn client(&self) -> Result<ApiClient, ObjectError> {
        let kept = self.client.get().await.map_err(|error| failed(&error))?;
        Ok(kept.client)
    }

    async fn readiness(&self) -> Result<Readiness, ObjectError> {
        let reply = self.send(&Call::get("/readyz", "*/*", None)).await?;
        Ok(match reply.code {
            200..300 => Readiness::Ready,
            401 | 403 => Readiness::Unknown,
            _ => Readiness::Starting,
        })
    }

    /// The answer to a request. If the server refuses the credentials, they are read again once.
    async fn authenticated(&self, call: &Call<'_>) -> Result<Reply, ObjectError> {
        let mut reply = self.send(call).await?;
        if reply.code == 401 {
            self.client.forget().await;
            reply = self.send(call).await?;
        }
        if reply.code == 401 {
            self.client.forget().await;
            let text = "the API server does not accept the credentials";
            return Err(ObjectError::Unreachable(text.to_owned()));
        }
        Ok(reply)
    }

    /// The answer to a request. A connection that was lost since the last request is replaced once.
    async fn send(&self, call: &Call<'_>) -> Result<Reply, ObjectError> {
        self.check_pause()?;
        let mut reply = self.attempt(call).await?;
        if matches!(reply, Err(ApiError::Unreachable(_))) {
            reply = self.attempt(call).await?;
        }
        let reply = reply.map_err(|error| failed(&error))?;
        self.pause(&reply);
        Ok(reply)
    }

    async fn attempt(&self, call: &Call<'_>) -> Result<Result<Reply, ApiError>, ObjectError> {
        let kept = self.client.get().await.map_err(|error| failed(&error))?;
        if call.account.is_some() && kept.impersonates {
            let text = "the kubeconfig impersonates a user, so requests cannot impersonate the ServiceAccount of the project";
            return Err(ObjectError::Refused(text.to_owned()));
        }
        let reply = kept.client.call(call.request()?, ANSWER_BYTES_MAX).await;
        if reply.is_err() {
            self.client.forget().await;
        }
        Ok(reply)
    }

    fn check_pause(&self) -> Result<(), ObjectError> {
        let until = *self.paused();
        let wait = until.map(|until| until.saturating_duration_since(Instant::now()));
        match wait {
            Some(wait) if !wait.is_zero() => Err(paused(wait)),
            _ => Ok(()),
        }
    }

    /// Notes the time for which the server wants no requests.
    fn pause(&self, reply: &Reply) {
        if let Some(wait) = reply.retry_after {
            *self.paused() = Some(Instant::now() + wait.min(PAUSE_MAX));
        }
    }

    fn paused(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        let paused = self.paused_until.lock();
        paused.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a starting server could have sent the answer.
fn needs_confirmation(reply: &Reply) -> bool {
    match reply.code {
        403 => !Status::of(reply).is_of_ending_namespace(),
        404 => !Status::of(reply).is_of_missing_object(),
        _ => false,
    }
}

fn failed(error: &ApiError) -> ObjectError {
    ObjectError::Unreachable(error.to_string())
}
