//! `kindsight status --wait`: waits until an application is in the wanted state, or failed.

mod confirmed;
mod heard;
mod observer;
mod past;
mod restarts;
mod standing;

use std::cell::RefCell;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kindsight_api::status::Status;

use super::scope::{scope, scoped};
use super::subject::{self, Resolved};
use super::{StatusQuery, parameters};
use crate::cli::{StatusArgs, hint};
use crate::client::{Refused, Server};
use crate::progress::Progress;
use crate::{FAILED, INVALID, TIME_IS_UP};
use heard::{Begun, clusters, not_heard};
use observer::Observer;
use standing::{Standing, Wanted};

/// Longest pause between two checks of the state.
const LOOK: Duration = Duration::from_millis(250);

/// Interval at which a missing application is looked up.
const FIND: Duration = Duration::from_secs(1);

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// When the server refuses, or cannot be reached at first.
pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let begun = Begun::now();
    let until = begun.at + args.timeout;
    let server = args.server.connect()?;
    let waiting = Waiting::begin(&waited_for(args));
    let name = match found(&server, args, until, &waiting)? {
        Found::One(name) => name,
        Found::Ambiguous(names) => {
            hint(&subject::ambiguous(&args.subject, &names));
            return Ok(ExitCode::from(INVALID));
        }
        Found::Never(why) => return Ok(time_is_up(args, &why)),
    };
    let query = StatusQuery::of(&server, args, &name)?;
    let mut observer = Observer::begin(&server, query, Wanted::of(args), begun);
    let mut held: Option<(Standing, Instant)> = None;
    let mut not_held = format!("its state did not hold for {:?} yet", args.hold);
    loop {
        let mut standing = observer.next(LOOK.min(left(until)))?;
        let since = match &held {
            // Which resource failed first may change while it fails.
            Some((before, since)) if is_alike(before, &standing) => *since,
            _ => Instant::now(),
        };
        let is_held = since.elapsed() >= args.hold;
        if is_held && standing == Standing::Reached {
            standing = observer.confirmed();
        }
        if let Standing::Waiting(why) = &standing {
            waiting.tell(why);
            if is_held {
                not_held.clone_from(why);
            }
            held = None;
            if left(until).is_zero() {
                return Ok(time_is_up(args, why));
            }
            continue;
        }
        if is_held {
            return Ok(ended(args, &standing, observer.unanswered()));
        }
        held = Some((standing, since));
        if left(until).is_zero() {
            return Ok(time_is_up(args, &not_held));
        }
    }
}

/// The reason of the wait: in place on a terminal, else a line for each reason.
struct Waiting {
    progress: Progress,
    printed: RefCell<String>,
}

impl Waiting {
    fn begin(name: &str) -> Self {
        Self {
            progress: Progress::waiting(&format!("waiting for {name}")),
            printed: RefCell::default(),
        }
    }

