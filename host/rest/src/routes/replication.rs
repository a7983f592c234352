//! The stream of the complete state for other hosts.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use kindsight_access::Lease;
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_api::replication::{FORMAT, MEDIA_TYPE, ReplicatedClusters, ReplicationParameters};
use kindsight_replication::{Feed, FeedScope, FeedStream};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::app::App;
use crate::caller::Sender;
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;
use crate::serve::RequestConnection;

/// State for other hosts
///
/// JSON lines without an end: first the complete state, then each change. A host with `--replica-of` reads it. The
/// lines contain the complete objects, without the content of Secrets. A slow reader gets fewer and larger differences.
/// Each stream begins with the complete state.
#[utoipa::path(
    get,
    path = "/v2/replication",
    operation_id = "replication",
    tag = "service",
    params(ReplicationParameters),
    responses(
        (status = 200, description = "The lines; gzip if the request accepts it.", body = String, content_type = "application/vnd.kindsight.replication+jsonl"),
        (status = 406, description = "The server writes another version of the format; the problem names both.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn replication(
    State(app): State<App>,
    sender: Sender,
    connection: Option<Extension<Arc<RequestConnection>>>,
    headers: HeaderMap,
    query: Result<Query<ReplicationParameters>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(parameters) = query?;
    if parameters.format != FORMAT {
        return Err(other_format(parameters.format));
    }
    let slot = app.follower(parameters.clusters)?;
    let scope = match parameters.clusters {
        ReplicatedClusters::All => FeedScope::Every,
        ReplicatedClusters::Own => FeedScope::Own,
    };
    let is_gzip = accepts_gzip(&headers);
    let stream = FollowerStream {
        feed: FeedStream::new(Feed::new(app.read_model.clone(), scope), is_gzip),
        lease: app.access.as_ref().map(|control| sender.lease(control)),
        stopping: connection.map(|Extension(connection)| connection.stopping.clone()),
        _slot: slot,
    };
    let body = Body::new(FollowerBody(Some(Box::pin(stream.next()))));
    let mut response = body.into_response();
    let head = response.headers_mut();
    head.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    head.insert(unbuffered, HeaderValue::from_static("no"));
    if is_gzip {
        head.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

fn other_format(format: u32) -> Problem {
    let detail = format!(
        "this server writes version {FORMAT} of the replication format, and the follower reads version {format}; use releases with the same version"
    );
    let problem = PartialProblem::new(
        "format",
        format!("the follower reads version {format}"),
        FORMAT.to_string(),
    );
    Problem::new(StatusCode::NOT_ACCEPTABLE, detail).with(vec![problem])
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    let accepted = accepted.filter_map(|value| value.to_str().ok());
    let mut codings = accepted.flat_map(|value| value.split(','));
    codings.any(|coding| coding.trim() == "gzip")
}

/// The stream of one follower. Ends when the rights of the user change, and when the server stops.
struct FollowerStream {
    feed: FeedStream,
    lease: Option<Lease>,
    stopping: Option<watch::Receiver<bool>>,
    _slot: OwnedSemaphorePermit,
}

impl FollowerStream {
    async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        let Self {
            feed,
            lease,
            stopping,
            ..
        } = &mut self;
        let over = async {
            match stopping {
                // The sender is gone only after the server has stopped.
                Some(stopping) => drop(stopping.wait_for(|is_stopping| *is_stopping).await),
                None => std::future::pending().await,
            }
        };
        let unentitled = async {
            match lease {
                Some(lease) => lease.ended().await,
                None => std::future::pending().await,
            }
        };
        // No further lines follow the end of the rights, even if a change waits.
        let bytes = tokio::select! {
            biased;
            () = over => None,
            () = unentitled => None,
            bytes = feed.next() => bytes,
        };
        bytes.map(|bytes| (bytes, self))
    }
}

type Making = Pin<Box<dyn Future<Output = Option<(Vec<u8>, FollowerStream)>> + Send>>;

/// The body of a stream: each chunk is made when the connection can take it. `None` at the end.
struct FollowerBody(Option<Making>);

impl HttpBody for FollowerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(making) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let made = ready!(making.as_mut().poll(cx));
        self.0 = None;
        Poll::Ready(made.map(|(bytes, stream)| {
            self.0 = Some(Box::pin(stream.next()));
            Ok(Frame::data(bytes.into()))
        }))
    }
}
