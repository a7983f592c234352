use std::collections::HashMap;

use kindsight_model::{Phase, RsyncStatus};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::samples::{
    NOW_MS, app, cluster, context, expected, input, object, observed, owned, report, verdict,
};
use crate::{ClusterInput, Expected, Recorded, Staleness, Unseen, project};

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

fn view(apps: Vec<AppView>) -> ContextView {
    context(ID, "Instantiated", apps)
}

fn told(before: Before<'_>, after: &ContextView) -> Vec<String> {
    let found = transitions(before, after, TransitionCause::Observed, 5000);
    found.iter().map(line).collect()
}

fn line(it: &Transition) -> String {
    let state = |state: &Option<PhaseState>| match state {
        Some(it) => it.state.to_string(),
        None => "-".to_owned(),
    };
    let of = it.resource.as_ref().map_or("whole".to_owned(), |id| {
        format!(
            "{} {} {} {}",
            id.app, id.cluster.name, id.namespace, id.name
        )
    });
    format!(
        "{of}: {} > {} {}",
        state(&it.from),
        state(&it.to),
        it.reason
    )
}

#[test]
fn what_is_seen_first_comes_from_nothing_and_what_is_equal_is_not_told() {
    let one = [
        ("front", Phase::Ready, ""),
        ("back", Phase::Pending, "1 of 2"),
    ];
    let first = view(vec![app("a", vec![deployments("edge01", &one)])]);
    assert_eq!(
        told(Before::Nothing, &first),
        [
            "a edge01 web front: - > Ready Why",
            "a edge01 web back: - > Pending Why",
            "whole: - > Pending Why"
        ]
    );
    assert_eq!(told(Before::View(&first), &first.clone()), [""; 0]);
    // Another message, another order, and a report that may be out of date.
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
    assert_eq!(told(Before::View(&first), &second), [""; 0]);
}

#[test]
fn a_change_tells_when_why_by_whom_and_since_when() {
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
    for it in &found {
        assert_eq!(it.cause, TransitionCause::Interpreters, "{it:?}");
    }
}

#[test]
fn what_is_not_listed_any_more_goes_to_nothing_with_the_reason() {
    let gone = object("apps/v1", "Deployment", "web", "gone");
    let child = owned(("Pod", "web", "front-1", "2"), &[]);
    let mut before = input("edge01", vec![expected("v1", "ConfigMap", "sent")]);
    before.unseen = vec![Unseen::gone(gone, 3000)];
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
    let mut found = told(Before::View(&before), &after);
    assert_eq!(found.pop().as_deref(), Some("whole: NotPresent > Unknown "));
    assert_eq!(found, expected);
    // As a whole app, and as a cluster of one that stays.
    let other = view(vec![app("a", Vec::new())]);
    assert_eq!(told(Before::View(&before), &other)[..3], expected);
    let none = view(Vec::new());
    assert_eq!(told(Before::View(&before), &none)[..3], expected);
}

#[test]
fn what_a_report_adds_to_a_manifest_makes_no_other_resource() {
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
    let here = here.map(|it| observed(it, verdict(Phase::Ready, "", "")));
    report(&mut reported, here.into());
    let after = view(vec![app("a", vec![shown(reported)])]);
    assert_eq!(
        told(Before::View(&before), &after),
        [
            "a edge01  front: Unknown > Ready ",
            "a edge01  settings: Unknown > Ready ",
            "whole: Unknown > Ready "
        ]
    );
}

#[test]
fn what_is_asked_of_an_application_changes_it_as_a_whole() {
    let mut absent = input("edge01", vec![expected("v1", "ConfigMap", "sent")]);
    report(&mut absent, Vec::new());
    let apps = vec![app("a", vec![shown(absent)])];
    let before = view(apps.clone());
    let after = context(ID, "Terminated", apps);
    assert_eq!(
        told(Before::View(&before), &after),
        ["whole: NotPresent > Terminated "]
    );
}

#[test]
fn where_a_part_of_a_history_was_dropped_what_it_does_not_tell_of_is_no_first_sight() {
    let of = [("front", Phase::Ready, ""), ("back", Phase::Ready, "")];
    let first = view(vec![app("a", vec![deployments("edge01", &of)])]);
    let found = transitions(Before::Nothing, &first, TransitionCause::Observed, 1000);
    let mut history = ApplicationHistory {
        transitions: recorded(&found),
        dropped: 0,
    };
    assert_eq!(told(Before::History(&history), &first), [""; 0]);
    history.transitions.drain(1..);
    assert_eq!(
        told(Before::History(&history), &first),
        ["a edge01 web back: - > Ready Why", "whole: - > Ready "]
    );
    history.dropped = 2;
    assert_eq!(told(Before::History(&history), &first), [""; 0]);
    let of = [("new", Phase::Ready, "")];
    let second = view(vec![app("a", vec![deployments("edge01", &of)])]);
    assert_eq!(
        told(Before::History(&history), &second),
        ["a edge01 web front: Ready > - NotListed"]
    );
}

#[test]
fn what_has_not_reported_since_the_start_is_not_told_until_it_does() {
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
        assert_eq!(told(Before::History(&history), &of(ready)), [""; 0]);
    }
    assert!(!awaits_reports(&history, &both));
    assert_eq!(told(Before::History(&history), &both), [""; 0]);
}

#[test]
fn what_another_component_says_of_what_is_stored_is_a_swap() {
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
        assert!(found.iter().all(|it| it.cause == cause), "{found:?}");
    }
}

/// The state of each subject after all transitions, from nothing.
type Folded = HashMap<Option<Arc<ResourceId>>, PhaseState>;

fn fold(folded: &mut Folded, transitions: Vec<Transition>) -> Result<(), TestCaseError> {
    for it in transitions {
        prop_assert_ne!(&it.from, &it.to, "{:?}", it);
        prop_assert_eq!(folded.get(&it.resource), it.from.as_ref(), "{:?}", it);
        match it.to {
            Some(to) => folded.insert(it.resource, to),
            None => folded.remove(&it.resource),
        };
    }
    Ok(())
}

/// The state of each subject that a view shows.
fn states(view: &ContextView) -> Folded {
    let mut states = Folded::from([(None, application_state(view))]);
    for app in &view.apps {
        for of_cluster in &app.clusters {
            for resource in of_cluster.resources() {
                let id = id_of(&app.name, of_cluster.cluster(), resource);
                states
                    .entry(Some(Arc::new(id)))
                    .or_insert(state_of(&resource.verdict));
            }
        }
    }
    states
}

fn recorded(transitions: &[Transition]) -> Vec<Recorded> {
    let recorded = transitions.iter().map(|it| Recorded {
        id: 0,
        transition: Arc::new(it.clone()),
    });
    recorded.collect()
}

/// An app in a cluster: which of three resources are there, in which phases, and which of three are sent.
type Place = (u8, [u8; 3], u8);

fn place(on: &str, (here, phases, sent): Place) -> Arc<ClusterView> {
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
    fn all_transitions_from_nothing_lead_to_what_is_shown(
        steps in vec((0..4_usize, any::<Option<Place>>(), any::<bool>(), any::<bool>()), 1..20),
    ) {
        let places = [("a", "edge01"), ("a", "edge02"), ("b", "edge01"), ("b", "edge02")];
        let mut here: [Option<Arc<ClusterView>>; 4] = Default::default();
        let mut before: Option<ContextView> = None;
        let mut folded = Folded::new();
        let mut history = ApplicationHistory::default();
        for (at, change, is_present, is_restarted) in steps {
            here[at] = change.map(|it| place(places[at].1, it));
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
