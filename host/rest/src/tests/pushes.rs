//! Reports that agents push.

use axum::Extension;
use kindsight_api::push::{AgentNeeds, NeedsParameters, PushAnswer, PushParameters, PushRefusal};

use super::*;
use crate::TakePush;
use crate::serve::PeerAddress;

const REPORTS: &str = "/v2/cluster-providers/p/clusters/edge01/reports";
const PUSH: &str =
    "/v2/cluster-providers/p/clusters/edge01/reports?format=1&agent=a&epoch=1&sequence=17&later=1";

/// Clusters that refuse by the sequence number of a body.
pub(super) struct SamplePushes;

impl TakePush for SamplePushes {
    fn accept(
        &self,
        cluster: &ClusterName,
        parameters: &PushParameters,
        body: &[u8],
    ) -> Result<PushAnswer, PushRefusal> {
        match parameters.sequence {
            17 if body.is_empty() => Ok(PushAnswer { expected: 17 }),
            17 => Ok(PushAnswer { expected: 18 }),
            1 => Err(PushRefusal::Sequence {
                got: 1,
                expected: 17,
            }),
            2 => Err(PushRefusal::NewEpoch("begin again".to_owned())),
            3 => Err(PushRefusal::OtherAgent("other".to_owned())),
            4 => Err(PushRefusal::Invalid("line 4: no".to_owned())),
            5 => Err(PushRefusal::TooLarge("too many objects".to_owned())),
            6 => Err(PushRefusal::Format(9)),
            7 => Err(PushRefusal::Busy),
            _ => Err(PushRefusal::NotPushed(cluster.to_string())),
        }
    }

    fn needs<'t>(
        &'t self,
        _: &'t ClusterName,
        parameters: &'t NeedsParameters,
    ) -> Pin<Box<dyn Future<Output = Result<Option<AgentNeeds>, PushRefusal>> + Send + 't>> {
        let needs = AgentNeeds {
            revision: 7,
            ..AgentNeeds::default()
        };
        let is_known = parameters.revision == Some(7);
        Box::pin(std::future::ready(Ok((!is_known).then_some(needs))))
    }
}

/// The answer to a request from an address.
async fn from(peer: &str, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
    let peer = PeerAddress(peer.parse().unwrap());
    let router = router(state(Limits::default())).layer(Extension(peer));
    let response = router.oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    (head.status, head.headers, text)
}

fn post(target: &str, body: &'static str) -> Request<Body> {
    let request = Request::post(target)
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/gzip");
    request.body(Body::from(body)).unwrap()
}

#[tokio::test]
async fn an_answer_names_the_next_sequence_number() {
    let (status, _, text) = from("127.0.0.1", post(PUSH, "x")).await;
    assert_eq!((status, &*text), (StatusCode::OK, r#"{"expected":18}"#));
    let (status, _, text) = from("127.0.0.1", post(PUSH, "")).await;
    assert_eq!((status, &*text), (StatusCode::OK, r#"{"expected":17}"#));
}

#[tokio::test]
async fn each_refusal_has_a_status_and_names_what_is_expected() {
    for (sequence, status, part) in [
        (1, StatusCode::CONFLICT, r#""parameter":"sequence""#),
        (1, StatusCode::CONFLICT, r#""expected":"17""#),
        (2, StatusCode::CONFLICT, r#""parameter":"epoch""#),
        (3, StatusCode::CONFLICT, "`other`"),
        (4, StatusCode::UNPROCESSABLE_ENTITY, "line 4: no"),
        (5, StatusCode::PAYLOAD_TOO_LARGE, "too many objects"),
        (6, StatusCode::BAD_REQUEST, r#""parameter":"format""#),
        (7, StatusCode::TOO_MANY_REQUESTS, "try again"),
        (8, StatusCode::NOT_FOUND, "`push = true`"),
    ] {
        let target = PUSH.replace("=17", &format!("={sequence}"));
        let (found, headers, text) = from("127.0.0.1", post(&target, "x")).await;
        assert_eq!(found, status, "{text}");
        assert!(text.contains(part), "{text}");
        let is_busy = status == StatusCode::TOO_MANY_REQUESTS;
        assert_eq!(headers.contains_key(header::RETRY_AFTER), is_busy);
    }
}

#[tokio::test]
async fn needs_are_answered_once_they_differ() {
    let needs = |query: &str| {
        let target = format!("{REPORTS}/needs{query}");
        let request = Request::get(target).header(header::HOST, "localhost");
        from("127.0.0.1", request.body(Body::empty()).unwrap())
    };
    let (status, _, text) = needs("?revision=6&later=x").await;
    assert_eq!(status, StatusCode::OK);
    assert!(text.contains(r#""revision":7"#), "{text}");
    let (status, _, text) = needs("?revision=7").await;
    assert_eq!((status, &*text), (StatusCode::NO_CONTENT, ""));
}

#[tokio::test]
async fn without_access_control_only_local_agents_push() {
    let (status, _, text) = from("192.0.2.7", post(PUSH, "x")).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(text.contains("--roles"), "{text}");
}
