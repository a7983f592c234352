//! A token in the header `Kindsight-Token`, for clients behind a proxy that removes `Authorization`.

use super::*;

#[tokio::test]
async fn a_token_in_its_own_header_is_accepted_once_and_without_another_header() {
    let guarded = Guarded::new(&[VIEWER]);
    let send = async |headers: &[(&str, &str)]| {
        let mut request = Request::builder().uri("/v2/applications");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answered(guarded.router(), request.body(Body::empty()).unwrap()).await
    };
    let token = ("kindsight-token", &*guarded.token);
    assert_eq!(send(&[token]).await.status, StatusCode::OK);
    let bearer = guarded.bearer();
    for refused in [
        &[token, token][..],
        &[token, ("authorization", &bearer)],
        &[("kindsight-token", "")],
        &[("kindsight-token", &bearer)],
    ] {
        send(refused).await.problem(StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn a_token_in_its_own_header_needs_no_known_host_name_if_there_is_access_control() {
    let guarded = Guarded::new(&[VIEWER]);
    let send = async |router: Router, header: &str, value: &str| {
        let request = Request::builder().uri("/v2/applications");
        let request = request.header("host", "api.cluster.example:6443");
        let request = request.header(header, value).body(Body::empty());
        answered(router, request.unwrap()).await
    };
    let answer = send(guarded.router(), "kindsight-token", &guarded.token).await;
    assert_eq!(answer.status, StatusCode::OK);
    let answer = send(guarded.router(), "kindsight-token", "guess").await;
    answer.problem(StatusCode::UNAUTHORIZED);
    let answer = send(guarded.router(), "authorization", &guarded.bearer()).await;
    answer.problem(StatusCode::MISDIRECTED_REQUEST);
    let open = router(state(Limits::default()));
    let answer = send(open, "kindsight-token", &guarded.token).await;
    answer.problem(StatusCode::MISDIRECTED_REQUEST);
}
