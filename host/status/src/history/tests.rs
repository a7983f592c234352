use kindsight_api::history::TransitionCause;
use kindsight_model::{Phase, SubjectSet};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::bounded::{TRANSITIONS_OF_APPLICATION_MAX, TRANSITIONS_OF_RESOURCE_MAX};
use super::*;
use crate::samples::{SECOND, cluster, core, id, vfw, vfw_apps, vfw_snapshot};
use crate::{PhaseState, QueryError, ResourceId, Snapshot};

pub(super) fn key() -> ApplicationKey {
    ApplicationKey::Context(id(SECOND))
}

pub(super) fn resource(app: &str, on: &str, name: &str) -> ResourceId {
    ResourceId {
        app: app.into(),
        cluster: cluster(on),
        gvk: core("ConfigMap"),
        namespace: "default".into(),
        name: name.into(),
    }
}

pub(super) fn transition(resource: impl Into<Option<ResourceId>>, at_ms: i64) -> Transition {
    let state = |phase: Phase| {
        Some(PhaseState {
            phase,
            state: phase.state().into(),
        })
    };
    Transition {
        resource: resource.into().map(Arc::new),
        from: state(Phase::Ready),
        to: state(Phase::Failed),
        at_ms,
        since_ms: Some(0),
        reason: "Why".into(),
        message: "because".into(),
        by: None,
        cause: TransitionCause::Observed,
    }
}

fn times(histories: &Histories, of: &ApplicationKey) -> Vec<i64> {
    let history = histories.of(of).into_iter().flat_map(Bounded::iter);
    history.map(|recorded| recorded.transition.at_ms).collect()
}

#[test]
fn a_flapping_resource_displaces_only_its_own_transitions() {
    let mut histories = Histories::default();
    let max = i64::try_from(TRANSITIONS_OF_RESOURCE_MAX).unwrap();
    histories.record(
        &key(),
        vec![transition(resource("a", "edge01", "quiet"), -1)],
    );
    for at in 0..max + 30 {
        let flapping = [None, Some(resource("a", "edge01", "flapping"))];
        histories.record(
            &key(),
            flapping.map(|resource| transition(resource, at)).into(),
        );
    }
    let kept = times(&histories, &key());
    assert_eq!(kept.len(), 1 + 2 * TRANSITIONS_OF_RESOURCE_MAX);
    assert_eq!((kept[0], kept[1]), (-1, 30));
    assert_eq!(histories.of(&key()).unwrap().dropped(), 60);
}

#[test]
fn transitions_are_limited_per_application_and_by_total_size() {
    let one = transition(resource("a", "edge01", "x"), 0).bytes();
    let mut histories = Histories::limited(10 * one);
    let other = ApplicationKey::Found(DigName::found("shop", None).unwrap());
    for at in 0..8 {
        let name = format!("{at}");
        histories.record(&key(), vec![transition(resource("a", "edge01", &name), at)]);
    }
    for at in 8..14 {
        let name = format!("{}", at - 8);
        histories.record(&other, vec![transition(resource("a", "edge01", &name), at)]);
    }
    // The oldest transitions of all applications are dropped.
    assert_eq!(times(&histories, &key()), [4, 5, 6, 7]);
    assert_eq!(times(&histories, &other), [8, 9, 10, 11, 12, 13]);
    assert_eq!(histories.of(&key()).unwrap().dropped(), 4);
    histories.forget(&other);
    assert_eq!(histories.bytes, 4 * one);
    assert_eq!(histories.oldest.len(), 1);

    let mut histories = Histories::default();
    for at in 0..TRANSITIONS_OF_APPLICATION_MAX + 5 {
        let at_ms = i64::try_from(at).unwrap();
        let of = resource("a", "edge01", &at.to_string());
        histories.record(&key(), vec![transition(of, at_ms)]);
    }
    assert_eq!(
        times(&histories, &key()).len(),
        TRANSITIONS_OF_APPLICATION_MAX
    );
    assert_eq!(times(&histories, &key())[0], 5);
}

#[test]
fn removing_a_cluster_removes_its_transitions() {
    let mut histories = Histories::default();
    for (at, of) in [
        None,
        Some(resource("a", "edge01", "x")),
        Some(resource("a", "edge02", "x")),
        Some(resource("b", "edge01", "y")),
    ]
    .into_iter()
    .enumerate()
    {
        let at_ms = i64::try_from(at).unwrap();
        histories.record(&key(), vec![transition(of, at_ms)]);
    }
    histories.forget_cluster(&key(), &cluster("edge01"));
    assert_eq!(times(&histories, &key()), [0, 2]);
    assert_eq!(histories.of(&key()).unwrap().dropped(), 0);
}

