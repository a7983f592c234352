use kindsight_model::{DigName, Phase};
use kindsight_status::{ApplicationKey, ContextView};

use super::{Scene, name, pod, view};

#[tokio::test(flavor = "multi_thread")]
async fn a_health_scope_changes_no_vserver_and_no_vnf() {
    let mut scene = Scene::new();
    let scope = DigName::health_scope("aaa", "default").unwrap();
    let failed = ContextView {
        meta: Some(scope.clone()),
        ..view(&[(pod("a", "module-1"), Phase::Failed)], false)
    };
    let scope = ApplicationKey::Found(scope);
    scene.writer.publish(&scope, failed, Vec::new());
    scene.publish(&[(pod("a", "module-1"), Phase::Ready)]);
    scene.wait_for_vservers(&["a Ready module-1"]).await;
    let in_service = |scene: &Scene| scene.operational_status() == "in-service-path";
    scene.wait_for("the VNF", in_service).await;
    let (_, vserver) = scene.inventory.vservers().remove(0);
    assert_eq!(vserver["vserver-name2"], "shop");

    // The application ends before the scope.
    scene.writer.remove(&ApplicationKey::Found(name()));
    scene.wait_for_vservers(&[]).await;
    scene.stop().await;
}
