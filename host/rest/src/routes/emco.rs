//! Status queries in EMCO's newer dialect.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kindsight_api::problem::PartialProblem;
use kindsight_model::clean;
use kindsight_status::{EmcoError, EmcoQuery, EmcoSubject, QueryError, StatusQuery, Subject};

use crate::answer::{Answers, Chunks, RequestKey};
use crate::problem::Problem;
use crate::routes::status::is_probably_small;

/// The header for staleness, because the answers of this dialect have no member for it.
const WARNING: HeaderName = HeaderName::from_static("warning");
/// The longest text of an error in EMCO's newer dialect, in bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// The longest text in the header `Warning`, in characters.
const WARNING_CHARS_MAX: usize = 300;

/// A status query in EMCO's newer dialect.
pub(super) struct EmcoRequest<'r> {
    pub(super) key: RequestKey<'r>,
    pub(super) subject: EmcoSubject,
    /// The query as it is in the URL.
    pub(super) text: &'r str,
    pub(super) pairs: &'r [(String, String)],
}

impl EmcoRequest<'_> {
    /// Answers the query about the subject of this name, which `look_up` finds.
    ///
    /// # Errors
    /// Faults of the server. Errors of the query are answered as text.
    pub(super) async fn answer<N>(
        self,
        answers: &Answers,
        name: Result<N, Vec<PartialProblem>>,
        look_up: impl FnOnce(&N, &StatusQuery) -> Result<Subject, QueryError>,
    ) -> Result<Response, Problem> {
        let (kind, key) = (self.subject, self.key);
        match self.found(name, look_up) {
            Ok((subject, query)) => written(answers, key, subject, query).await,
            Err(error) => Ok(refusal(kind, &error)),
        }
    }

    fn found<N>(
        self,
        name: Result<N, Vec<PartialProblem>>,
        look_up: impl FnOnce(&N, &StatusQuery) -> Result<Subject, QueryError>,
    ) -> Result<(Subject, EmcoQuery), EmcoError> {
        let query = EmcoQuery::parse(self.subject, self.text, self.pairs)?;
        let name = name.map_err(|problems| query.no_name(&problems))?;
        let subject = look_up(&name, &query.selection).map_err(|error| query.missing(error))?;
        subject.emco_check(&query)?;
        Ok((subject, query))
    }
}

async fn written(
    answers: &Answers,
    key: RequestKey<'_>,
    subject: Subject,
    query: EmcoQuery,
) -> Result<Response, Problem> {
    let is_small = is_probably_small(&subject, &query.selection);
    let warning = subject
        .emco_staleness(&query)
        .and_then(|stale| warning(&stale.reason));
    let kind = query.subject;
    let write = move |subject: &Subject, to: &mut Chunks| match subject.emco_answer(&query) {
        Ok(answer) => to.go_json(&answer),
        // The query was checked before against the same subject.
        Err(error) => Err(Problem::new(status_of(kind, &error), error.to_string())),
    };
    let mut response = answers.status(key, subject, is_small, write).await?;
    if let Some(warning) = warning {
        response.headers_mut().insert(WARNING, warning);
    }
    Ok(response)
}

/// One line of text, as Go's `http.Error` writes it.
fn refusal(subject: EmcoSubject, error: &EmcoError) -> Response {
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    let body = format!("{}\n", clean(&error.to_string(), TEXT_BYTES_MAX));
    (
        status_of(subject, error),
        [(header::CONTENT_TYPE, text)],
        body,
    )
        .into_response()
}

/// EMCO's orchestrator answers 400 to every error. Its other services crash if a subject is missing; the answer here is
/// 404.
fn status_of(subject: EmcoSubject, error: &EmcoError) -> StatusCode {
    if error.is_missing() && subject != EmcoSubject::Group {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::BAD_REQUEST
    }
}

/// The value of the header `Warning`, code 110: the answer may be out of date.
pub(super) fn warning(reason: &str) -> Option<HeaderValue> {
    let reason = reason.chars().take(WARNING_CHARS_MAX);
    let reason = reason.map(|char| match char {
        '"' | '\\' => '\'',
        ' '..='~' => char,
        _ => '?',
    });
    let reason: String = reason.collect();
    HeaderValue::try_from(format!("110 kindsight \"{reason}\"")).ok()
}
