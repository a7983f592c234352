//! Bodies of requests: they must have the right type and size, and must be complete before a handler is called.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use kindsight_status::{clipped, one_of};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::connections::{Activity, Pace, Transfer, Wait, take_bytes};
use crate::limits::DROPPED_BYTES_MAX;
use crate::problem::Problem;
use crate::serve::RequestConnection;

/// Rules for the bodies of some routes.
#[derive(Debug, Clone)]
pub(crate) struct BodyRules {
    /// The largest, in bytes.
    pub(crate) max: usize,
    /// Media types, in lower case.
    pub(crate) types: &'static [&'static str],
    /// Permits for the bytes of all bodies in memory.
    pub(crate) bytes: Arc<Semaphore>,
    /// The minimum rate of clients that send bodies.
    pub(crate) pace: Pace,
    /// The flag of the server that raises `max`, if there is one. Errors name it.
    pub(crate) raised_by: Option<&'static str>,
}

impl BodyRules {
    /// Reads the body of a request. Returns the request with its complete body, and the permit for its bytes.
    ///
    /// The limits on concurrent requests count only requests whose bodies are complete. A slow sender therefore occupies
    /// only a connection and the received bytes, and is disconnected when connections or bytes are exhausted.
    ///
    /// # Errors
    /// A body that breaks the rules or is incomplete.
    pub(crate) async fn read(
        &self,
        request: Request,
    ) -> Result<(Request, Option<OwnedSemaphorePermit>), Problem> {
        let (parts, body) = request.into_parts();
        let (body, held) = self.read_body(&parts, body).await?;
        Ok((Request::from_parts(parts, Body::from(body)), held))
    }

    async fn read_body(
        &self,
        parts: &Parts,
        body: Body,
    ) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
        if body.is_end_stream() {
            return Ok((Bytes::new(), None));
        }
        let connection = parts.extensions.get::<Arc<RequestConnection>>();
        let is_waiting = parts.headers.contains_key(header::EXPECT);
        let mut reading = Reading {
            rules: self,
            body,
            activity: connection.map(|it| &*it.activity),
            transfer: Transfer::begin(),
        };
        // Some clients send an empty body in chunks, and then no type.
        let is_untyped = !parts.headers.contains_key(header::CONTENT_TYPE);
        if is_untyped && length(parts).is_none() && !is_waiting && reading.is_empty().await? {
            return Ok((Bytes::new(), None));
        }
        let is_too_large = length(parts).is_some_and(|length| length > self.max);
        let refused = self.check_type(parts).and(if is_too_large {
            Err(self.too_large())
        } else {
            Ok(())
        });
        if let Err(problem) = refused {
            // A client that waits to be asked for the body reads the error at once.
            if !is_waiting {
                reading.drop_rest().await;
            }
            return Err(problem);
        }
        let whole = reading.whole().await;
        if let Some(activity) = reading.activity {
            activity.work();
        }
        whole
    }

    fn too_large(&self) -> Problem {
        Problem::too_large(self.max, self.raised_by)
    }

    fn check_type(&self, parts: &Parts) -> Result<(), Problem> {
        let unsupported = |detail: String| Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
        let values = |name: HeaderName| {
            let values = parts.headers.get_all(name).iter();
            values.map(|value| {
                String::from_utf8_lossy(value.as_bytes())
                    .trim()
                    .to_lowercase()
            })
        };
        if let Some(coding) = values(header::CONTENT_ENCODING).find(|coding| coding != "identity") {
            let coding = clipped(&coding);
            return Err(unsupported(format!(
                "a body of the encoding `{coding}` is not read; send it as it is"
            )));
        }
        let mut types = values(header::CONTENT_TYPE).peekable();
        let expected = one_of(self.types);
        if types.peek().is_none() {
            return Err(unsupported(format!(
                "the body has no `Content-Type`; it has to be {expected}"
            )));
        }
        let is_right = |value: &str| {
            let essence = value.split(';').next().unwrap_or_default().trim();
            self.types.contains(&essence)
        };
        match types.find(|value| !is_right(value)) {
            None => Ok(()),
            Some(value) => Err(unsupported(format!(
                "a body of the type `{}` is not read; it has to be {expected}",
                clipped(&value)
            ))),
        }
    }
}

/// The length of the body according to the request's headers.
fn length(parts: &Parts) -> Option<usize> {
    let length = parts.headers.get(header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

/// A body that is being read.
struct Reading<'a> {
    rules: &'a BodyRules,
    body: Body,
    activity: Option<&'a Activity>,
    transfer: Transfer,
}

impl Reading<'_> {
    /// Reads until the first byte. True if the body ends before. The byte counts as dropped.
    async fn is_empty(&mut self) -> Result<bool, Problem> {
        while let Some(bytes) = self.next().await? {
            if !bytes.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn whole(&mut self) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
        let mut whole = Vec::new();
        let mut held: Option<OwnedSemaphorePermit> = None;
        while let Some(bytes) = self.next().await? {
            if whole.len().saturating_add(bytes.len()) > self.rules.max {
                drop((whole, held));
                self.drop_rest().await;
                return Err(self.rules.too_large());
            }
            let more = self.hold(bytes.len()).await?;
            match &mut held {
                None => held = Some(more),
                Some(held) => held.merge(more),
            }
            whole.extend_from_slice(&bytes);
        }
        Ok((whole.into(), held))
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            if let Some(activity) = self.activity {
                activity.body(self.transfer);
            }
            let left = self.transfer.left(&self.rules.pace);
            let body = &mut self.body;
            let frame = timeout(left, poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx))).await;
            match frame {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.transfer.moved(bytes.len(), &self.rules.pace);
                        return Ok(Some(bytes));
                    }
                }
                Ok(Some(Err(_))) => {
                    let detail = "the body ended before it was complete, or is not encoded as its headers say";
                    return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
                }
                Err(_) => {}
            }
            if !self.transfer.keeps(&self.rules.pace) {
                return Err(self.too_slow());
            }
        }
    }

    fn too_slow(&self) -> Problem {
        let (bytes, window) = (self.rules.pace.bytes_min(), self.rules.pace.window());
        let detail = format!("fewer than {bytes} bytes of the body came in {window:?}");
        Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
    }

    /// Takes `bytes` from the bytes that all bodies have in common.
    async fn hold(&mut self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let count = u32::try_from(bytes).unwrap_or(u32::MAX);
        if let Ok(held) = Arc::clone(&self.rules.bytes).try_acquire_many_owned(count) {
            return Ok(held);
        }
        if let Some(activity) = self.activity {
            // The client does not count as slow while the server has no free bytes.
            activity.work();
        }
        let held = take_bytes(&self.rules.bytes, count, self.activity, Wait::Body).await;
        self.transfer.resume();
        held.ok_or_else(Problem::busy)
    }

    /// Reads and drops the rest of a refused body.
    ///
    /// Most clients read the answer only after they have sent the complete body. Otherwise they would find a broken
    /// connection instead of the error.
    async fn drop_rest(&mut self) {
        let mut dropped: usize = 0;
        while dropped < DROPPED_BYTES_MAX
            && let Ok(Some(bytes)) = self.next().await
        {
            dropped = dropped.saturating_add(bytes.len());
        }
    }
}
