use kindsight_model::{
    Coverage, Gvk, KindCoverage, KindState, ObjectError, Phase, Rejected, RejectedIdentity, Scope,
};
use kindsight_status::Reported;

use super::{Scene, pod, reported, view_of};

/// A coverage in which not every object of a Kind is known.
fn incomplete(kind: &str) -> Coverage {
    let mut coverage = Coverage::default();
    let incomplete = KindCoverage::new(KindState::Incomplete);
    coverage.set("", kind, Scope::Cluster, incomplete);
    coverage
}

/// A report with an item that could not be read.
fn rejecting(pointer: &str, identity: Option<RejectedIdentity>) -> Reported {
    let item = Rejected {
        pointer: pointer.to_owned(),
        error: ObjectError::NotAnObject("damaged".to_owned()),
        identity,
    };
    Reported {
        rejected: [item].into(),
        ..Reported::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vserver_remains_if_the_report_may_lack_its_pod() {
    let mut scene = Scene::new();
    let ready = |name: &str| (pod(name, "module-1"), Phase::Ready);
    scene.publish(&[ready("a"), ready("b")]);
    let both = ["a Ready module-1", "b Ready module-1"];
    scene.wait_for_vservers(&both).await;
    let identity = RejectedIdentity {
        gvk: Gvk::new("", "v1", "Pod"),
        namespace: "default".into(),
        name: "b".into(),
    };
    let lacking = [
        Reported {
            coverage: incomplete("Pod"),
            ..Reported::default()
        },
        rejecting("/status/resourceStatuses/1/res", Some(identity)),
        rejecting("/status/podStatuses", None),
        rejecting("/status/resourceStatuses", None),
    ];
    for (number, lacking) in lacking.into_iter().enumerate() {
        let (phase, word, status) = if number % 2 == 0 {
            (Phase::Failed, "Failed", "out-of-service-path")
        } else {
            (Phase::Ready, "Ready", "in-service-path")
        };
        let present = reported(&[(pod("a", "module-1"), phase)]);
        scene.publish_view(view_of(Reported {
            objects: present.objects,
            verdicts: present.verdicts,
            ..lacking
        }));
        let first = format!("a {word} module-1");
        scene
            .wait_for_vservers(&[first.as_str(), "b Ready module-1"])
            .await;
        // The VNF follows the application.
        let follows = |scene: &Scene| scene.operational_status() == status;
        scene.wait_for("the VNF", follows).await;
    }

    // Every Pod is known.
    scene.publish_view(view_of(Reported {
        coverage: incomplete("Service"),
        ..reported(&[ready("a")])
    }));
    scene.wait_for_vservers(&["a Ready module-1"]).await;
    scene.check_rules();
    scene.stop().await;
}
