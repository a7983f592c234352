//! States that an orchestrator keeps beside its contexts, as answers tell them.

use std::collections::BTreeMap;

use kindsight_model::{
    DigName, LifecycleState, LogicalCloudName, RecordSubject, StateAction, StateInfo, StatesNews,
};
use kindsight_status::ChangedSubject;
use serde_json::{Value, json};

use super::groups::Other;
use super::stage::{context, owner};
use crate::Event;

fn group() -> RecordSubject {
    RecordSubject::Group(DigName::new("p", "ca", "v1", "dig").unwrap())
}

fn info(actions: &[(LifecycleState, &str)]) -> StateInfo {
    let actions = actions.iter().zip(1..).map(|(&(state, id), minute)| {
        let is_begin = state == LifecycleState::Instantiated;
        StateAction {
            state,
            instance: id.parse().ok(),
            time: format!("2022-10-01T10:{minute:02}:00.5Z").into(),
            revision: i64::from(is_begin),
        }
    });
    StateInfo {
        profile: None,
        status_context: None,
        actions: actions.collect(),
    }
}

fn tell(other: &mut Other, news: StatesNews) {
    other.stage.pipeline.handle(Event::States(news), 0);
}

fn all(states: &[(RecordSubject, StateInfo)]) -> StatesNews {
    StatesNews::All(states.iter().cloned().collect::<BTreeMap<_, _>>())
}

/// The actions of an answer, with the minute of each that has a time.
fn actions(answer: &Value) -> Vec<String> {
    let actions = answer["state"]["Actions"].as_array().unwrap().iter();
    let text = actions.map(|action| {
        let (state, id) = (action["State"].as_str(), action["ContextId"].as_str());
        let minute = action["TimeStamp"]
            .as_str()
            .map_or("-", |time| &time[14..16]);
        let text = format!("{} {} {minute}", state.unwrap(), id.unwrap());
        match &action["Revision"] {
            Value::Null => text,
            revision => format!("{text} r{revision}"),
        }
    });
    text.collect()
}

#[test]
fn the_history_is_what_the_orchestrator_keeps_and_newer_contexts_come_behind() {
    use LifecycleState::{Approved, Created, Instantiated, Terminated};
    let mut other = Other::new();
    for id in ["9", "4", "6"] {
        other.create(id, &context(&["a"]));
        other.status(id, "Instantiated");
    }
    assert_eq!(actions(&other.answer())[0], "Instantiated 9 -");
    // 9 is older and not named; 6 is newer, and still to be noted.
    let kept = [
        (Created, ""),
        (Approved, ""),
        (Instantiated, "4"),
        (Terminated, "4"),
    ];
    tell(&mut other, all(&[(group(), info(&kept))]));
    let told = [
        "Created  01",
        "Approved  02",
        "Instantiated 4 03 r1",
        "Terminated 4 04",
    ];
    assert_eq!(
        actions(&other.answer()),
        [&told[..], &["Instantiated 6 -"]].concat()
    );
    let noted = [&kept[..], &[(Instantiated, "6")]].concat();
    tell(&mut other, StatesNews::Changed(group(), Some(info(&noted))));
    assert_eq!(actions(&other.answer())[4], "Instantiated 6 05 r1");
    // A context that is named and not stored any more is history.
    other.delete("6");
    assert_eq!(actions(&other.answer()).len(), 5);
    assert_eq!(
        other.answer()["message"],
        "the AppContext 6 is no longer stored"
    );
    tell(&mut other, StatesNews::Changed(group(), None));
    assert_eq!(
        actions(&other.answer()),
        ["Instantiated 9 -", "Instantiated 4 -"]
    );
}

#[test]
fn the_composite_profile_is_shown_while_the_orchestrator_names_it() {
    let mut other = Other::new();
    other.create("7", &context(&["a"]));
    other.status("7", "Instantiated");
    let profile = |answer: Value| answer.get("composite-profile-name").cloned();
    assert_eq!(profile(other.answer()), None);
    let kept = |profile: Option<&str>| StateInfo {
        profile: profile.map(Into::into),
        ..info(&[(LifecycleState::Instantiated, "7")])
    };
    tell(&mut other, all(&[(group(), kept(Some("small")))]));
    assert_eq!(profile(other.answer()), Some(json!("small")));
    for (now, shown) in [(Some("large"), Some(json!("large"))), (None, None)] {
        tell(&mut other, StatesNews::Changed(group(), Some(kept(now))));
        assert_eq!(profile(other.answer()), shown);
    }
}

