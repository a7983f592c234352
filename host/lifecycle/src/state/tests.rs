use std::fmt::Write as _;

use expect_test::expect;

use super::*;

fn line(of: Lifecycle, state: LifecycleState, (is_running, is_unapproved): (bool, bool)) -> String {
    let situation = Situation {
        of,
        state,
        is_running,
        is_unapproved,
        has_remains: false,
    };
    let mut line = state.to_string();
    line += if is_running { " (running)" } else { "" };
    line += if is_unapproved { " (unapproved)" } else { "" };
    for action in of.actions() {
        let next = match situation.after(*action) {
            Ok(Next::State(next)) => next.to_string(),
            Ok(Next::Content) => "content".to_owned(),
            Ok(Next::Unchanged) => "unchanged".to_owned(),
            Ok(Next::Deleted) => "deleted".to_owned(),
            Err(_) => "-".to_owned(),
        };
        write!(line, ", {} {next}", action.as_str()).unwrap();
    }
    line + "\n"
}

/// Every pair of a situation of a group and an action: the next state, or `-` for a refusal.
#[test]
fn every_pair_of_state_and_action_has_a_decided_result() {
    let states = LifecycleState::ALL.iter();
    let flags = [(false, false), (true, false), (false, true), (true, true)];
    let lines = states.flat_map(|state| flags.map(|flags| line(Lifecycle::Group, *state, flags)));
    expect![[r#"
        Created, apply Created, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete deleted
        Created (running), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Created (unapproved), apply Created, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete deleted
        Created (running) (unapproved), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Approved, apply Created, approve unchanged, instantiate Instantiated, update -, rollback -, terminate -, stop -, delete deleted
        Approved (running), apply -, approve unchanged, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Approved (unapproved), apply Created, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete deleted
        Approved (running) (unapproved), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Applied, apply -, approve -, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Applied (running), apply -, approve -, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Applied (unapproved), apply -, approve -, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Applied (running) (unapproved), apply -, approve -, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Instantiated, apply content, approve -, instantiate -, update Instantiated, rollback Instantiated, terminate Terminated, stop -, delete -
        Instantiated (running), apply content, approve -, instantiate -, update Instantiated, rollback Instantiated, terminate Terminated, stop InstantiateStopped, delete -
        Instantiated (unapproved), apply content, approve content, instantiate -, update -, rollback Instantiated, terminate Terminated, stop -, delete -
        Instantiated (running) (unapproved), apply content, approve content, instantiate -, update -, rollback Instantiated, terminate Terminated, stop InstantiateStopped, delete -
        Terminated, apply Created, approve Approved, instantiate Instantiated, update -, rollback -, terminate -, stop -, delete deleted
        Terminated (running), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop TerminateStopped, delete -
        Terminated (unapproved), apply Created, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete deleted
        Terminated (running) (unapproved), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop TerminateStopped, delete -
        InstantiateStopped, apply content, approve -, instantiate -, update Instantiated, rollback Instantiated, terminate Terminated, stop -, delete -
        InstantiateStopped (running), apply content, approve -, instantiate -, update Instantiated, rollback Instantiated, terminate Terminated, stop -, delete -
        InstantiateStopped (unapproved), apply content, approve content, instantiate -, update -, rollback Instantiated, terminate Terminated, stop -, delete -
        InstantiateStopped (running) (unapproved), apply content, approve content, instantiate -, update -, rollback Instantiated, terminate Terminated, stop -, delete -
        TerminateStopped, apply -, approve -, instantiate Instantiated, update -, rollback -, terminate Terminated, stop -, delete -
        TerminateStopped (running), apply -, approve -, instantiate -, update -, rollback -, terminate Terminated, stop -, delete -
        TerminateStopped (unapproved), apply -, approve -, instantiate -, update -, rollback -, terminate Terminated, stop -, delete -
        TerminateStopped (running) (unapproved), apply -, approve -, instantiate -, update -, rollback -, terminate Terminated, stop -, delete -
        Updated, apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Updated (running), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Updated (unapproved), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete -
        Updated (running) (unapproved), apply -, approve Approved, instantiate -, update -, rollback -, terminate -, stop -, delete -
    "#]]
    .assert_eq(&lines.collect::<String>());
}

/// Every pair of a situation of network intents and an action. They are stored in every state.
#[test]
fn every_pair_of_state_and_action_of_network_intents_has_a_decided_result() {
    let states = LifecycleState::ALL.iter();
    let flags = [(false, false), (true, false)];
    let lines =
        states.flat_map(|state| flags.map(|flags| line(Lifecycle::NetworkIntents, *state, flags)));
    expect![[r#"
        Created, apply Applied, terminate -, delete deleted
        Created (running), apply -, terminate -, delete -
        Approved, apply -, terminate -, delete -
        Approved (running), apply -, terminate -, delete -
        Applied, apply Applied, terminate Terminated, delete -
        Applied (running), apply Applied, terminate Terminated, delete -
        Instantiated, apply -, terminate -, delete -
        Instantiated (running), apply -, terminate -, delete -
        Terminated, apply Applied, terminate -, delete deleted
        Terminated (running), apply -, terminate -, delete -
        InstantiateStopped, apply -, terminate -, delete -
        InstantiateStopped (running), apply -, terminate -, delete -
        TerminateStopped, apply -, terminate -, delete -
        TerminateStopped (running), apply -, terminate -, delete -
        Updated, apply -, terminate -, delete -
        Updated (running), apply -, terminate -, delete -
    "#]]
    .assert_eq(&lines.collect::<String>());
    let situation = |state| Situation {
        of: Lifecycle::NetworkIntents,
        state,
        is_running: true,
        is_unapproved: false,
        has_remains: false,
    };
    for state in LifecycleState::ALL {
        assert_eq!(situation(*state).after(Action::Put), Ok(Next::Content));
        assert!(situation(*state).after(Action::Approve).is_err());
    }
}

#[test]
fn a_group_has_no_action_of_network_intents() {
    let created = Situation {
        of: Lifecycle::Group,
        state: LifecycleState::Created,
        is_running: false,
        is_unapproved: false,
        has_remains: false,
    };
    assert!(created.after(Action::Apply).is_err());
}

#[test]
fn both_ways_from_terminated_to_instantiated_work() {
    let at = |state| Situation {
        of: Lifecycle::Group,
        state,
        is_running: false,
        is_unapproved: false,
        has_remains: false,
    };
    let after = |state, action| at(state).after(action).unwrap();
    let instantiated = Next::State(LifecycleState::Instantiated);
    assert_eq!(
        after(LifecycleState::Terminated, Action::Instantiate),
        instantiated
    );
    let approved = Next::State(LifecycleState::Approved);
    assert_eq!(after(LifecycleState::Terminated, Action::Approve), approved);
    assert_eq!(
        after(LifecycleState::Approved, Action::Instantiate),
        instantiated
    );
}

#[test]
fn a_refusal_names_the_state_the_reason_and_the_possible_actions() {
    let created = Situation {
        of: Lifecycle::Group,
        state: LifecycleState::Created,
        is_running: false,
        is_unapproved: false,
        has_remains: false,
    };
    let refusal = created.after(Action::Instantiate).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "`instantiate` is not possible in the state Created: the group must be approved first"
    );
    assert_eq!(
        refusal.allowed(),
        [Action::Put, Action::Approve, Action::Delete]
    );
}

#[test]
fn a_termination_that_left_resources_can_be_requested_again() {
    let after = |of, state, has_remains| {
        let situation = Situation {
            of,
            state,
            is_running: false,
            is_unapproved: false,
            has_remains,
        };
        situation.after(Action::Terminate).ok()
    };
    let terminated = Some(Next::State(LifecycleState::Terminated));
    for (of, state) in [
        (Lifecycle::Group, LifecycleState::Terminated),
        (Lifecycle::Group, LifecycleState::Approved),
        (Lifecycle::NetworkIntents, LifecycleState::Terminated),
    ] {
        assert_eq!(after(of, state, true), terminated);
        assert_eq!(after(of, state, false), None);
    }
    // Otherwise the changed content could be instantiated without an approval.
    let created = after(Lifecycle::Group, LifecycleState::Created, true);
    assert_eq!(created, None);
}
