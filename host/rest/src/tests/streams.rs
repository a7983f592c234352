//! Streams of changes: events over the router, and their end with the server.

use std::future::poll_fn;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use axum::body::{Bytes, HttpBody as _};
use kindsight_read_model::SUBSCRIPTION_CHANGES_MAX;
use kindsight_status::ApplicationKey;

use super::applications::{SHOP, shop};
use super::connections::serve_to;
use super::*;
use crate::Ended;
use crate::limits::LIST_GATHER;

/// A stream that is read event by event.
pub(super) struct Reader(Body);

impl Reader {
    pub(super) async fn open(router: Router, uri: &str, last: Option<&str>) -> Self {
        let mut request = Request::builder().uri(uri);
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let kind = &response.headers()[header::CONTENT_TYPE];
        assert_eq!(kind, "text/event-stream");
        Self(response.into_body())
    }

    async fn part(&mut self) -> Option<Bytes> {
        let body = &mut self.0;
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        Some(frame.unwrap().into_data().unwrap())
    }

    /// The text up to an empty line; `None` at the end.
    async fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        while !text.ends_with("\n\n") {
            text.push_str(std::str::from_utf8(&self.part().await?).unwrap());
        }
        Some(text)
    }

    /// Name, id and data of the next event.
    pub(super) async fn event(&mut self) -> (String, String, Value) {
        let text = self.text().await.expect("an event");
        let field = |name: &str| {
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or_default().to_owned()
        };
        assert_eq!(text.matches("data: ").count(), 1, "{text}");
        let data = serde_json::from_str(&field("data")).unwrap();
        (field("event"), field("id"), data)
    }
}

