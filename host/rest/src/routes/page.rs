//! The web page, whose files are part of the binary.
//!
//! The files have no data: the page reads the REST API with the rights of its user. So these routes are open.

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kindsight_api::problem::ProblemDocument;

use crate::problem::Problem;

/// The rules for browsers: only files of this server, no inline script or style, no frame, no markup from texts.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of every file of the page.
const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A file: its name, its media type and its content.
type File = (&'static str, &'static str, &'static str);

macro_rules! files {
    ($($name:literal: $media_type:expr,)*) => {
        [$(($name, $media_type, include_str!(concat!("../../page/", $name))),)*]
    };
}

/// The file at `/`.
const INDEX: &str = include_str!("../../page/index.html");

/// The files below `/page/`.
const FILES: [File; 20] = files! {
    "api.js": JAVASCRIPT,
    "application.js": JAVASCRIPT,
    "applications.js": JAVASCRIPT,
    "base.css": STYLE,
    "clusters.js": JAVASCRIPT,
    "dom.js": JAVASCRIPT,
    "events.js": JAVASCRIPT,
    "history.js": JAVASCRIPT,
    "icon.svg": "image/svg+xml",
    "interpreters.js": JAVASCRIPT,
    "main.js": JAVASCRIPT,
    "merge.js": JAVASCRIPT,
    "parts.css": STYLE,
    "polling.js": JAVASCRIPT,
    "resource.js": JAVASCRIPT,
    "route.js": JAVASCRIPT,
    "sign-in.js": JAVASCRIPT,
    "stream.js": JAVASCRIPT,
    "tree.js": JAVASCRIPT,
    "words.js": JAVASCRIPT,
};

/// The web page
#[utoipa::path(get, path = "/", tag = "service", responses((status = 200, description = "The web page. It reads this API with the rights of its user.", body = String, content_type = "text/html")))]
pub(crate) async fn index() -> Response {
    answer("text/html; charset=utf-8", INDEX)
}

/// A file of the web page
#[utoipa::path(
    get,
    path = "/page/{file}",
    tag = "service",
    params(("file" = String, Path, description = "The name of the file.", example = "main.js")),
    responses(
        (status = 200, description = "A script, a style sheet or an image.", body = String, content_type = "text/javascript"),
        (status = 404, description = "The page has no such file.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Problem> {
    let found = FILES.iter().find(|(known, ..)| **known == name);
    let (_, media_type, content) = found.ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "the page has no such file; it begins at `/`",
        )
    })?;
    Ok(answer(media_type, content))
}

fn answer(media_type: &'static str, content: &'static str) -> Response {
    let mut answer = content.into_response();
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}
