//! Streams of changes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::Response;
use kindsight_access::Lease;
use kindsight_api::applications::ApplicationParameters;
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_api::status::{StatusAnswer, StatusParameters};
use kindsight_api::watch::{ApplicationsEvent, EventName, StatusEvent};
use kindsight_model::{ClusterName, RecordSubject};
use kindsight_read_model::VisibleModel;
use kindsight_status::{
    ApplicationQuery, Applications, ChangedSubject, Instance, StatusQuery, Subject, change,
};

use crate::answer::{Answers, Chunks};
use crate::app::App;
use crate::caller::{Sender, Visible};
use crate::limits::LIST_GATHER;
use crate::problem::Problem;
use crate::query_pairs::QueryPairs;
use crate::routes::errors::CommonErrors;
use crate::routes::paths::{ClusterPath, DigPath, LogicalCloudPath};
use crate::routes::status::{is_probably_small, missing, read};
use crate::stream::{Reader, Streams, Watched, write_event};

/// Status of a deployment intent group, followed
///
/// Server-sent events: first `snapshot` with the complete status, then a `change` event for each change with only
/// the changed parts. The parameters are the same as for the status.
///
/// A client that reconnects within a minute with the id of its last event in `Last-Event-ID` gets the changes
/// since that event. If the server no longer knows the event, as after a restart, the client gets a fresh
/// snapshot. Ids are opaque, and no two events have the same id. A slow reader gets fewer events with more changes
/// each. A comment is sent after 15 seconds without an event. The last event is `problem` if
/// the group, or a name to filter by, does not exist any more.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/status/watch",
    tag = "status",
    params(DigPath, StatusParameters),
    responses(
        (status = 200, description = "The events; each `data` is one line of JSON.", body = StatusEvent<'static>, content_type = "text/event-stream"),
        (status = 404, description = "The group, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn watch_status(
    path: Result<Path<DigPath>, PathRejection>,
    following: Following,
) -> Result<Response, Problem> {
    following.follow(path?.0.subject()?)
}

/// Status of a cluster's own resources, followed
///
/// Parameters and events are the same as for a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/status/watch",
    tag = "status",
    params(ClusterPath, StatusParameters),
    responses(
        (status = 200, description = "The events; each `data` is one line of JSON.", body = StatusEvent<'static>, content_type = "text/event-stream"),
        (status = 404, description = "The cluster, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn watch_cluster_status(
    path: Result<Path<ClusterPath>, PathRejection>,
    following: Following,
) -> Result<Response, Problem> {
    following.follow(path?.0.subject()?)
}

/// Status of a logical cloud, followed
///
/// Parameters and events are the same as for a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/logical-clouds/{logical-cloud}/status/watch",
    tag = "status",
    params(LogicalCloudPath, StatusParameters),
    responses(
        (status = 200, description = "The events; each `data` is one line of JSON.", body = StatusEvent<'static>, content_type = "text/event-stream"),
        (status = 404, description = "The logical cloud, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn watch_logical_cloud_status(
    path: Result<Path<LogicalCloudPath>, PathRejection>,
    following: Following,
) -> Result<Response, Problem> {
    following.follow(path?.0.subject()?)
}

/// Extractor of a request to follow a status.
pub(crate) struct Following {
    model: VisibleModel,
    lease: Option<Lease>,
    answers: Arc<Answers>,
    streams: Arc<Streams>,
    request: Parts,
}

impl FromRequestParts<App> for Following {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Visible(model) = Visible::from_request_parts(parts, app).await?;
        let sender = Sender::from_request_parts(parts, app).await?;
        Ok(Self {
            model,
            lease: app.access.as_ref().map(|control| sender.lease(control)),
            answers: Arc::clone(app.answers()),
            streams: Arc::clone(app.streams()),
            request: parts.clone(),
        })
    }
}

impl Following {
    /// Answers with the stream of the status of a subject.
    ///
    /// # Errors
    /// Names that do not exist; a query whose answer is no status; too many streams.
    fn follow(self, name: RecordSubject) -> Result<Response, Problem> {
        let query = read(QueryPairs::of(&self.request.uri))?;
        if let Some(listing) = query.listing {
            let problem = PartialProblem::new(
                listing.as_str(),
                "a list of names cannot be followed",
                "the same on the route without `/watch`",
            );
            return Err(Problem::invalid(vec![problem]));
        }
        if query.instance == Instance::List {
            let problem = PartialProblem::new(
                "instance",
                "a list of instances cannot be followed",
                "the id of an instance, or no `instance`",
            );
            return Err(Problem::invalid(vec![problem]));
        }
        let watched = WatchedStatus { name, query };
        // A name to filter by that does not exist is an error now, and not an event.
        let subject = watched.read(&self.model)?;
        subject.answer(&watched.query)?;
        self.begin(watched)
    }

    fn begin<W: Watched>(self, watched: W) -> Result<Response, Problem> {
        let reader = Reader {
            model: self.model,
            lease: self.lease,
        };
        self.streams
            .follow(reader, self.answers, watched, &self.request)
    }
}

/// Applications, followed
///
/// Server-sent events, as for the status of one application: first `snapshot` with the list, then `change` events
/// with each changed application and the names of removed applications. Changes within a quarter of a second are
/// sent together.
#[utoipa::path(
    get,
    path = "/v2/applications/watch",
    tag = "status",
    params(ApplicationParameters),
    responses(
        (status = 200, description = "The events; each `data` is one line of JSON.", body = ApplicationsEvent<'static>, content_type = "text/event-stream"),
        (status = 404, description = "No application has the name, or the cluster is not known; the problem lists similar names.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn watch_applications(
    QueryPairs(pairs): QueryPairs,
    following: Following,
) -> Result<Response, Problem> {
    let query = ApplicationQuery::parse(pairs).map_err(Problem::invalid)?;
    following.begin(WatchedApplications { query })
}

/// The status of one application, cluster or logical cloud.
struct WatchedStatus {
    name: RecordSubject,
    query: StatusQuery,
}

impl Watched for WatchedStatus {
    type State = Subject;
    const GATHER: Duration = Duration::ZERO;

    fn read(&self, model: &VisibleModel) -> Result<Subject, Problem> {
        model.subject(&self.name, &self.query).map_err(missing)
    }

    fn is_concerned_by(&self, state: &Subject, changed: &ChangedSubject) -> bool {
        state.is_concerned_by(changed)
    }

    fn follows(&self, before: &Subject, after: &Subject) -> bool {
        before.is_same_instance(after)
    }

    fn clusters(&self, state: &Subject) -> BTreeSet<ClusterName> {
        state.clusters().cloned().collect()
    }

    fn is_probably_small(&self, state: &Subject) -> bool {
        is_probably_small(state, &self.query)
    }

    fn write_snapshot(&self, state: &Subject, to: &mut Chunks) -> Result<(), Problem> {
        write_event(to, EventName::Snapshot, &state.answer(&self.query)?)
    }

    fn write_change(
        &self,
        before: &Subject,
        after: &Subject,
        to: &mut Chunks,
    ) -> Result<(), Problem> {
        let (before, after) = (before.answer(&self.query)?, after.answer(&self.query)?);
        let (StatusAnswer::Status(before), StatusAnswer::Status(after)) = (before, after) else {
            return Ok(());
        };
        match change(&before, &after) {
            Some(change) => write_event(to, EventName::Change, &change),
            None => Ok(()),
        }
    }
}

/// The list of applications.
struct WatchedApplications {
    query: ApplicationQuery,
}

impl Watched for WatchedApplications {
    type State = Applications;
    const GATHER: Duration = LIST_GATHER;

    fn read(&self, model: &VisibleModel) -> Result<Applications, Problem> {
        Ok(model.applications(&self.query)?)
    }

    fn is_concerned_by(&self, _: &Applications, changed: &ChangedSubject) -> bool {
        match changed {
            ChangedSubject::Record(subject) => matches!(subject, RecordSubject::Group(_)),
            ChangedSubject::Connection(_) => false,
            ChangedSubject::Application(_) | ChangedSubject::Store | ChangedSubject::StateStore => {
                true
            }
        }
    }

    fn follows(&self, _: &Applications, _: &Applications) -> bool {
        true
    }

    fn clusters(&self, _: &Applications) -> BTreeSet<ClusterName> {
        BTreeSet::new()
    }

    fn is_probably_small(&self, _: &Applications) -> bool {
        false
    }

    fn write_snapshot(&self, state: &Applications, to: &mut Chunks) -> Result<(), Problem> {
        write_event(to, EventName::Snapshot, &state.answer())
    }

    fn write_change(
        &self,
        before: &Applications,
        after: &Applications,
        to: &mut Chunks,
    ) -> Result<(), Problem> {
        match after.change_since(before) {
            Some(change) => write_event(to, EventName::Change, &change),
            None => Ok(()),
        }
    }
}
