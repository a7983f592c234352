//! Status queries.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use kindsight_api::emco::{
    EmcoClusterAnswer, EmcoGroupAnswer, EmcoLogicalCloudAnswer, EmcoParameters,
};
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_api::status::{Dialect, ListingParameters, StatusAnswer, StatusParameters};
use kindsight_model::{ClusterName, DigName, LogicalCloudName};
use kindsight_status::{EmcoSubject, QueryError, StatusQuery, Subject};

use crate::answer::{Answers, Chunks, RequestKey};
use crate::app::App;
use crate::caller::Visible;
use crate::dialect::dialect;
use crate::problem::Problem;
use crate::query_pairs::QueryPairs;
use crate::routes::emco::EmcoRequest;
use crate::routes::errors::CommonErrors;
use crate::routes::paths::{ClusterPath, DigPath, LogicalCloudPath, invalid_path};

/// The most placements (apps in clusters) of a query with a probably small answer: the lookup of a name in a placement
/// takes some microseconds.
const SMALL_QUERY_PLACEMENTS_MAX: usize = 64;
/// The most names to filter by of a query with a probably small answer.
const SMALL_QUERY_NAMES_MAX: usize = 8;

/// Extractor of a status query, as it was sent.
pub(crate) struct Sent {
    dialect: Dialect,
    uri: Uri,
    pairs: Vec<(String, String)>,
}

impl FromRequestParts<App> for Sent {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let QueryPairs(pairs) = QueryPairs::of(&parts.uri);
        Ok(Self {
            dialect: dialect(&parts.headers, &pairs, app.dialect),
            uri: parts.uri.clone(),
            pairs,
        })
    }
}

impl Sent {
    /// Answers in the selected dialect about the subject of this name, which `look_up` finds.
    async fn answer<N>(
        self,
        subject: EmcoSubject,
        answers: &Answers,
        name: Result<N, Vec<PartialProblem>>,
        look_up: impl FnOnce(&N, &StatusQuery) -> Result<Subject, QueryError>,
    ) -> InDialect {
        let url = self.uri.path_and_query().map_or("", PathAndQuery::as_str);
        let key = RequestKey {
            dialect: self.dialect,
            url,
        };
        InDialect(match self.dialect {
            Dialect::V22 => {
                let request = EmcoRequest {
                    key,
                    subject,
                    text: self.uri.query().unwrap_or_default(),
                    pairs: &self.pairs,
                };
                request.answer(answers, name, look_up).await
            }
            Dialect::Specification => answer(answers, key, self.pairs, name, look_up).await,
        })
    }
}

/// An answer in a dialect, which depends on the header `Accept` of its request.
pub(crate) struct InDialect(Result<Response, Problem>);

impl IntoResponse for InDialect {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        let accept = HeaderValue::from_name(header::ACCEPT);
        response.headers_mut().append(header::VARY, accept);
        response
    }
}

