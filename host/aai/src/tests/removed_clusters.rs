use kindsight_model::Phase;

use super::{Scene, pod, settings};

#[tokio::test(flavor = "multi_thread")]
async fn vservers_of_a_cluster_that_is_removed_from_the_configuration_remain() {
    let mut scene = Scene::new();
    scene.publish(&[(pod("a", "module-1"), Phase::Ready)]);
    scene.wait_for_vservers(&["a Ready module-1"]).await;
    let in_service = |scene: &Scene| scene.operational_status() == "in-service-path";
    scene.wait_for("the VNF", in_service).await;
    scene.stop().await;

    // The application still names the cluster.
    let mut settings = settings(&scene.inventory);
    settings.clusters.clear();
    scene.start_with(settings);
    scene.publish(&[(pod("a", "module-1"), Phase::Failed)]);
    // The VNF follows the application.
    let out = |scene: &Scene| scene.operational_status() == "out-of-service-path";
    scene.wait_for("the VNF", out).await;
    scene.wait_until_idle().await;
    scene.stop().await;
    assert_eq!(scene.vservers(), ["a Ready module-1"]);
}
