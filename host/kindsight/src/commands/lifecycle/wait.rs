//! `--wait`: waits for the end of an action.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use kindsight_api::lifecycle::{GroupState, ResourceProblem};
use kindsight_model::LifecycleState;
use serde::Deserialize;

use super::{Target, print, sent};
use crate::cli::hint;
use crate::client::{self, Request, Server};
use crate::config::duration;
use crate::{FAILED, TIME_IS_UP};

/// Time between two queries.
const POLL: Duration = Duration::from_millis(200);

/// The options to wait for the end of an action.
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// Waits until every resource was sent or removed.
    #[arg(long)]
    wait: bool,
    /// Time to wait, such as `30s` or `5m`.
    #[arg(long, default_value = "5m", requires = "wait", value_parser = duration)]
    timeout: Duration,
}

/// The part of an answer about an application or network intents that a wait needs.
#[derive(Deserialize)]
struct Progress {
    lifecycle: GroupState,
    problems: Vec<ResourceProblem>,
}

/// The end of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Every resource was sent or removed.
    Complete,
    /// A resource failed, or the action was stopped.
    Failed,
    /// The action continues, or the server does not answer.
    TimeIsUp,
}

/// Sends an action, and waits for its end on request.
pub(super) fn act_and_wait(
    server: &Server,
    target: &Target,
    (word, body): (&str, Vec<u8>),
    args: &WaitArgs,
) -> anyhow::Result<ExitCode> {
    let begun = sent(server, target, word, body)?;
    if !args.wait {
        print(target, &begun)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (last, end) = waited(server, target, begun, args.timeout)?;
    print(target, &last.lifecycle)?;
    print_problems(&last.problems)?;
    Ok(match end {
        End::Complete => ExitCode::SUCCESS,
        End::Failed => ExitCode::from(FAILED),
        End::TimeIsUp => ExitCode::from(TIME_IS_UP),
    })
}

/// Waits for the end of the action that led to a state. A request that fails for a moment is repeated, as while the server
/// restarts: the server continues the action.
///
/// # Errors
/// The server refuses for a permanent reason, a credential is invalid, or an answer cannot be parsed.
fn waited(
    server: &Server,
    target: &Target,
    begun: GroupState,
    timeout: Duration,
) -> anyhow::Result<(Progress, End)> {
    let (action, begin) = (begun.state, Instant::now());
    let mut last = Progress {
        lifecycle: begun,
        problems: Vec::new(),
    };
    let mut told = String::new();
    while last.lifecycle.running && is_of(action, last.lifecycle.state) {
        if begin.elapsed() >= timeout {
            return Ok((last, End::TimeIsUp));
        }
        thread::sleep(POLL);
        match progress(server, target) {
            Ok(next) => {
                last = next;
                told.clear();
            }
            Err(error) if client::is_temporary(&error) => {
                let why = format!("waiting: {error:#}");
                if told != why {
                    hint(&why);
                    told = why;
                }
            }
            Err(error) => return Err(error),
        }
    }
    let status = last.lifecycle.instance_status.as_deref();
    let is_failed = status.is_some_and(|status| status.ends_with("Failed"));
    let end = if is_failed || !is_of(action, last.lifecycle.state) {
        End::Failed
    } else {
        End::Complete
    };
    Ok((last, end))
}

/// Returns whether the state belongs to the action that led to the first state. A group can be approved while it is being
/// terminated: its state is `Approved`, and the termination continues.
fn is_of(action: LifecycleState, state: LifecycleState) -> bool {
    let is_approved = action == LifecycleState::Terminated && state == LifecycleState::Approved;
    state == action || is_approved
}

fn progress(server: &Server, target: &Target) -> anyhow::Result<Progress> {
    let answer = Request::get(target.path.clone()).ask(server)?;
    client::read(&answer)
}

fn print_problems(problems: &[ResourceProblem]) -> anyhow::Result<()> {
    for problem in problems {
        let ResourceProblem {
            app,
            cluster,
            resource,
            status,
            detail,
        } = problem;
        let line = format!("  {app} {cluster} {resource}: {status}: {detail}");
        writeln!(io::stdout().lock(), "{line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kindsight_model::DigName;
    use serde_json::{Value, json};

    use super::*;
    use crate::client::tests::answering;

    /// The state of an application that was instantiated.
    fn state(status: &str, is_running: bool) -> Value {
        json!({"state": "Instantiated", "instance-status": status, "running": is_running,
            "allowed-actions": []})
    }

    /// The last status and the end of the wait for an instantiation.
    fn ended(
        answers: Vec<Option<(u16, Value)>>,
        timeout: Duration,
    ) -> anyhow::Result<(Option<String>, End)> {
        let begun = serde_json::from_value(state("Created", true)).unwrap();
        let target = Target::application(&DigName::new("shop", "web", "v1", "prod").unwrap());
        let (last, end) = waited(&answering(answers), &target, begun, timeout)?;
        Ok((last.lifecycle.instance_status, end))
    }

    fn answer(status: &str, is_running: bool) -> (u16, Value) {
        let body = json!({"lifecycle": state(status, is_running), "problems": []});
        (200, body)
    }

    #[test]
    fn a_wait_continues_while_the_server_restarts() {
        for (last, end) in [
            ("Instantiated", End::Complete),
            ("InstantiateFailed", End::Failed),
        ] {
            let answers = vec![
                Some(answer("Instantiating", true)),
                None,
                Some((503, json!({"detail": "it starts"}))),
                Some(answer("Instantiating", true)),
                Some(answer(last, false)),
            ];
            let ended = ended(answers, Duration::from_mins(5)).unwrap();
            assert_eq!(ended, (Some(last.to_owned()), end));
        }
    }

    /// The end of the wait for a termination with these states, the last of which does not run.
    fn terminated(states: &[(&str, &str)]) -> End {
        let state = |(state, status): (&str, &str), is_running: bool| {
            json!({"state": state, "instance-status": status, "running": is_running,
                "allowed-actions": []})
        };
        let begun = state(("Terminated", "Terminating"), true);
        let begun = serde_json::from_value(begun).unwrap();
        let answers = states.iter().enumerate().map(|(at, of)| {
            let state = state(*of, at + 1 < states.len());
            Some((200, json!({"lifecycle": state, "problems": []})))
        });
        let target = Target::application(&DigName::new("shop", "web", "v1", "prod").unwrap());
        let server = answering(answers.collect());
        let (_, end) = waited(&server, &target, begun, Duration::from_mins(5)).unwrap();
        end
    }

    #[test]
    fn a_wait_for_a_termination_continues_after_an_approval() {
        let approved = ("Approved", "Terminating");
        assert_eq!(
            terminated(&[approved, approved, ("Approved", "Terminated")]),
            End::Complete
        );
        assert_eq!(
            terminated(&[approved, ("Approved", "TerminateFailed")]),
            End::Failed
        );
        assert_eq!(
            terminated(&[("TerminateStopped", "TerminateFailed")]),
            End::Failed
        );
    }

    #[test]
    fn a_wait_for_a_server_that_stays_away_ends_with_the_time() {
        let answers = vec![Some(answer("Instantiating", true))];
        let (_, end) = ended(answers, Duration::from_secs(1)).unwrap();
        assert_eq!(end, End::TimeIsUp);
    }

    #[test]
    fn a_refusal_ends_a_wait() {
        let answers = vec![Some((403, json!({"detail": "not allowed"})))];
        let refused = ended(answers, Duration::from_mins(5)).unwrap_err();
        assert!(format!("{refused:#}").contains("not allowed"), "{refused}");
    }
}