/// Status of a deployment intent group
///
/// With `type=rsync`, the default: the results of sending its resources to their clusters. With
/// `type=cluster`: the state of its resources as the clusters report them, including missing resources. Each level
/// (group, app, cluster) has the worst phase of its resources.
///
/// An application that was not recorded, but found in the clusters by its labels, has `-` as project and version. Its
/// default is `type=cluster`, because its resources were not sent by an orchestrator.
///
/// Answered from memory, from one consistent snapshot.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/status",
    tag = "status",
    params(DigPath, StatusParameters, ListingParameters, EmcoParameters),
    responses(
        (status = 200, description = "The status; with `instance` without a value, the instances; with `apps`, `clusters` or `resources`, names. In EMCO's newer dialect where the request or the server's configuration asks for it; its media type is `application/json` too.", content(
            (StatusAnswer<'static> = "application/json"),
            (EmcoGroupAnswer = "application/vnd.emco.v22+json"),
        )),
        (status = 404, description = "The group, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn dig_status(
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    path: Result<Path<DigPath>, PathRejection>,
    sent: Sent,
) -> Result<InDialect, Problem> {
    let name = path?.0.read();
    let look_up = |name: &DigName, query: &StatusQuery| model.dig(name, query);
    Ok(sent
        .answer(EmcoSubject::Group, &answers, name, look_up)
        .await)
}

/// Status of a cluster's own resources
///
/// The resources that were sent to the cluster itself, such as its network intents. Parameters and
/// answer are the same as for a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/status",
    tag = "status",
    params(ClusterPath, StatusParameters, ListingParameters, EmcoParameters),
    responses(
        (status = 200, description = "As for a deployment intent group.", content(
            (StatusAnswer<'static> = "application/json"),
            (EmcoClusterAnswer = "application/vnd.emco.v22+json"),
        )),
        (status = 404, description = "The cluster, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn cluster_status(
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    path: Result<Path<ClusterPath>, PathRejection>,
    sent: Sent,
) -> Result<InDialect, Problem> {
    let name = path?.0.read();
    let look_up = |name: &ClusterName, query: &StatusQuery| model.cluster(name, query);
    Ok(sent
        .answer(EmcoSubject::Cluster, &answers, name, look_up)
        .await)
}

/// Status of a logical cloud
///
/// The resources that create the logical cloud in its clusters, such as namespaces and roles. A logical cloud of level
/// 0 has none. Parameters and answer are the same as for a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/logical-clouds/{logical-cloud}/status",
    tag = "status",
    params(LogicalCloudPath, StatusParameters, ListingParameters, EmcoParameters),
    responses(
        (status = 200, description = "As for a deployment intent group.", content(
            (StatusAnswer<'static> = "application/json"),
            (EmcoLogicalCloudAnswer = "application/vnd.emco.v22+json"),
        )),
        (status = 404, description = "The logical cloud, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn logical_cloud_status(
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    path: Result<Path<LogicalCloudPath>, PathRejection>,
    sent: Sent,
) -> Result<InDialect, Problem> {
    let name = path?.0.read();
    let look_up = |name: &LogicalCloudName, query: &StatusQuery| model.logical_cloud(name, query);
    Ok(sent
        .answer(EmcoSubject::LogicalCloud, &answers, name, look_up)
        .await)
}

pub(super) fn read(QueryPairs(pairs): QueryPairs) -> Result<StatusQuery, Problem> {
    StatusQuery::parse(pairs).map_err(Problem::invalid)
}

/// The error for a subject that does not exist: its name is in the path, its instance in the query.
pub(super) fn missing(error: QueryError) -> Problem {
    let is_of_query = match &error {
        QueryError::NotFound(problems) => problems
            .iter()
            .any(|problem| problem.parameter == "instance"),
        QueryError::Invalid(_) => true,
    };
    let problem = Problem::from(error);
    if is_of_query {
        problem
    } else {
        problem.in_path()
    }
}

/// Answers in the dialect of the specification.
async fn answer<N>(
    answers: &Answers,
    key: RequestKey<'_>,
    pairs: Vec<(String, String)>,
    name: Result<N, Vec<PartialProblem>>,
    look_up: impl FnOnce(&N, &StatusQuery) -> Result<Subject, QueryError>,
) -> Result<Response, Problem> {
    let name = name.map_err(invalid_path)?;
    let query = StatusQuery::parse(pairs).map_err(Problem::invalid)?;
    let subject = look_up(&name, &query).map_err(missing)?;
    let is_small = is_probably_small(&subject, &query);
    let write = move |subject: &Subject, to: &mut Chunks| to.json(&subject.answer(&query)?);
    answers.status(key, subject, is_small, write).await
}

/// Returns whether the answer is probably small.
pub(super) fn is_probably_small(subject: &Subject, query: &StatusQuery) -> bool {
    let names = query.apps.len() + query.clusters.len() + query.resources.len();
    names <= SMALL_QUERY_NAMES_MAX && subject.placements() <= SMALL_QUERY_PLACEMENTS_MAX
}
