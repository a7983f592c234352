//! The simulator of API servers: compared with a real API server, and watched by a real server of kindsight.
//!
//! A server compiles components in a child process, and the child of a server in this process is this executable. The
//! cases therefore run in `libtest-mimic`, where `main` can read its arguments first.

#[path = "../common/code_cache.rs"]
mod code_cache;
mod compared;
mod normal;
mod outage;
mod real;
mod server;
mod side;
mod wave;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The cases by name.
const CASES: &[(&str, fn())] = &[
    (
        "compared::the_simulator_answers_as_a_real_api_server_does",
        compared::the_simulator_answers_as_a_real_api_server_does,
    ),
    (
        "wave::the_read_model_equals_the_clusters_after_all_of_them_reconnected",
        wave::the_read_model_equals_the_clusters_after_all_of_them_reconnected,
    ),
    (
        "outage::outages_are_found_while_no_client_waits",
        outage::outages_are_found_while_no_client_waits,
    ),
];

fn main() -> ExitCode {
    if kindsight_server::is_compiler() {
        return kindsight_interpreter::compile_child();
    }
    let trials = CASES.iter().map(|(name, case)| {
        Trial::test(*name, || {
            case();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