/// The found application with an object in this phase. The JSON of the object has line breaks.
fn shop_view(phase: Phase) -> ContextView {
    let front = "{\"apiVersion\":\"apps/v1\",\n\"kind\":\"Deployment\",\r\n\"metadata\":{\"name\":\"front\",\"namespace\":\"web\"}}";
    let input = ClusterInput {
        cluster: ClusterName::new("kubeconfig", "prod").unwrap(),
        namespace: "".into(),
        expected: Vec::new(),
        reported: Some(kindsight_status::Reported {
            objects: [Object::from_json(front).unwrap()].into(),
            verdicts: vec![Verdict::host(phase, "", "")],
            ..kindsight_status::Reported::default()
        }),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    ContextView {
        meta: Some(shop()),
        apps: vec![AppView::new(
            "front".into(),
            vec![Arc::new(project(input, None, 0))],
        )],
        ..ContextView::default()
    }
}

fn watched(limits: Limits) -> (ReadModelWriter, Router) {
    let model = published();
    let router = router(state_of(&model, limits));
    (model, router)
}

/// Publishes the found application with an object in this phase.
pub(super) fn publish(model: &mut ReadModelWriter, phase: Phase) {
    let key = ApplicationKey::Found(shop());
    model.publish(&key, shop_view(phase), Vec::new());
}

#[tokio::test]
async fn a_followed_status_is_a_snapshot_then_changes_until_its_deletion() {
    let (mut model, router) = watched(Limits::default());
    let mut reader = Reader::open(router, &format!("{SHOP}/watch?output=detail"), None).await;
    let (name, first, data) = reader.event().await;
    assert_eq!(
        (&*name, &data["ready-status"]),
        ("snapshot", &"Failed".into())
    );

    publish(&mut model, Phase::Ready);
    let (name, id, data) = reader.event().await;
    assert_eq!(name, "change");
    assert_ne!(id, first);
    assert_eq!(data["status"]["ready-status"], "Ready");
    let resource = &data["status"]["apps"][0]["clusters"][0]["resources"][0];
    assert_eq!(resource["cluster-status"], "Ready");
    assert_eq!(resource["detail"]["kind"], "Deployment");

    // A change without an effect on the answer, or of another application, sends no event.
    publish(&mut model, Phase::Ready);
    let other = ApplicationKey::Found(DigName::found("cart", Some("web")).unwrap());
    model.publish(&other, shop_view(Phase::Failed), Vec::new());
    publish(&mut model, Phase::Pending);
    let (_, _, data) = reader.event().await;
    assert_eq!(data["status"]["ready-status"], "Pending");

    model.remove(&ApplicationKey::Found(shop()));
    let (name, _, problem) = reader.event().await;
    assert_eq!((&*name, &problem["status"]), ("problem", &404.into()));
    assert_eq!(reader.text().await, None);
}

#[tokio::test]
async fn clusters_and_logical_clouds_are_followed_like_groups() {
    let cluster = ClusterName::new("vfw-cluster-provider", "edge01").unwrap();
    let cloud = LogicalCloudName::new("testvfw", "lc1").unwrap();
    for (subject, path, name) in [
        (
            RecordSubject::Cluster(cluster),
            CLUSTER_STATUS,
            "vfw-cluster-provider+edge01",
        ),
        (
            RecordSubject::LogicalCloud(cloud),
            LOGICAL_CLOUD_STATUS,
            "lc1",
        ),
    ] {
        let (mut model, router) = watched(Limits::default());
        let publish = |model: &mut ReadModelWriter, phase| {
            let key = ApplicationKey::Context("8".parse().unwrap());
            let view = ContextView {
                meta: None,
                ..shop_view(phase)
            };
            model.publish(&key, view, Vec::new());
        };
        let path = format!("{path}/watch?type=cluster");
        let mut reader = Reader::open(router.clone(), &path, None).await;
        let (event, _, data) = reader.event().await;
        assert_eq!((&*event, &data["name"]), ("snapshot", &name.into()));
        publish(&mut model, Phase::Ready);
        let (event, id, data) = reader.event().await;
        assert_eq!(event, "change");
        assert_eq!(data["status"]["ready-status"], "Ready");
        drop(reader);

        publish(&mut model, Phase::Pending);
        let mut again = Reader::open(router, &path, Some(&id)).await;
        let (event, _, data) = again.event().await;
        assert_eq!(event, "change");
        assert_eq!(data["status"]["ready-status"], "Pending");
        model.publish_record(&subject, None);
        let (event, _, problem) = again.event().await;
        assert_eq!((&*event, &problem["status"]), ("problem", &404.into()));
        assert_eq!(again.text().await, None);
    }
}

#[tokio::test]
async fn a_client_that_resumes_gets_missed_changes_or_a_fresh_snapshot() {
    let (mut model, router) = watched(Limits::default());
    let path = format!("{SHOP}/watch");
    let mut reader = Reader::open(router.clone(), &path, None).await;
    let (_, id, _) = reader.event().await;
    drop(reader);
    publish(&mut model, Phase::Ready);

    let mut again = Reader::open(router.clone(), &path, Some(&id)).await;
    let (name, _, data) = again.event().await;
    assert_eq!(name, "change");
    assert_eq!(data["status"]["ready-status"], "Ready");
    for (path, last) in [
        (&*path, "99"),
        (&*path, "what"),
        (&*format!("{path}?output=summary"), &*id),
    ] {
        let mut reader = Reader::open(router.clone(), path, Some(last)).await;
        assert_eq!(reader.event().await.0, "snapshot");
    }
}

#[tokio::test]
async fn a_client_that_resumes_without_missed_changes_is_answered_at_once() {
    let (_, router) = watched(Limits::default());
    let path = format!("{SHOP}/watch");
    let mut reader = Reader::open(router.clone(), &path, None).await;
    let (_, id, _) = reader.event().await;
    drop(reader);
    let mut again = Reader::open(router, &path, Some(&id)).await;
    assert_eq!(again.text().await.unwrap(), ":\n\n");
}

#[tokio::test]
async fn a_slow_reader_gets_one_fresh_snapshot_for_all_that_it_missed() {
    let (mut model, router) = watched(Limits::default());
    let mut reader = Reader::open(router, &format!("{SHOP}/watch"), None).await;
    assert_eq!(reader.event().await.0, "snapshot");
    for round in 0..=SUBSCRIPTION_CHANGES_MAX {
        let phase = [Phase::Pending, Phase::Failed][round % 2];
        publish(&mut model, phase);
    }
    publish(&mut model, Phase::Ready);
    let (name, id, data) = reader.event().await;
    assert_eq!(
        (&*name, &data["ready-status"]),
        ("snapshot", &"Ready".into())
    );
    publish(&mut model, Phase::Failed);
    let (name, after, _) = reader.event().await;
    assert_eq!(name, "change");
    assert_ne!(id, after);
}

#[tokio::test]
async fn a_client_of_the_server_before_the_restart_gets_a_fresh_snapshot() {
    let path = format!("{SHOP}/watch");
    let read_one_event = async |router: &Router| {
        let mut reader = Reader::open(router.clone(), &path, None).await;
        reader.event().await.1
    };
    let (_, before) = watched(Limits::default());
    let id = read_one_event(&before).await;
    // The restarted server publishes as many changes as the first one, and other clients connected earlier.
    let (_, after) = watched(Limits::default());
    read_one_event(&after).await;
    let mut again = Reader::open(after, &path, Some(&id)).await;
    let text = again.text().await.unwrap();
    assert!(text.starts_with("event: snapshot\n"), "{text}");
}

#[tokio::test]
async fn a_client_continues_from_its_own_event_although_another_one_saw_a_later_state() {
    let (mut model, router) = watched(Limits::default());
    let path = format!("{SHOP}/watch?explain=true");
    let mut early = Reader::open(router.clone(), &path, None).await;
    let (_, id, _) = early.event().await;
    drop(early);
    // This publication does not increase the generation.
    model.refresh(&ApplicationKey::Found(shop()), shop_view(Phase::Ready));
    let mut late = Reader::open(router.clone(), &path, None).await;
    assert_eq!(late.event().await.2["ready-status"], "Ready");
    drop(late);
    let mut again = Reader::open(router, &path, Some(&id)).await;
    let (name, _, data) = again.event().await;
    assert_eq!(name, "change");
    assert_eq!(data["status"]["ready-status"], "Ready");
}

#[tokio::test]
async fn a_list_is_followed_by_the_applications_that_changed() {
    let (mut model, router) = watched(Limits::default());
    let mut reader = Reader::open(router, "/v2/applications/watch", None).await;
    let (name, _, data) = reader.event().await;
    assert_eq!(
        (&*name, data["applications"].as_array().unwrap().len()),
        ("snapshot", 2)
    );
    publish(&mut model, Phase::Ready);
    let (name, _, data) = reader.event().await;
    assert_eq!(name, "change");
    let changed = data["applications"].as_array().unwrap();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["ready-status"], "Ready");
    model.remove(&ApplicationKey::Found(shop()));
    let (_, _, data) = reader.event().await;
    assert_eq!(data["gone"][0]["composite-app-name"], "shop");
}

