//! Values of notifications.

use super::*;
use crate::proto::status_detail::StatusDetail;

#[tokio::test]
async fn a_registration_gets_the_status_at_once_and_then_each_other_status() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiating", Phase::Pending);
    let mut client = stage.client().await;
    let mut ready = register(&mut client, registration("a", StatusValue::Ready))
        .await
        .unwrap();
    let mut deployed = register(&mut client, registration("b", StatusValue::Deployed))
        .await
        .unwrap();
    assert_eq!(value(&mut ready).await, StatusValue::NotReady);
    assert_eq!(value(&mut deployed).await, StatusValue::NotDeployed);
    stage.publish("Instantiated", Phase::Pending);
    assert_eq!(value(&mut deployed).await, StatusValue::Deployed);
    // The change from Instantiating to Instantiated did not change the readiness, so no notification came before this one.
    stage.publish("Instantiated", Phase::Ready);
    assert_eq!(value(&mut ready).await, StatusValue::Ready);
    stage.publish("Updated", Phase::Failed);
    assert_eq!(value(&mut ready).await, StatusValue::NotReady);
    stage.publish("Terminating", Phase::Ready);
    assert_eq!(value(&mut deployed).await, StatusValue::NotDeployed);
}

#[tokio::test]
async fn all_names_apps_clusters_and_resources_and_filters_select_them() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    let mut client = stage.client().await;
    let all = |id: &str, status| StatusRegistration {
        output: OutputType::All.into(),
        ..registration(id, status)
    };
    for (id, status) in [("a", StatusValue::Ready), ("b", StatusValue::Deployed)] {
        let mut stream = register(&mut client, all(id, status)).await.unwrap();
        let notification = next(&mut stream).await.unwrap().unwrap();
        assert_eq!(notification.status_value(), status);
        let [detail] = &*notification.details else {
            panic!("{notification:?}");
        };
        let Some(StatusDetail::App(app)) = &detail.status_detail else {
            panic!("{detail:?}");
        };
        assert_eq!((&*app.app, app.status_value()), ("front", status));
        let [cluster] = &*app.clusters else {
            panic!("{app:?}");
        };
        assert_eq!(
            (&*cluster.cluster_provider, &*cluster.cluster),
            ("lab", "edge01")
        );
        assert_eq!(cluster.status_value(), status);
        let resources: Vec<_> = cluster
            .resources
            .iter()
            .map(|it| {
                (
                    &*it.name,
                    &*it.gvk.as_ref().unwrap().kind,
                    it.status_value(),
                )
            })
            .collect();
        assert_eq!(
            resources,
            [("front", "Service", status), ("web", "Service", status)]
        );
    }
    let filtered = StatusRegistration {
        clusters: vec![EDGE.to_owned()],
        resources: vec!["web".to_owned()],
        ..all("c", StatusValue::Ready)
    };
    let mut stream = register(&mut client, filtered).await.unwrap();
    let text = format!("{:?}", next(&mut stream).await.unwrap().unwrap());
    assert!(
        text.contains("\"web\"") && !text.contains("name: \"front\""),
        "{text}"
    );
    // A name that does not exist yet is no error, but nothing is ready.
    let later = StatusRegistration {
        apps: vec!["later".to_owned()],
        ..all("d", StatusValue::Ready)
    };
    let mut stream = register(&mut client, later).await.unwrap();
    let notification = next(&mut stream).await.unwrap().unwrap();
    assert_eq!(notification.status_value(), StatusValue::NotReady);
    assert!(notification.details.is_empty());
}

#[tokio::test]
async fn clusters_and_logical_clouds_have_details_by_cluster() {
    let mut stage = Stage::start().await;
    let cloud = LogicalCloudName::new("shop", "lc1").unwrap();
    let subjects = [
        (RecordSubject::Cluster(cluster()), "8"),
        (RecordSubject::LogicalCloud(cloud), "9"),
    ];
    for (subject, id) in &subjects {
        stage.publish_as(subject, id, "Instantiated", Phase::Ready);
    }
    let keys = [
        Key::ClusterKey(ClusterKey {
            cluster_provider: "lab".to_owned(),
            cluster: "edge01".to_owned(),
        }),
        Key::LcKey(LcKey {
            project: "shop".to_owned(),
            logical_cloud: "lc1".to_owned(),
        }),
    ];
    let mut client = stage.client().await;
    for (key, id) in keys.into_iter().zip(["a", "b"]) {
        let registration = StatusRegistration {
            key: Some(key),
            output: OutputType::All.into(),
            ..registration(id, StatusValue::Ready)
        };
        let mut stream = register(&mut client, registration).await.unwrap();
        let notification = next(&mut stream).await.unwrap().unwrap();
        assert_eq!(notification.status_value(), StatusValue::Ready);
        let [detail] = &*notification.details else {
            panic!("{notification:?}");
        };
        assert!(
            matches!(&detail.status_detail, Some(StatusDetail::Cluster(it)) if it.resources.len() == 2),
            "{detail:?}"
        );
    }
}

#[tokio::test]
async fn a_found_application_can_be_ready_and_is_never_deployed() {
    let mut stage = Stage::start().await;
    let name = DigName::found("shop", None).unwrap();
    let view = ContextView {
        meta: Some(name.clone()),
        apps: vec![app("front", &["front"], Phase::Ready)],
        ..ContextView::default()
    };
    let key = ApplicationKey::Found(name);
    stage.writer.publish(&key, view, Vec::new());
    let mut client = stage.client().await;
    for (status, expected) in [
        (StatusValue::Ready, StatusValue::Ready),
        (StatusValue::Deployed, StatusValue::NotDeployed),
    ] {
        let registration = StatusRegistration {
            key: Some(Key::DigKey(DigKey {
                project: "-".to_owned(),
                composite_app: "shop".to_owned(),
                composite_app_version: "-".to_owned(),
                deployment_intent_group: "-".to_owned(),
            })),
            ..registration(status.as_str_name(), status)
        };
        let mut stream = register(&mut client, registration).await.unwrap();
        assert_eq!(value(&mut stream).await, expected);
    }
}
