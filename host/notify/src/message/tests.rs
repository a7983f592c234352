use std::sync::Arc;

use kindsight_model::Gvk;
use kindsight_status::ResourceId;
use serde_json::{Value, json};

use super::*;

const NOW_MS: i64 = 1_700_000_060_000;

fn state(phase: Phase) -> PhaseState {
    PhaseState {
        phase,
        state: phase.state().into(),
    }
}

fn event(from: Option<Phase>, to: Option<Phase>) -> Event {
    let id = ResourceId {
        app: "front".into(),
        cluster: "kubeconfig+edge01".parse().unwrap(),
        gvk: Gvk::new("apps", "v1", "Deployment"),
        namespace: "web".into(),
        name: "front".into(),
    };
    let shop: DigName = "-/shop/-/web".parse().unwrap();
    let known = from.map(|phase| Observed {
        state: Some(state(phase)),
        at_ms: 1_700_000_000_000,
        reason: "".into(),
        message: "".into(),
    });
    let to = Observed {
        state: to.map(state),
        at_ms: 1_700_000_050_000,
        reason: "ProgressDeadlineExceeded".into(),
        message: Arc::from("<!channel> see `x` & *more*"),
    };
    Event::new("ops", 7, Subject::resource(&shop, &id), known.as_ref(), to)
}

fn body(format: NotifyFormat, phases: &[Phase], events: &[&Event]) -> Value {
    let message = message(format, phases, events, NOW_MS);
    serde_json::from_slice(&message.body).unwrap()
}

#[test]
fn a_cloud_event_has_the_required_attributes_and_the_transition() {
    let event = event(Some(Phase::Ready), Some(Phase::Failed));
    let expected = json!({
        "specversion": "1.0",
        "id": event.id,
        "source": "/kindsight",
        "type": "dev.kindsight.resource.transition",
        "subject": "applications/-/shop/-/web/resources/front/kubeconfig+edge01/apps/Deployment/web/front",
        "time": "2023-11-14T22:14:10Z",
        "datacontenttype": "application/json",
        "sequence": "00000000000000000007",
        "data": {
            "application": "-/shop/-/web",
            "app": "front",
            "cluster": "kubeconfig+edge01",
            "group": "apps",
            "kind": "Deployment",
            "namespace": "web",
            "name": "front",
            "from": {"phase": "ready", "state": "Ready"},
            "to": {"phase": "failed", "state": "Failed"},
            "reason": "ProgressDeadlineExceeded",
            "message": "<!channel> see `x` & *more*",
            "merged": 0,
        },
    });
    assert_eq!(body(NotifyFormat::CloudEvents, &[], &[&event]), expected);
    assert_eq!(event.id.len(), 32);
}

#[test]
fn an_alert_fires_in_a_problem_and_is_resolved_at_its_end() {
    let times = |from, to, phases: &[Phase]| {
        let event = event(from, to);
        let alerts = body(NotifyFormat::Alertmanager, phases, &[&event]);
        let alert = &alerts[0];
        assert_eq!(alert["labels"]["alertname"], "KindsightResource");
        assert_eq!(alert["labels"]["name"], "front");
        assert_eq!(alert["labels"]["phase"], Value::Null, "it would change");
        let time = |key: &str| alert[key].as_str().unwrap()[14..].to_owned();
        (time("startsAt"), time("endsAt"))
    };
    let (changed, later) = ("14:10Z".to_owned(), "29:20Z".to_owned());
    let began = "13:20Z".to_owned();
    let failed = Some(Phase::Failed);
    assert_eq!(
        times(Some(Phase::Ready), failed, &[]),
        (changed.clone(), later.clone())
    );
    assert_eq!(
        times(Some(Phase::Unknown), failed, &[]),
        (began.clone(), later)
    );
    let ends = (began, changed.clone());
    assert_eq!(times(failed, Some(Phase::Ready), &[]), ends);
    assert_eq!(times(failed, None, &[]), ends, "it is gone");
    let only_pending = [Phase::Pending];
    let ended = times(Some(Phase::Ready), failed, &only_pending);
    assert_eq!(ended, (changed.clone(), changed));
}

#[test]
fn of_several_alerts_of_a_subject_the_last_one_is_sent() {
    let first = event(Some(Phase::Ready), Some(Phase::Failed));
    let last = event(Some(Phase::Failed), Some(Phase::Ready));
    let alerts = body(NotifyFormat::Alertmanager, &[], &[&first, &last]);
    assert_eq!(alerts.as_array().unwrap().len(), 1);
    assert_eq!(alerts[0]["annotations"]["phase"], "ready");
}

#[test]
fn a_text_of_a_cluster_has_no_markup_in_slack() {
    let event = event(Some(Phase::Ready), Some(Phase::Failed));
    let text = body(NotifyFormat::Slack, &[], &[&event])["text"].clone();
    let expected = ":red_circle: `Deployment/front` in cluster `kubeconfig+edge01` (application `-/shop/-/web`) is \
        *Failed* (was Ready)\nProgressDeadlineExceeded\n&lt;!channel&gt; see 'x' &amp; 'more'";
    assert_eq!(text, expected);
}
