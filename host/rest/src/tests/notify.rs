//! Receivers of notifications.

use std::sync::RwLock;

use kindsight_api::notify::{NotifyReceiverList, NotifyRefusal, NotifyResend, NotifyTest};
use kindsight_model::SubjectSet;
use tokio::task::JoinSet;

use super::*;
use crate::Notifications;
use crate::limits::REMOTE_CALLS_MAX;

const TEST: &str = "/v2/notify/ops/test";

/// Receivers over a store that does not answer.
struct Away;

impl Notifications for Away {
    fn list(&self, _: &SubjectSet) -> Result<NotifyReceiverList, NotifyRefusal> {
        Err(NotifyRefusal::Unavailable("the store is away".to_owned()))
    }

    fn test(&self, receiver: &str) -> Result<NotifyTest, NotifyRefusal> {
        match receiver {
            "ops" => Ok(NotifyTest {
                error: Some("the receiver answered 403".to_owned()),
                status: Some(403),
                delivered: false,
            }),
            _ => Err(NotifyRefusal::NotFound(
                "the receivers are `ops`".to_owned(),
            )),
        }
    }

    fn resend(&self, receiver: &str) -> Result<NotifyResend, NotifyRefusal> {
        match receiver {
            "ops" => Ok(NotifyResend {
                dead_letters: 3,
                queued: 2,
            }),
            _ => Err(NotifyRefusal::NotSender(
                "this server does not send".to_owned(),
            )),
        }
    }
}

fn routes() -> Router {
    router(AppState {
        notifications: Some(Arc::new(Away)),
        ..state(Limits::default())
    })
}

#[tokio::test]
async fn a_server_without_receivers_has_an_empty_list_and_no_test() {
    let list = get("/v2/notify").await;
    assert_eq!(list.json(), serde_json::json!({"receivers": []}));
    let detail = post(TEST, "").await.problem(StatusCode::NOT_FOUND);
    assert!(detail.contains("add `[[notify]]`"), "{detail}");
}

#[tokio::test]
async fn a_test_answers_with_the_result_and_a_refusal_with_its_reason() {
    let tested = send(routes(), "POST", TEST, Body::empty()).await;
    assert_eq!(tested.status, StatusCode::OK);
    assert_eq!(tested.json()["delivered"], false);
    assert_eq!(tested.json()["status"], 403);
    let other = send(routes(), "POST", "/v2/notify/other/test", Body::empty()).await;
    let detail = other.problem(StatusCode::NOT_FOUND);
    assert_eq!(detail, "the receivers are `ops`");
    let with_body = send(routes(), "POST", TEST, "{}").await;
    with_body.problem(StatusCode::BAD_REQUEST);
    let resent = send(routes(), "POST", "/v2/notify/ops/resend", Body::empty()).await;
    assert_eq!(
        resent.json(),
        serde_json::json!({"dead-letters": 3, "queued": 2})
    );
    let other = send(routes(), "POST", "/v2/notify/other/resend", Body::empty()).await;
    other.problem(StatusCode::CONFLICT);
    let list = send(routes(), "GET", "/v2/notify", Body::empty()).await;
    list.problem(StatusCode::SERVICE_UNAVAILABLE);
    assert!(!list.header(header::RETRY_AFTER).is_empty());
}

/// Receivers that do not answer while the lock is taken.
struct Slow(Arc<RwLock<()>>);

impl Notifications for Slow {
    fn list(&self, _: &SubjectSet) -> Result<NotifyReceiverList, NotifyRefusal> {
        Ok(NotifyReceiverList::default())
    }

    fn test(&self, _: &str) -> Result<NotifyTest, NotifyRefusal> {
        drop(self.0.read());
        Ok(NotifyTest {
            error: None,
            status: Some(200),
            delivered: true,
        })
    }

    fn resend(&self, _: &str) -> Result<NotifyResend, NotifyRefusal> {
        Err(NotifyRefusal::NotSender("not this server".to_owned()))
    }
}

#[tokio::test]
async fn calls_of_other_servers_leave_threads_for_other_requests() {
    let lock = Arc::new(RwLock::new(()));
    let router = router(AppState {
        notifications: Some(Arc::new(Slow(Arc::clone(&lock)))),
        ..state(Limits::default())
    });
    let silent = lock.write();
    let mut tests = JoinSet::new();
    for _ in 0..=REMOTE_CALLS_MAX {
        tests.spawn(send(router.clone(), "POST", TEST, ""));
    }
    let refused = tests.join_next().await.unwrap().unwrap();
    refused.problem(StatusCode::SERVICE_UNAVAILABLE);
    assert_ne!(refused.header(header::RETRY_AFTER), "");
    let list = send(router, "GET", "/v2/notify", "").await;
    assert_eq!(list.status, StatusCode::OK);
    drop(silent);
    for answer in tests.join_all().await {
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    }
}
