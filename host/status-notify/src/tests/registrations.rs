//! Registrations and their ends.

use super::*;

async fn refused(client: &mut StatusNotifyClient<Channel>, of: StatusRegistration) -> Status {
    register(client, of).await.unwrap_err()
}

async fn deregister(client: &mut StatusNotifyClient<Channel>, id: &str) {
    let request = StatusDeregistration {
        client_id: id.to_owned(),
    };
    client.status_deregister(request).await.unwrap();
}

#[tokio::test]
async fn client_ids_have_the_errors_of_emco() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    let mut client = stage.client().await;
    let mut stream = register(&mut client, registration("a", StatusValue::Ready))
        .await
        .unwrap();
    assert_eq!(value(&mut stream).await, StatusValue::Ready);
    let long = "a".repeat(crate::CLIENT_ID_BYTES_MAX + 1);
    for (id, text) in [
        ("", "Invalid client ID"),
        (&*long, "Invalid client ID"),
        ("a", "Duplicate client ID: a"),
    ] {
        let error = refused(&mut client, registration(id, StatusValue::Ready)).await;
        assert_eq!((error.code(), error.message()), (Code::Unknown, text));
    }
    // An unknown client is no error.
    deregister(&mut client, "b").await;
    deregister(&mut client, "").await;
    deregister(&mut client, "a").await;
    assert_eq!(next(&mut stream).await.unwrap(), None);
    let mut again = register(&mut client, registration("a", StatusValue::Ready))
        .await
        .unwrap();
    // The end of the first stream does not remove the second one.
    drop(stream);
    assert_eq!(value(&mut again).await, StatusValue::Ready);
    stage.publish("Instantiated", Phase::Failed);
    assert_eq!(value(&mut again).await, StatusValue::NotReady);
}

#[tokio::test]
async fn a_client_that_disconnects_can_register_again() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    for _ in 0..3 {
        let mut client = stage.client().await;
        let registered = async {
            loop {
                match register(&mut client, registration("a", StatusValue::Ready)).await {
                    Ok(stream) => return stream,
                    // The server has not noticed the end of the last connection yet.
                    Err(error) => assert_eq!(error.message(), "Duplicate client ID: a"),
                }
            }
        };
        let mut stream = timeout(PATIENCE, registered).await.unwrap();
        assert_eq!(value(&mut stream).await, StatusValue::Ready);
    }
}

#[tokio::test]
async fn wrong_registrations_are_refused_with_the_valid_form() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    let mut client = stage.client().await;
    let valid = || registration("a", StatusValue::Ready);
    for (wrong, text) in [
        (
            registration("a", StatusValue::NotReady),
            "`statusType` must be READY or DEPLOYED",
        ),
        (
            StatusRegistration {
                status_type: 77,
                ..valid()
            },
            "`statusType` must be READY or DEPLOYED",
        ),
        (
            StatusRegistration {
                output: 7,
                ..valid()
            },
            "`output` must be SUMMARY or ALL",
        ),
        (
            StatusRegistration {
                key: None,
                ..valid()
            },
            "`key` must be a `digKey`",
        ),
        (
            StatusRegistration {
                clusters: vec!["edge01".to_owned()],
                ..valid()
            },
            "`clusters` must be `provider+name`, and not `edge01`",
        ),
        (
            StatusRegistration {
                key: Some(Key::DigKey(DigKey::default())),
                ..valid()
            },
            "`project`",
        ),
    ] {
        let error = refused(&mut client, wrong).await;
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().contains(text), "{error}");
    }
    let unknown = StatusRegistration {
        key: Some(Key::DigKey(DigKey {
            deployment_intent_group: "test".to_owned(),
            ..dig_key()
        })),
        ..valid()
    };
    let error = refused(&mut client, unknown).await;
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert!(error.message().contains("`shop/web/v1/prod`"), "{error}");
    // No refused registration occupies its client ID.
    register(&mut client, valid()).await.unwrap();
}

#[tokio::test]
async fn the_end_of_a_group_and_of_the_server_end_a_stream_with_the_reason() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    let mut client = stage.client().await;
    let mut stream = register(&mut client, registration("a", StatusValue::Ready))
        .await
        .unwrap();
    assert_eq!(value(&mut stream).await, StatusValue::Ready);
    let group = RecordSubject::Group(prod());
    stage.writer.publish_record(&group, None);
    let error = next(&mut stream).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    stage.publish("Instantiated", Phase::Ready);
    let mut stream = register(&mut client, registration("a", StatusValue::Ready))
        .await
        .unwrap();
    assert_eq!(value(&mut stream).await, StatusValue::Ready);
    stage.stop.cancel();
    let error = next(&mut stream).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable, "{error}");
}
