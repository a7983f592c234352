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

use super::cluster_names::ClusterNameError;
use super::scope::{scope, scoped};
use super::subject::{self, Resolved};
use super::{StatusQuery, parameters};
use crate::cli::{StatusArgs, hint};
use crate::client::{self, Refused, Server};
use crate::progress::Progress;
use crate::{FAILED, INVALID, TIME_IS_UP};
use heard::{Begun, clusters, not_heard};
use observer::Observer;
use standing::{Standing, Wanted};

/// Longest pause between two checks of the state.
const LOOK: Duration = Duration::from_millis(250);

/// Interval at which a missing application or cluster is looked up.
const FIND: Duration = Duration::from_secs(1);

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// When the server refuses for a permanent reason, or a name is invalid.
pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let begun = Begun::now();
    let until = begun.at + args.timeout;
    let server = args.server.connect()?;
    let waiting = Waiting::begin(&waited_for(args));
    let query = match found(&server, args, until, &waiting)? {
        Found::Query(query) => query,
        Found::Ambiguous(names) => {
            hint(&subject::ambiguous(&args.subject, &names));
            return Ok(ExitCode::from(INVALID));
        }
        Found::NotYet(why) => return Ok(time_is_up(args, &why)),
    };
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

/// The meaning of the names on the command line.
#[derive(Debug)]
enum Found {
    Query(StatusQuery),
    Ambiguous(Vec<String>),
    /// The application or one of its clusters does not exist yet, or the server is away; with the reason.
    NotYet(String),
}

/// Looks for the application and its clusters until they exist, or the time is up.
///
/// # Errors
/// As for [`look`].
fn found(
    server: &Server,
    args: &StatusArgs,
    until: Instant,
    waiting: &Waiting,
) -> anyhow::Result<Found> {
    loop {
        let found = look(server, args)?;
        let Found::NotYet(why) = &found else {
            return Ok(found);
        };
        if left(until).is_zero() {
            return Ok(found);
        }
        waiting.tell(why);
        std::thread::sleep(FIND.min(left(until)));
    }
}

/// Looks for the application and its clusters once.
///
/// # Errors
/// The server refuses for a permanent reason, a name or a credential is invalid, or several clusters have the short name
/// of a cluster.
fn look(server: &Server, args: &StatusArgs) -> anyhow::Result<Found> {
    let found = subject::resolved(server, &args.subject).and_then(|resolved| {
        Ok(match resolved {
            Resolved::One(name) => Found::Query(StatusQuery::of(server, args, &name)?),
            Resolved::Ambiguous(names) => Found::Ambiguous(names),
        })
    });
    found.or_else(|error| not_yet(args, error))
}

/// The result of a failed search that is repeated.
///
/// # Errors
/// The next search would fail for the same reason.
fn not_yet(args: &StatusArgs, error: anyhow::Error) -> anyhow::Result<Found> {
    let refused = error.downcast_ref::<Refused>();
    let why = match error.downcast_ref::<ClusterNameError>() {
        Some(ClusterNameError::Unknown(_)) => format!("{error} yet"),
        None if refused.is_some_and(|refused| refused.status == 404) => {
            format!("there is no application `{}` yet", args.subject)
        }
        None if client::is_temporary(&error) => format!("{error:#}"),
        _ => return Err(error),
    };
    Ok(Found::NotYet(why))
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

    use clap::Parser as _;
    use jiff::Timestamp;
    use jiff::fmt::rfc2822;
    use jiff::tz::TimeZone;
    use serde_json::{Value, json};

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::client::tests::answering;

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

    fn args(words: &[&str]) -> StatusArgs {
        let words = ["kindsight", "status", "--wait"].iter().chain(words);
        match Cli::try_parse_from(words).unwrap().command {
            Command::Status(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_application_and_a_cluster_are_looked_up_until_both_exist() {
        let shop = json!({"applications": [{
            "project": "-", "composite-app-name": "shop", "composite-app-version": "-", "name": "web",
            "clusters": [], "message": "none",
        }]});
        let clusters = |names: &[&str]| {
            let clusters = names.iter();
            let clusters: Vec<Value> = clusters
                .map(|name| json!({"cluster-provider": "k", "cluster": name}))
                .collect();
            json!({"clusters-by-app": [{"app": "front", "clusters": clusters}]})
        };
        let refusal = |detail: &str| json!({"detail": detail});
        let answers = [
            (503, refusal("it starts")),
            (404, refusal("no application")),
            (200, shop.clone()),
            (404, refusal("it was removed")),
            (200, shop.clone()),
            (200, clusters(&["b"])),
            (200, shop),
            (200, clusters(&["a", "b"])),
            (403, refusal("not allowed")),
        ];
        let server = answering(answers.map(Some).into());
        let args = args(&["shop", "--cluster", "a"]);
        for why in [
            "the server answers 503: it starts",
            "there is no application `shop` yet",
            "there is no application `shop` yet",
            "the application has no cluster `a` yet",
        ] {
            let found = look(&server, &args).unwrap();
            assert!(
                matches!(&found, Found::NotYet(told) if told.contains(why)),
                "{found:?}"
            );
        }
        let found = look(&server, &args).unwrap();
        assert!(
            matches!(&found, Found::Query(query) if query.parameters.cluster == ["k+a"]),
            "{found:?}"
        );
        let refused = look(&server, &args).unwrap_err();
        assert!(format!("{refused:#}").contains("not allowed"));
        // The listener is closed.
        let away = look(&server, &args).unwrap();
        assert!(matches!(away, Found::NotYet(_)), "{away:?}");
    }

    #[test]
    fn names_that_never_get_a_meaning_end_the_wait() {
        let clusters = json!({"clusters-by-app": [{"app": "front", "clusters": [
            {"cluster-provider": "k", "cluster": "a"}, {"cluster-provider": "l", "cluster": "a"},
        ]}]});
        let server = answering(vec![Some((200, clusters))]);
        let ambiguous = look(&server, &args(&["p/ca/v1/dig", "--cluster", "a"])).unwrap_err();
        assert!(ambiguous.to_string().ends_with("k+a, l+a"), "{ambiguous}");
        assert!(look(&server, &args(&["p//v1/dig", "--cluster", "a"])).is_err());
    }

    #[test]
    fn a_server_without_a_clock_is_an_error_and_not_a_success() {
        let error = standing_of("", "2099-01-22T10:00:31Z").unwrap_err();
        assert!(error.to_string().contains("no `Date`"), "{error}");
    }
}
