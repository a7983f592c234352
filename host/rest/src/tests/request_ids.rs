//! Ids of requests.

use super::*;

/// The ids in an answer to a request with this id.
async fn id_for(router: &Router, sent: &[&str]) -> String {
    let mut request = Request::builder().uri("/healthz");
    for id in sent {
        request = request.header("X-Request-Id", *id);
    }
    let answer = answered(router.clone(), request.body(Body::empty()).unwrap()).await;
    let ids = answer.headers.get_all("x-request-id").iter();
    let ids: Vec<&str> = ids.map(|id| id.to_str().unwrap()).collect();
    ids.join(" ")
}

#[tokio::test]
async fn a_valid_id_of_a_request_is_kept_and_any_other_is_replaced() {
    let router = router(state(Limits::default()));
    let longest = "x".repeat(crate::REQUEST_ID_BYTES_MAX);
    for id in ["a", "0af7651916cd-43dd_8448.eb21", longest.as_str()] {
        assert_eq!(id_for(&router, &[id]).await, id);
    }
    let made = id_for(&router, &[]).await;
    let too_long = format!("{longest}x");
    for sent in [&["a b"][..], &[""], &["a\"b"], &[&too_long], &["a", "b"]] {
        let id = id_for(&router, sent).await;
        assert_ne!(id, made);
        assert_eq!(id.split('-').next(), made.split('-').next(), "{id}");
    }
}