proptest! {
    #[test]
    fn the_totals_match_the_kept_transitions(
        steps in vec((0..3_usize, 0..4_u8, any::<bool>()), 0..300),
    ) {
        let one = transition(resource("a", "edge01", "0"), 0).bytes();
        let mut histories = Histories::limited(40 * one);
        let keys = ["1", "2", "3"].map(|context| ApplicationKey::Context(id(context)));
        for (at, (of, name, forgets)) in steps.into_iter().enumerate() {
            let key = &keys[of];
            if forgets && at % 20 == 0 {
                histories.forget(key);
            } else {
                let of = resource("a", "edge01", &name.to_string());
                histories.record(key, vec![transition(of, 0)]);
            }
            let kept = histories.of.values().flat_map(Bounded::iter);
            let bytes: usize = kept.map(|recorded| recorded.transition.bytes()).sum();
            prop_assert_eq!(bytes, histories.bytes);
            prop_assert!(bytes <= 40 * one);
            let oldest: BTreeMap<u64, ApplicationKey> = histories.of.iter()
                .filter_map(|(key, history)| Some((history.iter().next()?.id, key.clone())))
                .collect();
            prop_assert_eq!(&oldest, &histories.oldest);
        }
    }
}

/// The firewall with its history.
struct Model {
    snapshot: Snapshot,
    histories: Histories,
}

fn model() -> Model {
    let of = [
        Some(resource("sink", "edge01", "sink-configmap")),
        None,
        Some(resource("old", "edge09", "gone")),
        Some(resource("sink", "edge01", "sink-configmap")),
    ];
    let of = of.into_iter().zip(1000..);
    let mut histories = Histories::default();
    histories.record(&key(), of.map(|(of, at)| transition(of, at)).collect());
    let apps = vfw_apps(&["edge01"], kindsight_model::RsyncStatus::Applied);
    Model {
        snapshot: vfw_snapshot(apps),
        histories,
    }
}

fn ask(model: &Model, pairs: &[(&str, &str)]) -> Result<Value, QueryError> {
    let query = HistoryQuery::parse(pairs.iter().copied()).unwrap();
    let subject = model
        .snapshot
        .visible_to(&SubjectSet::Everything)
        .dig(&vfw(), &query.selection)?;
    let answer = HistoryAnswer::new(subject, &query, |key| model.histories.select(key, &query))?;
    Ok(serde_json::to_value(answer.answer()).unwrap())
}

fn ids(answer: &Value) -> Vec<u64> {
    let transitions = answer["transitions"].as_array().unwrap().iter();
    transitions
        .map(|transition| transition["id"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_history_is_listed_newest_first_in_pages() {
    let model = model();
    let all = ask(&model, &[]).unwrap();
    assert_eq!(ids(&all), [4, 3, 2, 1]);
    assert_eq!(all["instance"], SECOND);
    assert_eq!(all["name"], "vfw_deployment_intent_group");
    assert_eq!(all["next"], Value::Null);
    let newest = json!({
        "id": 4, "at": "1970-01-01T00:00:01.003Z", "app": "sink",
        "cluster": "vfw-cluster-provider+edge01", "name": "sink-configmap",
        "GVK": {"Group": "", "Version": "v1", "Kind": "ConfigMap"}, "namespace": "default",
        "from": {"phase": "ready", "state": "Ready"}, "to": {"phase": "failed", "state": "Failed"},
        "since": "1970-01-01T00:00:00Z", "reason": "Why", "message": "because",
        "cause": "observed",
    });
    assert_eq!(all["transitions"][0], newest);
    let page = ask(&model, &[("limit", "3")]).unwrap();
    assert_eq!((ids(&page), &page["next"]), (vec![4, 3, 2], &json!(2)));
    let page = ask(&model, &[("limit", "3"), ("before", "2")]).unwrap();
    assert_eq!((ids(&page), &page["next"]), (vec![1], &Value::Null));
}

#[test]
fn a_history_can_be_filtered_by_names_that_no_longer_exist() {
    let model = model();
    assert_eq!(ids(&ask(&model, &[("app", "sink")]).unwrap()), [4, 1]);
    assert_eq!(ids(&ask(&model, &[("resource", "gone")]).unwrap()), [3]);
    let gone = [("app", "old"), ("cluster", "vfw-cluster-provider+edge09")];
    assert_eq!(ids(&ask(&model, &gone).unwrap()), [3]);
    // The app exists and has no transitions.
    assert_eq!(ids(&ask(&model, &[("app", "firewall")]).unwrap()), [0; 0]);
    let error = ask(&model, &[("app", "typo"), ("resource", "gone")]).unwrap_err();
    let QueryError::NotFound(problems) = error else {
        panic!("{error:?}");
    };
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].expected.contains("firewall"), "{problems:?}");
}

#[test]
fn a_history_is_removed_with_its_application() {
    let mut model = model();
    model.histories.forget(&key());
    model.snapshot.set_application(&key(), None);
    let latest = ask(&model, &[]).unwrap();
    assert_eq!(ids(&latest), [0; 0]);
    assert!(
        latest["message"]
            .as_str()
            .unwrap()
            .contains("no longer stored")
    );
    ask(&model, &[("instance", SECOND)]).unwrap_err();
    let never = ask(&model, &[("instance", "1")]).unwrap_err();
    assert!(matches!(never, QueryError::NotFound(_)), "{never:?}");
}
