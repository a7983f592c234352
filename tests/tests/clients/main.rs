//! Hostile clients, over real sockets: none of them affects other clients.
//!
//! Over HTTP, each case starts a server from settings in this process, and attacks it as a client. Over HTTPS, the server
//! is the executable of kindsight in an unpacked image, as another user with a read-only root. If `KINDSIGHT_EXECUTABLE`
//! names a static executable, the cases attack this executable over both transports. A case is bounded in time: a client
//! gives up after [`transport::ANSWER_MAX`], and a server that hangs is abandoned. A server compiles components in a child
//! process, and the child of a server in this process is this executable. The cases therefore run in `libtest-mimic`,
//! where `main` can read its arguments first.

#[path = "../common/code_cache.rs"]
mod code_cache;
mod commands;
mod credentials;
mod handshakes;
mod heads;
mod health;
mod http;
mod interpret;
mod issuer;
mod names;
mod oidc;
mod origins;
mod rechecks;
mod routes;
mod secrets;
mod slow;
mod smuggling;
mod stage;
mod transport;
mod unread;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::transport::Transport;

/// One case: its name and its function. A failed assertion is a failed case.
type Case = (&'static str, fn(Transport));

/// Cases of a module, named by their functions.
macro_rules! cases {
    ($($module:ident :: $case:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($case)), $module::$case as fn(Transport))),*]
    };
}

/// The cases that run over HTTP without access control, and over HTTPS with access control.
const CASES: &[Case] = &cases![
    commands::a_rollback_under_a_condition_is_made_once,
    commands::a_schema_bomb_does_not_block_the_host,
    commands::junk_fills_no_names,
    commands::slow_uploads_do_not_delay_a_rollback,
    heads::a_head_that_is_too_long_is_answered_with_the_reason,
    heads::an_invalid_request_target_is_answered_with_the_reason,
    health::an_idle_server_is_healthy,
    interpret::submitted_objects_cannot_trip_the_circuit_breaker,
    interpret::objects_of_a_closed_request_are_not_judged,
    names::unknown_names_cost_no_more_than_their_answer,
    origins::a_body_of_another_type_or_compressed_is_not_read,
    origins::a_page_of_another_site_can_neither_compute_nor_change,
    origins::a_page_under_its_own_host_name_can_neither_read_nor_change,
    rechecks::thousands_of_objects_that_ask_for_a_time_that_is_over_wait_their_turn,
    secrets::a_guest_that_repeats_its_input_reveals_no_secret,
    slow::an_endless_head_is_cut_off,
    slow::bodies_that_stand_still_give_way_to_those_that_move,
    slow::more_slow_heads_than_connections_do_not_block_other_clients,
    slow::slow_bodies_do_not_delay_other_requests,
    slow::slow_uploads_do_not_delay_rollbacks,
    smuggling::a_request_that_hides_in_a_body_is_not_carried_out,
    unread::unread_answers_on_a_status_are_bounded,
    unread::unread_verdicts_are_bounded,
];

/// The cases that run over HTTPS, with access control.
const HTTPS_CASES: &[Case] = &cases![
    credentials::a_credential_does_not_help_a_page_of_another_site,
    credentials::guessed_tokens_are_limited_and_other_clients_are_not,
    credentials::headers_of_proxies_name_no_user,
    credentials::several_credentials_are_refused,
    credentials::tokens_of_any_form_are_refused,
    handshakes::a_request_without_tls_is_answered_with_the_reason,
    handshakes::an_endless_handshake_is_cut_off,
    handshakes::garbage_does_not_affect_other_clients,
    handshakes::more_slow_handshakes_than_connections_do_not_block_other_clients,
    oidc::a_key_set_that_is_huge_or_never_arrives_delays_no_other_client,
    oidc::an_hmac_made_with_the_public_key_is_refused,
    oidc::an_hmac_made_with_the_public_rsa_key_is_refused,
    oidc::expired_future_and_foreign_tokens_are_refused,
    oidc::keys_and_claims_of_the_sender_are_refused,
    oidc::known_tokens_work_until_they_expire_without_their_issuer,
    oidc::tokens_with_unknown_keys_flood_neither_issuer_nor_server,
    oidc::tokens_without_a_signature_are_refused,
    routes::each_role_uses_only_its_routes_and_sees_only_its_applications,
    smuggling::a_credential_in_an_unusual_place_is_not_accepted,
];

fn main() -> ExitCode {
    if kindsight_server::is_compiler() {
        return kindsight_interpreter::compile_child();
    }
    let trial = |transport: Transport| {
        move |(name, case): &Case| {
            let case = *case;
            Trial::test(format!("{}::{name}", transport.scheme()), move || {
                case(transport);
                Ok(())
            })
        }
    };
    let plain = CASES.iter().map(trial(Transport::Http));
    let secure = CASES.iter().chain(HTTPS_CASES);
    let trials = plain.chain(secure.map(trial(Transport::Https))).collect();
    let mut arguments = Arguments::from_args();
    // A case measures its server during the attack, so a concurrent case would distort the measurement.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, trials).exit_code()
}