#[test]
fn what_is_not_in_all_the_states_is_gone_and_what_has_no_context_is_shown() {
    use LifecycleState::{Created, Instantiated};
    let mut other = Other::new();
    let cloud = RecordSubject::LogicalCloud(LogicalCloudName::new("p", "lc").unwrap());
    let states = [
        (group(), info(&[(Created, "")])),
        (cloud.clone(), info(&[(Created, "")])),
    ];
    tell(&mut other, all(&states));
    assert_eq!(other.answer()["message"], "it was never instantiated");
    assert_eq!(actions(&other.cloud("lc").unwrap()), ["Created  01"]);
    tell(
        &mut other,
        all(&[(cloud, info(&[(Created, ""), (Instantiated, "5")]))]),
    );
    assert!(other.answer().is_string(), "{}", other.answer());
    assert_eq!(actions(&other.cloud("lc").unwrap()).len(), 2);
}

#[test]
fn a_state_under_the_name_of_a_found_application_is_no_group() {
    let mut other = Other::new();
    let found = RecordSubject::Group(DigName::new("-", "shop", "-", "web").unwrap());
    tell(
        &mut other,
        all(&[(found, info(&[(LifecycleState::Created, "")]))]),
    );
    assert_eq!(other.applications(), 0);
}

#[test]
fn a_record_of_ours_wins_over_the_states_too() {
    let mut other = Other::new();
    other.create("7", &context(&["a"]));
    other.stage.own(&["7"]);
    let before = other.answer_about(&owner());
    assert_eq!(before["state"]["Actions"][0]["ContextId"], "7");
    let kept = info(&[(LifecycleState::Created, "")]);
    tell(&mut other, all(&[(RecordSubject::Group(owner()), kept)]));
    assert_eq!(other.answer_about(&owner()), before);
    let reason = "mongo-0:27017: connection refused".into();
    tell(
        &mut other,
        StatesNews::Away {
            since_ms: 0,
            reason,
        },
    );
    let after = other.answer_about(&owner());
    assert_eq!(after, before, "nothing of it is read there");
}

#[test]
fn states_that_cannot_be_read_stay_and_answers_say_so_until_they_are_read_again() {
    use LifecycleState::{Created, Instantiated};
    let mut other = Other::new();
    other.create("7", &context(&["a"]));
    other.status("7", "Instantiated");
    let kept = [(Created, ""), (Instantiated, "7")];
    tell(&mut other, all(&[(group(), info(&kept))]));
    let before = other.answer();
    let away = || StatesNews::Away {
        since_ms: 0,
        reason: "mongo-0:27017: connection refused".into(),
    };
    let ((), mut changes) = other.stage.read_model.subscribe(|_| ());
    tell(&mut other, away());
    tell(&mut other, away());
    assert_eq!(
        changes.next_now().unwrap().unwrap().subject,
        ChangedSubject::StateStore
    );
    assert_eq!(changes.next_now(), Ok(None));
    let told = other.answer();
    assert_eq!(
        told["state-store"],
        json!({"state": "away", "since": "1970-01-01T00:00:00Z", "reason": "mongo-0:27017: connection refused"})
    );
    assert_eq!(told["state"], before["state"]);
    // Contexts are followed meanwhile.
    other.create("8", &context(&["a"]));
    other.status("8", "Instantiating");
    assert_eq!(actions(&other.answer())[2], "Instantiated 8 -");
    other.delete("8");
    tell(&mut other, StatesNews::Back);
    assert_eq!(other.answer(), before);
    tell(&mut other, away());
    tell(&mut other, all(&[(group(), info(&kept))]));
    assert_eq!(other.answer(), before, "all of them were read");
}
