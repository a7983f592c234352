use std::collections::HashMap;

use kindsight_model::{Phase, RsyncStatus};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::samples::{
    NOW_MS, app, cluster, context, expected, input, object, observed, owned, removed, report,
    verdict,
};
use crate::{ClusterInput, Expected, Recorded, Staleness, project};

const ID: &str = "7";

fn shown(input: ClusterInput) -> Arc<ClusterView> {
    Arc::new(project(input, None, NOW_MS))
}

/// Deployments with their phases and messages, in one cluster.
fn deployments(on: &str, of: &[(&str, Phase, &str)]) -> Arc<ClusterView> {
    let mut input = input(on, Vec::new());
    let judged = of.iter().map(|(name, phase, message)| {
        let object = object("apps/v1", "Deployment", "web", name);
        observed(object, verdict(*phase, "Why", message))
    });
    report(&mut input, judged.collect());
    shown(input)
}

fn view(apps: Vec<Arc<AppView>>) -> ContextView {
    context(ID, "Instantiated", apps)
}

fn described(before: Before<'_>, after: &ContextView) -> Vec<String> {
    let found = transitions(before, after, TransitionCause::Observed, 5000);
    found.iter().map(line).collect()
}

fn line(transition: &Transition) -> String {
    let state = |state: &Option<PhaseState>| match state {
        Some(state) => state.state.to_string(),
        None => "-".to_owned(),
    };
    let of = transition
        .resource
        .as_ref()
        .map_or("whole".to_owned(), |id| {
            format!(
                "{} {} {} {}",
                id.app, id.cluster.name, id.namespace, id.name
            )
        });
    format!(
        "{of}: {} > {} {}",
        state(&transition.from),
        state(&transition.to),
        transition.reason
    )
}

#[test]
fn new_resources_have_transitions_and_equal_views_have_none() {
    let one = [
        ("front", Phase::Ready, ""),
        ("back", Phase::Pending, "1 of 2"),
    ];
    let first = view(vec![app("a", vec![deployments("edge01", &one)])]);
    assert_eq!(
        described(Before::Nothing, &first),
        [
            "a edge01 web front: - > Ready Why",
            "a edge01 web back: - > Pending Why",
            "whole: - > Pending Why"
        ]
    );
    assert_eq!(described(Before::View(&first), &first.clone()), [""; 0]);
    // Another message, another order, and a stale report.
    let other = [
        ("back", Phase::Pending, "2 of 2"),
        ("front", Phase::Ready, ""),
    ];
    let stale = Staleness {
        since_ms: 1,
        reason: "away".into(),
    };
    let marked = deployments("edge01", &other).with_report(
        crate::Report::Received { stale: Some(stale) },
        vec!["a fault".into()],
    );
    let second = view(vec![app("a", vec![Arc::new(marked)])]);
    assert_eq!(described(Before::View(&first), &second), [""; 0]);
}

#[test]
fn a_transition_has_times_reason_interpreter_and_cause() {
    let before = view(vec![app(
        "a",
        vec![deployments("edge01", &[("front", Phase::Ready, "")])],
    )]);
    let long = "ä".repeat(TRANSITION_MESSAGE_BYTES_MAX);
    let mut input = input("edge01", Vec::new());
    let failed = Verdict {
        since_ms: Some(4000),
        ..verdict(Phase::Failed, "Crashing", &long)
    };
    let front = object("apps/v1", "Deployment", "web", "front");
    report(&mut input, vec![observed(front, failed)]);
    let after = view(vec![app("a", vec![shown(input)])]);
    let found = transitions(
        Before::View(&before),
        &after,
        TransitionCause::Interpreters,
        5000,
    );
    let [resource, whole] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!((resource.at_ms, resource.since_ms), (5000, Some(4000)));
    assert_eq!(&*resource.reason, "Crashing");
    assert_eq!(resource.message.len(), TRANSITION_MESSAGE_BYTES_MAX);
    assert_eq!(&*resource.by.as_ref().unwrap().name, "apps");
    assert_eq!(whole.by, resource.by);
    assert_eq!(
        &*whole.message,
        "Deployment front of a in vfw-cluster-provider+edge01 is Failed (Crashing)"
    );
    for transition in &found {
        assert_eq!(
            transition.cause,
            TransitionCause::Interpreters,
            "{transition:?}"
        );
    }
}