#[tokio::test]
async fn a_change_that_is_gathered_is_not_lost_to_a_comment() {
    let limits = Limits {
        heartbeat: LIST_GATHER / 5,
        ..Limits::default()
    };
    let (mut model, router) = watched(limits);
    let mut reader = Reader::open(router, "/v2/applications/watch", None).await;
    assert_eq!(reader.event().await.0, "snapshot");
    publish(&mut model, Phase::Ready);
    let mut comments = 0;
    let change = loop {
        let text = reader.text().await.unwrap();
        if text != ":\n\n" {
            break text;
        }
        comments += 1;
        assert!(comments < 50, "the change was lost");
    };
    assert!(change.starts_with("event: change\n"), "{change}");
    assert!(comments > 0, "comments are sent meanwhile");
}

#[tokio::test]
async fn silence_is_filled_with_comments() {
    let limits = Limits {
        heartbeat: Duration::from_millis(1),
        ..Limits::default()
    };
    let (_, router) = watched(limits);
    let mut reader = Reader::open(router, &format!("{SHOP}/watch"), None).await;
    assert_eq!(reader.event().await.0, "snapshot");
    for _ in 0..2 {
        assert_eq!(reader.text().await.unwrap(), ":\n\n");
    }
}

#[tokio::test]
async fn streams_are_limited_in_number_and_their_events_in_size() {
    let limits = Limits {
        streams_max: 1,
        answer_bytes_max: 100,
        ..Limits::default()
    };
    let (_, router) = watched(limits);
    let path = format!("{SHOP}/watch");
    let mut reader = Reader::open(router.clone(), "/v2/applications/watch", None).await;
    let again = Request::builder().uri(&path).body(Body::empty()).unwrap();
    let refused = answered(router.clone(), again).await;
    refused.problem(StatusCode::SERVICE_UNAVAILABLE);
    let (name, _, problem) = reader.event().await;
    assert_eq!(name, "problem");
    assert!(
        problem["detail"]
            .to_string()
            .contains("larger than 100 bytes"),
        "{problem}"
    );
    assert_eq!(reader.text().await, None);
    drop(reader);
    Reader::open(router, &path, None).await;
}

#[tokio::test]
async fn names_that_do_not_exist_are_refused_before_the_stream_begins() {
    for (path, status) in [
        (
            SHOP.replace("shop", "cart") + "/watch",
            StatusCode::NOT_FOUND,
        ),
        (format!("{SHOP}/watch?app=back"), StatusCode::NOT_FOUND),
        (format!("{SHOP}/watch?output=much"), StatusCode::BAD_REQUEST),
        (format!("{STATUS}/watch?instance="), StatusCode::BAD_REQUEST),
        (
            CLUSTER_STATUS.replace("edge01", "edge09") + "/watch",
            StatusCode::NOT_FOUND,
        ),
        (
            format!("{LOGICAL_CLOUD_STATUS}/watch?apps="),
            StatusCode::BAD_REQUEST,
        ),
        (
            "/v2/applications/watch?name=cart".to_owned(),
            StatusCode::NOT_FOUND,
        ),
    ] {
        get(&path).await.problem(status);
    }
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let client = |address| {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!("GET {SHOP}/watch HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines();
        let event = lines.find(|line| line.as_ref().unwrap() == "event: snapshot");
        assert!(event.is_some());
        lines
    };
    let (rest, ended) = serve_to(Limits::default(), client).await;
    assert_eq!(ended, Ended::Drained);
    // The stream has the end of a complete chunked answer.
    assert_eq!(
        rest.map(Result::unwrap).filter(|line| line == "0").count(),
        1
    );
}