    fn tell(&self, why: &str) {
        let before = self.printed.replace(why.to_owned());
        if before == why {
            return;
        }
        let text = format!("waiting: {why}");
        if self.progress.is_shown() {
            self.progress.text(&text);
        } else {
            hint(&text);
        }
    }
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

fn is_alike(one: &Standing, other: &Standing) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// The application as it was named, with the part of it that is waited for.
fn waited_for(args: &StatusArgs) -> String {
    scoped(&args.subject, scope(&parameters(args)).as_deref())
}

/// Prints the outcome, and the Kinds that a cluster has not answered for: their objects may be missing from it.
fn ended(args: &StatusArgs, standing: &Standing, unanswered: &[String]) -> ExitCode {
    for kind in unanswered {
        hint(&format!("not answered, its objects may be missing: {kind}"));
    }
    let name = waited_for(args);
    if let Standing::Failed(why) = standing {
        hint(&format!("{name} failed: {why}"));
        return ExitCode::from(FAILED);
    }
    hint(&format!("{name} is {}", Wanted::of(args).as_str()));
    ExitCode::SUCCESS
}

fn time_is_up(args: &StatusArgs, why: &str) -> ExitCode {
    let (name, timeout) = (waited_for(args), args.timeout);
    let wanted = Wanted::of(args).as_str();
    hint(&format!("{name} is not {wanted} after {timeout:?}: {why}"));
    ExitCode::from(TIME_IS_UP)
}

/// The application that a name means.
enum Found {
    One(String),
    Ambiguous(Vec<String>),
    /// No application had the name until the timeout.
    Never(String),
}

/// Looks for the application until it exists, or the time is up.
fn found(
    server: &Server,
    args: &StatusArgs,
    until: Instant,
    waiting: &Waiting,
) -> anyhow::Result<Found> {
    loop {
        let error = match subject::resolved(server, &args.subject) {
            Ok(Resolved::One(name)) => return Ok(Found::One(name.into_owned())),
            Ok(Resolved::Ambiguous(names)) => return Ok(Found::Ambiguous(names)),
            Err(error) => error,
        };
        let refused = error.downcast_ref::<Refused>();
        if refused.is_none_or(|refused| refused.status != 404) {
            return Err(error);
        }
        let why = format!("there is no application `{}` yet", args.subject);
        if left(until).is_zero() {
            return Ok(Found::Never(why));
        }
        waiting.tell(&why);
        std::thread::sleep(FIND.min(left(until)));
    }
}

/// The standing of an application. A state that could end the waiting counts only while each of its clusters is
/// connected and was heard since the command began: a pipeline must not pass with an earlier state.
fn standing_now(
    server: &Server,
    status: &Status<'_>,
    wanted: Wanted,
    begun: &mut Begun,
) -> anyhow::Result<Standing> {
    let standing = wanted.standing(status);
    if let Standing::Waiting(_) = standing {
        return Ok(standing);
    }
    let waiting = not_heard(server, &clusters(status), begun)?.map(Standing::Waiting);
    Ok(waiting.unwrap_or(standing))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use jiff::Timestamp;
    use jiff::fmt::rfc2822;
    use jiff::tz::TimeZone;
    use serde_json::json;

    use super::*;

    /// Answers one request with a list of one API server that was heard at this time, at another time by the
    /// server's clock.
    fn standing_of(server_time: &str, heard: &str) -> anyhow::Result<Standing> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let server = Server::open(&server).unwrap();
        let body = json!({"clusters": [{
            "cluster-provider": "k", "cluster": "a", "connection": "connected",
            "server-version": "v1.34.2", "since": "2020-11-22T09:00:00Z", "last-event": heard,
        }]})
        .to_string();
        let date = if server_time.is_empty() {
            String::new()
        } else {
            format!("date: {server_time}\r\n")
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\n{date}content-length: {length}\r\n\r\n{body}");
        let status = json!({"name": "web", "state": {"Actions": []}, "ready-phase": "ready", "apps": [
            {"name": "front", "clusters": [{"cluster-provider": "k", "cluster": "a", "resources": []}]},
        ]})
        .to_string();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                assert!(lines.any(|line| line.unwrap().is_empty()));
                stream.write_all(answer.as_bytes()).unwrap();
            });
            let status = serde_json::from_str(&status).unwrap();
            let wanted = Wanted {
                goal: None,
                restarts_max: None,
            };
            standing_now(&server, &status, wanted, &mut Begun::now())
        })
    }

    #[test]
    fn a_cluster_is_heard_since_the_begin_by_the_clock_of_the_server_alone() {
        // Both times are months from the client's own.
        for day in ["2026-01-22", "2099-01-22"] {
            let server_time: Timestamp = format!("{day}T10:00:30Z").parse().unwrap();
            let server_time = rfc2822::to_string(&server_time.to_zoned(TimeZone::UTC)).unwrap();
            let server_time = server_time.replace("+0000", "GMT");
            let heard = |time: &str| standing_of(&server_time, &format!("{day}T{time}Z")).unwrap();
            assert_eq!(heard("10:00:31"), Standing::Reached);
            let before = heard("10:00:29.500");
            assert!(matches!(&before, Standing::Waiting(why) if why.contains("was not heard")));
        }
    }

    #[test]
    fn a_server_without_a_clock_is_an_error_and_not_a_success() {
        let error = standing_of("", "2099-01-22T10:00:31Z").unwrap_err();
        assert!(error.to_string().contains("no `Date`"), "{error}");
    }
}