/// Deployments with their phases and times, in one cluster.
fn dated(of: &[(&str, Phase, i64)], previous: Option<&ContextView>) -> ContextView {
    let mut input = input("edge01", Vec::new());
    let judged = of.iter().map(|&(name, phase, since_ms)| {
        let object = object("apps/v1", "Deployment", "web", name);
        let dated = Verdict {
            since_ms: Some(since_ms),
            ..verdict(phase, "Why", "")
        };
        observed(object, dated)
    });
    report(&mut input, judged.collect());
    let previous = previous.map(|view| &*view.apps[0].clusters()[0]);
    view(vec![app(
        "a",
        vec![Arc::new(project(input, previous, 5000))],
    )])
}

#[test]
fn the_state_of_an_application_begins_with_the_change_that_caused_it() {
    let ready = dated(
        &[("a", Phase::Ready, 100), ("b", Phase::Degraded, 200)],
        None,
    );
    let failed = dated(
        &[("a", Phase::Failed, 3000), ("b", Phase::Degraded, 200)],
        Some(&ready),
    );
    let repaired = dated(
        &[("a", Phase::Ready, 4000), ("b", Phase::Degraded, 200)],
        Some(&failed),
    );
    let deleted = dated(&[("a", Phase::Ready, 4000)], Some(&repaired));
    let terminating = ContextView {
        status: Some(kindsight_model::ContextStatus::Terminating),
        ..deleted.clone()
    };
    let since = |before: &ContextView, after: &ContextView| {
        let found = transitions(Before::View(before), after, TransitionCause::Observed, 5000);
        let whole = found.last().filter(|last| last.resource.is_none());
        whole.and_then(|last| last.since_ms)
    };
    assert_eq!(
        since(&ready, &failed),
        Some(3000),
        "with its worst resource"
    );
    assert_eq!(
        since(&failed, &repaired),
        Some(4000),
        "b has been degraded for longer"
    );
    assert_eq!(since(&repaired, &deleted), Some(5000), "it is seen now");
    assert_eq!(since(&deleted, &terminating), Some(5000));
}

#[test]
fn removed_resources_have_transitions_with_the_reason() {
    let gone = object("apps/v1", "Deployment", "web", "gone");
    let child = owned(("Pod", "web", "front-1", "2"), &[]);
    let mut before = input("edge01", vec![expected("v1", "ConfigMap", "sent")]);
    before.unseen = vec![removed(&gone, 3000)];
    report(
        &mut before,
        vec![observed(child, verdict(Phase::Ready, "", ""))],
    );
    let before = view(vec![app("a", vec![shown(before)])]);
    let mut after = input("edge01", Vec::new());
    report(&mut after, Vec::new());
    let after = view(vec![app("a", vec![shown(after)])]);
    let expected = [
        "a edge01  sent: NotPresent > - NotSent",
        "a edge01 web front-1: Ready > - Gone",
        "a edge01 web gone: NotPresent > - Forgotten",
    ];
    let mut found = described(Before::View(&before), &after);
    assert_eq!(found.pop().as_deref(), Some("whole: NotPresent > Unknown "));
    assert_eq!(found, expected);
    // An app is removed, and one of two clusters of another app.
    let other = view(vec![app("a", Vec::new())]);
    assert_eq!(described(Before::View(&before), &other)[..3], expected);
    let none = view(Vec::new());
    assert_eq!(described(Before::View(&before), &none)[..3], expected);
}

