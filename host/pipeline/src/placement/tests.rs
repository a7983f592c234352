use kindsight_model::{Object, Origin, Phase, Report, Verdict};

use super::*;
use crate::view_change::ViewChange;

fn pending(since_ms: Option<i64>) -> Verdict {
    Verdict {
        since_ms,
        ..Verdict::host(Phase::Pending, "Waiting", "for a node")
    }
}

/// Since when the only resource is in its state.
fn since_ms(placement: &Placement) -> Option<i64> {
    let view = placement.view().unwrap();
    view.resources().first().unwrap().since_ms
}

/// A placement that a cluster reported at 100, with this verdict on its only resource.
fn reported(verdict: Verdict) -> Placement {
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}"#;
    let mut placement = Placement::recorded("p+c".parse().unwrap());
    let report = Report {
        objects: [Object::from_json(pod).unwrap()].into(),
        ..Report::empty(Origin::Monitor)
    };
    placement.report = Some(HeldReport::of(report, &placement.desired));
    placement.verdicts = Verdicts::of(vec![verdict]);
    placement.project(100);
    placement
}

#[test]
fn the_newest_date_of_a_state_is_shown_although_it_is_no_new_verdict() {
    let mut placement = reported(pending(None));
    assert_eq!(since_ms(&placement), Some(100));

    for (told, shown) in [(Some(70), 70), (Some(80), 80), (None, 80)] {
        let change = placement.verdicts.replace([(0, pending(told))]);
        assert_eq!(change, ViewChange::Since);
        placement.project(200);
        assert_eq!(since_ms(&placement), Some(shown));
    }
    assert_eq!(
        placement.verdicts.replace([(0, pending(None))]),
        ViewChange::Nothing
    );
    let failed = Verdict::host(Phase::Failed, "Waiting", "for a node");
    assert_eq!(
        placement.verdicts.replace([(0, failed)]),
        ViewChange::Verdicts
    );
    placement.project(300);
    assert_eq!(since_ms(&placement), Some(300));
}

/// The phases of the resources, and since when they are stale.
fn shown(placement: &Placement) -> (Vec<Phase>, Option<i64>) {
    let view = placement.view().unwrap();
    let resources = view.resources().iter();
    let phases = resources.map(|resource| resource.verdict.phase).collect();
    (phases, view.report().stale().map(|stale| stale.since_ms))
}

#[test]
fn the_state_of_a_previous_owner_is_stale_until_the_cluster_was_listed() {
    let in_phase = |phase| reported(Verdict::host(phase, "R", ""));
    let previous = in_phase(Phase::Failed).view().unwrap();
    let stale = Staleness {
        since_ms: 70,
        reason: "taken over".into(),
    };
    // The second host watched the cluster before the previous owner.
    let hosts = [
        Placement::recorded("p+c".parse().unwrap()),
        in_phase(Phase::Ready),
    ];
    for mut placement in hosts {
        assert_eq!(placement.take_over(&previous, &stale), Work::Mark);
        placement.mark();
        assert_eq!(shown(&placement), (vec![Phase::Failed], Some(70)));
        // The manifests change.
        placement.project(200);
        assert_eq!(shown(&placement), (vec![Phase::Failed], Some(70)));
        assert_eq!(placement.synced(300), Work::Project);
        placement.project(300);
        assert_eq!(shown(&placement), (vec![], None));
        assert_eq!(placement.synced(400), Work::Nothing);
    }
}
