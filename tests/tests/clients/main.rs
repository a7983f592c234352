//! Hostile clients, over real sockets: none takes anything from anybody else.
//!
//! Each case starts a server from settings, in this process, and does to it the worst a client can.
//! A case is bounded in time: a client here gives up after [`http::ANSWER_MAX`], and a server that
//! hangs is left behind. A server compiles components in a child process, and the child is this
//! executable: so the cases run in `libtest-mimic`, which lets `main` look at its arguments first.

mod commands;
mod heads;
mod health;
mod http;
mod interpret;
mod names;
mod origins;
mod rechecks;
mod secrets;
mod slow;
mod stage;
mod unread;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// One case: its name and its function. A failed assertion is a failed case.
type Case = (&'static str, fn());

/// Cases of a module, named by their functions.
macro_rules! cases {
    ($($module:ident :: $case:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($case)), $module::$case as fn())),*]
    };
}

/// Every case there is.
const CASES: &[Case] = &cases![
    commands::a_rollback_under_a_condition_is_made_once,
    commands::a_schema_bomb_freezes_nobody,
    commands::junk_fills_no_names,
    commands::slow_uploads_keep_nobody_from_going_back,
    heads::a_head_that_is_too_long_is_answered_with_the_reason,
    heads::a_target_that_is_none_is_answered_with_the_reason,
    health::a_server_that_nobody_attacks_is_healthy,
    interpret::nobody_switches_an_interpreter_off_by_what_they_send,
    interpret::what_nobody_waits_for_is_not_judged,
    names::unknown_names_cost_no_more_than_their_answer,
    origins::a_body_of_another_type_or_compressed_is_not_read,
    origins::a_page_of_another_site_computes_and_changes_nothing,
    origins::a_page_under_a_name_of_its_own_reads_and_changes_nothing,
    rechecks::thousands_of_objects_that_ask_for_a_time_that_is_over_wait_their_turn,
    secrets::a_guest_that_tells_all_it_is_told_tells_no_secret,
    slow::a_head_has_an_end_however_often_a_byte_comes,
    slow::bodies_that_stand_still_give_way_to_those_that_move,
    slow::more_slow_heads_than_connections_keep_nobody_out,
    slow::slow_bodies_keep_nobody_from_judging,
    slow::slow_uploads_keep_nobody_from_rolling_back,
    unread::answers_about_a_status_that_nobody_reads_are_bounded,
    unread::verdicts_that_nobody_reads_are_bounded,
];

fn main() -> ExitCode {
    if kindsight_server::is_compiler() {
        return kindsight_interpreter::compile_child();
    }
    let trial = |(name, case): &Case| {
        let case = *case;
        Trial::test(*name, move || {
            case();
            Ok(())
        })
    };
    let trials = CASES.iter().map(trial).collect();
    let mut arguments = Arguments::from_args();
    // A case measures its server while it attacks it: a neighbour would count as an attacker.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, trials).exit_code()
}