#[test]
fn data_that_a_report_adds_does_not_change_the_identity() {
    let sent = || {
        vec![
            expected("apps/v1", "Deployment", "front"),
            Expected::without_manifest("settings", "ConfigMap", Some(RsyncStatus::Applied)),
        ]
    };
    let before = view(vec![app("a", vec![shown(input("edge01", sent()))])]);
    let mut reported = input("edge01", sent());
    let here = [
        object("apps/v1", "Deployment", "default", "front"),
        object("example.com/v1", "ConfigMap", "default", "settings"),
    ];
    let here = here.map(|object| observed(object, verdict(Phase::Ready, "", "")));
    report(&mut reported, here.into());
    let after = view(vec![app("a", vec![shown(reported)])]);
    assert_eq!(
        described(Before::View(&before), &after),
        [
            "a edge01  front: Unknown > Ready ",
            "a edge01  settings: Unknown > Ready ",
            "whole: Unknown > Ready "
        ]
    );
}

#[test]
fn the_desired_state_changes_only_the_application() {
    let mut absent = input("edge01", vec![expected("v1", "ConfigMap", "sent")]);
    report(&mut absent, Vec::new());
    let apps = vec![app("a", vec![shown(absent)])];
    let before = view(apps.clone());
    let after = context(ID, "Terminated", apps);
    assert_eq!(
        described(Before::View(&before), &after),
        ["whole: NotPresent > Terminated "]
    );
}

#[test]
fn an_incomplete_history_makes_no_resource_new() {
    let of = [("front", Phase::Ready, ""), ("back", Phase::Ready, "")];
    let first = view(vec![app("a", vec![deployments("edge01", &of)])]);
    let found = transitions(Before::Nothing, &first, TransitionCause::Observed, 1000);
    let mut history = ApplicationHistory {
        transitions: recorded(&found),
        dropped: 0,
    };
    assert_eq!(described(Before::History(&history), &first), [""; 0]);
    history.transitions.drain(1..);
    assert_eq!(
        described(Before::History(&history), &first),
        ["a edge01 web back: - > Ready Why", "whole: - > Ready "]
    );
    history.dropped = 2;
    assert_eq!(described(Before::History(&history), &first), [""; 0]);
    let of = [("new", Phase::Ready, "")];
    let second = view(vec![app("a", vec![deployments("edge01", &of)])]);
    assert_eq!(
        described(Before::History(&history), &second),
        ["a edge01 web front: Ready > - NotListed"]
    );
}

#[test]
fn apps_without_a_report_since_the_start_have_no_transitions() {
    let of = |ready: &[&str]| {
        let views = ["edge01", "edge02"].map(|on| {
            let mut input = input(on, vec![expected("apps/v1", "Deployment", "front")]);
            if ready.contains(&on) {
                let front = object("apps/v1", "Deployment", "default", "front");
                report(&mut input, vec![(front, verdict(Phase::Ready, "", ""))]);
            }
            shown(input)
        });
        view(vec![app("a", views.into())])
    };
    let both = of(&["edge01", "edge02"]);
    let found = transitions(Before::Nothing, &both, TransitionCause::Observed, 1000);
    let history = ApplicationHistory {
        transitions: recorded(&found),
        dropped: 0,
    };
    for ready in [&[][..], &["edge01"]] {
        assert!(awaits_reports(&history, &of(ready)), "{ready:?}");
        assert_eq!(described(Before::History(&history), &of(ready)), [""; 0]);
    }
    assert!(!awaits_reports(&history, &both));
    assert_eq!(described(Before::History(&history), &both), [""; 0]);
}

#[test]
fn another_verdict_on_a_stored_report_is_caused_by_the_interpreters() {
    let of = |phase: Phase, version: &[u8]| {
        let by = InterpretedBy::new("apps".parse().unwrap(), "1.0.0", Digest::of(version));
        let mut input = input("edge01", Vec::new());
        let front = object("apps/v1", "Deployment", "web", "front");
        let verdict = verdict(phase, "", "").given_by(&Arc::new(by));
        report(&mut input, vec![(front, verdict)]);
        view(vec![app("a", vec![shown(input)])])
    };
    let first = of(Phase::Ready, b"one");
    let found = transitions(Before::Nothing, &first, TransitionCause::Observed, 1000);
    let history = ApplicationHistory {
        transitions: recorded(&found),
        dropped: 0,
    };
    for (component, cause) in [
        (b"two", TransitionCause::Interpreters),
        (b"one", TransitionCause::Observed),
    ] {
        let after = of(Phase::Failed, component);
        let found = transitions(
            Before::History(&history),
            &after,
            TransitionCause::Observed,
            2000,
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found.iter().all(|transition| transition.cause == cause),
            "{found:?}"
        );
    }
}

