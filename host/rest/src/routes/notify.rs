//! Receivers of notifications.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use kindsight_api::notify::{NotifyReceiverList, NotifyRefusal, NotifyResend, NotifyTest};
use kindsight_api::problem::ProblemDocument;

use crate::answer::internal;
use crate::app::App;
use crate::audit;
use crate::blocking::spawn_blocking;
use crate::caller::Sender;
use crate::command::{NoBody, NoParameters};
use crate::notifications::Notifications;
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;

/// Receivers of notifications
///
/// Every receiver of the configuration with the length of its queue, its counts, and the events that were given up, as
/// far as the sender of the request may see their subjects.
#[utoipa::path(
    get,
    path = "/v2/notify",
    operation_id = "list_receivers",
    tag = "notify",
    responses(
        (status = 200, description = "The receivers, in order of their names.", body = NotifyReceiverList),
        CommonErrors,
    ),
)]
pub(crate) async fn list(
    State(app): State<App>,
    sender: Sender,
    _: NoParameters,
) -> Result<Json<NotifyReceiverList>, Problem> {
    let Some(notifications) = app.notifications.clone() else {
        return Ok(Json(NotifyReceiverList::default()));
    };
    let visible = sender.visible().clone();
    let list = run(notifications, move |notifications| {
        notifications.list(&visible)
    });
    list.await.map(Json)
}

/// Test a receiver of notifications
///
/// Sends a test event to a receiver at once, and answers with the result. The event is not repeated if it fails.
#[utoipa::path(
    post,
    path = "/v2/notify/{receiver}/test",
    operation_id = "test_receiver",
    tag = "notify",
    params(("receiver" = String, Path, description = "Name of the receiver in the configuration.", example = "ops")),
    responses(
        (status = 200, description = "The receiver was asked; the result says whether it accepted the event.", body = NotifyTest),
        (status = 404, description = "There is no such receiver; the problem lists the receivers.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn test(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<String>, PathRejection>,
    _: NoParameters,
    _: NoBody,
) -> Result<Json<NotifyTest>, Problem> {
    let Path(receiver) = path?;
    let user = sender.user_name().to_owned();
    let slot = app.remote_call()?;
    let tested = run(configured(&app)?, move |notifications| {
        let _slot = slot;
        let tested = notifications.test(&receiver);
        audit::log_notify_test(&user, &receiver, &tested);
        tested
    });
    tested.await.map(Json)
}

/// Send dead letters again
///
/// Adds the events that a receiver did not accept to its queue again, with their ids. Each of them remains a dead letter
/// until the receiver accepts it. With a shared store, only the server that sends accepts the command.
#[utoipa::path(
    post,
    path = "/v2/notify/{receiver}/resend",
    operation_id = "resend_dead_letters",
    tag = "notify",
    params(("receiver" = String, Path, description = "Name of the receiver in the configuration.", example = "ops")),
    responses(
        (status = 200, description = "The dead letters are in the queue, as far as it has room.", body = NotifyResend),
        (status = 404, description = "There is no such receiver; the problem lists the receivers.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "Another server sends.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn resend(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<String>, PathRejection>,
    _: NoParameters,
    _: NoBody,
) -> Result<Json<NotifyResend>, Problem> {
    let Path(receiver) = path?;
    let user = sender.user_name().to_owned();
    let resent = run(configured(&app)?, move |notifications| {
        let resent = notifications.resend(&receiver);
        audit::log_notify_resend(&user, &receiver, &resent);
        resent
    });
    resent.await.map(Json)
}

fn configured(app: &App) -> Result<Arc<dyn Notifications>, Problem> {
    app.notifications.clone().ok_or_else(|| {
        let detail =
            "there are no receivers: add `[[notify]]` to the configuration file of the server";
        Problem::new(StatusCode::NOT_FOUND, detail)
    })
}

/// Calls the receivers on a blocking thread.
async fn run<T: Send + 'static>(
    notifications: Arc<dyn Notifications>,
    call: impl FnOnce(&dyn Notifications) -> Result<T, NotifyRefusal> + Send + 'static,
) -> Result<T, Problem> {
    let called = spawn_blocking(move || call(&*notifications)).await;
    called.map_err(|_| internal())?.map_err(Problem::from)
}
