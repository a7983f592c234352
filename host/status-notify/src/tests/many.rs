//! Many clients, and large subjects.

use super::*;
use crate::{CLIENTS_MAX, NOTIFICATION_BYTES_MAX};

#[tokio::test]
async fn each_of_the_most_clients_is_notified_and_one_more_is_refused() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Pending);
    let mut streams = Vec::new();
    let mut client = stage.client().await;
    for at in 0..CLIENTS_MAX {
        if at % 100 == 0 {
            client = stage.client().await;
        }
        let registration = registration(&at.to_string(), StatusValue::Ready);
        streams.push(register(&mut client, registration).await.unwrap());
    }
    let error = register(&mut client, registration("more", StatusValue::Ready)).await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
    assert!(error.message().contains("512 clients"), "{error}");
    for stream in &mut streams {
        assert_eq!(value(stream).await, StatusValue::NotReady);
    }
    stage.publish("Instantiated", Phase::Ready);
    for stream in &mut streams {
        assert_eq!(value(stream).await, StatusValue::Ready);
    }
}

#[tokio::test]
async fn a_notification_over_the_limit_ends_its_stream_with_advice() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    // Each resource takes more than 200 bytes.
    let name = "x".repeat(200);
    let names: Vec<String> = (0..NOTIFICATION_BYTES_MAX / 200)
        .map(|at| format!("{name}-{at}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let view = ContextView {
        id: "7".parse().ok(),
        status: Some("Instantiated".into()),
        apps: vec![
            app("front", &names, Phase::Ready),
            app("small", &names[..600], Phase::Ready),
        ],
        ..ContextView::default()
    };
    let key = ApplicationKey::Context("7".parse().unwrap());
    stage.writer.publish(&key, view, Vec::new());
    let mut client = stage.client().await;
    let all = StatusRegistration {
        output: OutputType::All.into(),
        ..registration("a", StatusValue::Ready)
    };
    let mut stream = register(&mut client, all.clone()).await.unwrap();
    let error = next(&mut stream).await.unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
    assert!(error.message().contains("SUMMARY"), "{error}");
    // More large notifications than there is room for at a time: each takes its turn.
    for at in 0..20 {
        let of_app = StatusRegistration {
            client_id: format!("small-{at}"),
            apps: vec!["small".to_owned()],
            ..all.clone()
        };
        let mut stream = register(&mut client, of_app).await.unwrap();
        assert_eq!(value(&mut stream).await, StatusValue::Ready);
    }
}