/// The state of each subject after all transitions, from nothing.
type Folded = HashMap<Option<Arc<ResourceId>>, PhaseState>;

fn fold(folded: &mut Folded, transitions: Vec<Transition>) -> Result<(), TestCaseError> {
    for transition in transitions {
        prop_assert_ne!(&transition.from, &transition.to, "{:?}", transition);
        prop_assert_eq!(
            folded.get(&transition.resource),
            transition.from.as_ref(),
            "{:?}",
            transition
        );
        match transition.to {
            Some(to) => folded.insert(transition.resource, to),
            None => folded.remove(&transition.resource),
        };
    }
    Ok(())
}

/// The state of each subject that a view shows.
fn states(view: &ContextView) -> Folded {
    let mut states = Folded::from([(None, application_state(view))]);
    for app in &view.apps {
        for of_cluster in app.clusters() {
            for resource in of_cluster.resources().iter() {
                let id = id_of(app.name(), of_cluster.cluster(), resource);
                states
                    .entry(Some(Arc::new(id)))
                    .or_insert(state_of(&resource.verdict));
            }
        }
    }
    states
}

fn recorded(transitions: &[Transition]) -> Vec<Recorded> {
    let recorded = transitions.iter().map(|transition| Recorded {
        id: 0,
        transition: Arc::new(transition.clone()),
    });
    recorded.collect()
}

/// An app in a cluster: a mask of the existing resources among three, their phases, and a mask of the sent
/// resources among three.
type DrawnPlacement = (u8, [u8; 3], u8);

fn place(on: &str, (here, phases, sent): DrawnPlacement) -> Arc<ClusterView> {
    let names = ["x", "y", "z"];
    let at = |set: u8| {
        let names = names.iter().enumerate();
        names.filter(move |(bit, _)| set >> bit & 1 == 1)
    };
    let sent = at(sent).map(|(_, name)| expected("v1", "ConfigMap", name));
    let mut input = input(on, sent.collect());
    let judged = at(here).map(|(bit, name)| {
        let phase = Phase::ALL[usize::from(phases[bit]) % Phase::ALL.len()];
        let object = object("v1", "ConfigMap", "default", name);
        observed(object, verdict(phase, "", ""))
    });
    report(&mut input, judged.collect());
    assert_eq!(cluster(on), input.cluster);
    shown(input)
}

proptest! {
    #[test]
    fn applying_all_transitions_gives_the_shown_states(
        steps in vec((0..4_usize, any::<Option<DrawnPlacement>>(), any::<bool>(), any::<bool>()), 1..20),
    ) {
        let places = [("a", "edge01"), ("a", "edge02"), ("b", "edge01"), ("b", "edge02")];
        let mut here: [Option<Arc<ClusterView>>; 4] = Default::default();
        let mut before: Option<ContextView> = None;
        let mut folded = Folded::new();
        let mut history = ApplicationHistory::default();
        for (at, change, is_present, is_restarted) in steps {
            here[at] = change.map(|changed| place(places[at].1, changed));
            let mut apps = Vec::new();
            for name in ["a", "b"] {
                let of = places.iter().zip(&here).filter(|((of, _), _)| *of == name);
                let clusters: Vec<_> = of.filter_map(|(_, view)| view.clone()).collect();
                if !clusters.is_empty() {
                    apps.push(app(name, clusters));
                }
            }
            let after = context(ID, if is_present { "Instantiated" } else { "Terminated" }, apps);
            let known = match &before {
                Some(_) if is_restarted => Before::History(&history),
                Some(before) => Before::View(before),
                None => Before::Nothing,
            };
            let found = transitions(known, &after, TransitionCause::Observed, 1000);
            history.transitions.extend(recorded(&found));
            fold(&mut folded, found)?;
            prop_assert_eq!(&folded, &states(&after));
            before = Some(after);
        }
    }
}
