//! Hostile clients, over real sockets: none takes anything from anybody else.
//!
//! Each case starts a server from settings, in this process, and does to it the worst a client can.
//! A case is bounded in time: a client here gives up after [`http::ANSWER_MAX`], and a server that
//! hangs is left behind. A server compiles components in a child process, and the child is this
//! executable: so the cases run in `libtest-mimic`, which lets `main` look at its arguments first.

mod health;
mod http;
mod names;
mod rechecks;
mod secrets;
mod stage;

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
    health::a_server_that_nobody_attacks_is_healthy,
    names::unknown_names_cost_no_more_than_their_answer,
    rechecks::thousands_of_objects_that_ask_for_a_time_that_is_over_wait_their_turn,
    secrets::a_guest_that_tells_all_it_is_told_tells_no_secret,
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
