//! `kindsight status --wait`: waits until an application is ready or failed.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kindsight_api::clusters::{ClusterList, Connection};
use kindsight_api::status::Status;
use kindsight_model::Phase;
use kindsight_server::now_ms;

use super::followed::{Followed, News};
use super::subject::{self, Resolved};
use super::{StatusQuery, parameters};
use crate::cli::{StatusArgs, hint};
use crate::client::{self, Refused, Request};
use crate::{FAILED, INVALID, TIME_IS_UP};

/// Time for which the end has to hold: a rollout that begins takes a moment to show.
const HOLD: Duration = Duration::from_secs(3);

/// Time after which a folder of reports counts as heard, if it is still connected: folders are not asked. An
/// API server is, every few seconds, and never counts as heard by its silence: it may hang.
const SILENT_MAX: Duration = Duration::from_secs(20);

/// Longest pause between two looks at the state.
const LOOK: Duration = Duration::from_millis(250);

/// Time between two looks for an application that is not found yet.
const FIND: Duration = Duration::from_secs(1);

/// Path of the list of clusters below the server's address.
const CLUSTERS: &str = "/v2/clusters";

/// When the command began, by both clocks.
#[derive(Debug, Clone, Copy)]
struct Begun {
    at: Instant,
    now_ms: i64,
}

/// A state that ends the waiting if it holds, or does not, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Standing {
    /// Everything is ready or present.
    Ready,
    /// Something failed.
    Failed(String),
    /// Neither.
    Waiting(String),
}

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// When the server refuses, or cannot be reached at first.
pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let begun = Begun {
        at: Instant::now(),
        now_ms: now_ms(),
    };
    let until = begun.at + args.timeout;
    let name = match found(args, until)? {
        Found::One(name) => name,
        Found::Ambiguous(names) => {
            hint(&subject::ambiguous(&args.subject, &names));
            return Ok(ExitCode::from(INVALID));
        }
        Found::Never(why) => return Ok(time_is_up(args, &why)),
    };
    let query = StatusQuery {
        parameters: parameters(args),
        ..StatusQuery::about(&name)?
    };
    let mut followed = Followed::begin(&args.server, query)?;
    let mut lost = String::from("the server did not answer yet");
    let mut told = String::new();
    let mut held: Option<(Standing, Instant)> = None;
    loop {
        match followed.next(LOOK.min(left(until)))? {
            News::Lost(why) | News::Missing(why) => lost = why,
            News::Snapshot | News::Change(_) | News::Nothing => {}
        }
        let standing = match followed.status() {
            Some(status) if followed.is_open() => {
                standing(&args.server, &client::read(status)?, begun)?
            }
            _ => Standing::Waiting(lost.clone()),
        };
        if let Standing::Waiting(why) = &standing {
            if *why != told {
                hint(&format!("waiting: {why}"));
                told.clone_from(why);
            }
            held = None;
            if left(until).is_zero() {
                return Ok(time_is_up(args, why));
            }
            continue;
        }
        let since = match &held {
            // Which resource failed first may change while it fails.
            Some((before, since)) if is_alike(before, &standing) => *since,
            _ => Instant::now(),
        };
        if since.elapsed() >= HOLD {
            return Ok(ended(args, &standing));
        }
        held = Some((standing, since));
        if left(until).is_zero() {
            return Ok(time_is_up(args, "its state did not hold for 3 seconds yet"));
        }
    }
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

fn is_alike(one: &Standing, other: &Standing) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn ended(args: &StatusArgs, standing: &Standing) -> ExitCode {
    if let Standing::Failed(why) = standing {
        hint(&format!("{} failed: {why}", args.subject));
        return ExitCode::from(FAILED);
    }
    hint(&format!("{} is ready", args.subject));
    ExitCode::SUCCESS
}

fn time_is_up(args: &StatusArgs, why: &str) -> ExitCode {
    let (name, timeout) = (&args.subject, args.timeout);
    hint(&format!("{name} is not ready after {timeout:?}: {why}"));
    ExitCode::from(TIME_IS_UP)
}

/// The application that a name means.
enum Found {
    One(String),
    Ambiguous(Vec<String>),
    /// None until the time was up.
    Never(String),
}

/// Looks for the application until it is there.
fn found(args: &StatusArgs, until: Instant) -> anyhow::Result<Found> {
    let mut told = false;
    loop {
        let error = match subject::resolved(&args.server, &args.subject) {
            Ok(Resolved::One(name)) => return Ok(Found::One(name.into_owned())),
            Ok(Resolved::Ambiguous(names)) => return Ok(Found::Ambiguous(names)),
            Err(error) => error,
        };
        let refused = error.downcast_ref::<Refused>();
        if refused.is_none_or(|it| it.status != 404) {
            return Err(error);
        }
        let why = format!("there is no application `{}` yet", args.subject);
        if left(until).is_zero() {
            return Ok(Found::Never(why));
        }
        if !std::mem::replace(&mut told, true) {
            hint(&format!("waiting: {why}"));
        }
        std::thread::sleep(FIND.min(left(until)));
    }
}

/// The standing of an application. What could end the waiting counts only while each of its clusters is
/// connected and was heard since the command began: the green of before must not pass a pipeline.
fn standing(server: &str, status: &Status<'_>, begun: Begun) -> anyhow::Result<Standing> {
    let standing = of_status(status);
    if let Standing::Waiting(_) = standing {
        return Ok(standing);
    }
    let answer = Request::get(CLUSTERS.to_owned()).ask(server)?;
    let list: ClusterList<'_> = client::read(&answer)?;
    let waiting = not_heard(status, &list, begun).map(Standing::Waiting);
    Ok(waiting.unwrap_or(standing))
}

fn of_status(status: &Status<'_>) -> Standing {
    let readiness = &status.readiness;
    let reason = readiness.ready_reason.as_deref();
    let state = readiness.ready_status.as_deref().unwrap_or("Unknown");
    let why = match (&status.message, reason) {
        (Some(message), _) => message.to_string(),
        (None, Some(reason)) => format!("it is {state}: {reason}"),
        (None, None) => format!("it is {state}"),
    };
    if let Some(reason) = &readiness.stale_reason {
        return Standing::Waiting(format!("its last report may be out of date: {reason}"));
    }
    match readiness.ready_phase {
        Some(Phase::Ready | Phase::Present) => match status.faults.first() {
            None => Standing::Ready,
            Some(fault) => Standing::Waiting(format!("a part could not be read: {fault}")),
        },
        Some(Phase::Failed) => Standing::Failed(reason.unwrap_or(state).to_owned()),
        _ => Standing::Waiting(why),
    }
}

/// The reason why a cluster of the application is not heard; none where all are.
fn not_heard(status: &Status<'_>, list: &ClusterList<'_>, begun: Begun) -> Option<String> {
    let clusters = status.apps.iter().flat_map(|app| &app.clusters);
    let of_status: BTreeSet<(&str, &str)> = clusters
        .map(|it| (&*it.cluster_provider, &*it.cluster))
        .collect();
    of_status.into_iter().find_map(|(provider, name)| {
        let mut known = list.clusters.iter();
        let known = known.find(|it| it.cluster_provider == provider && it.cluster == name);
        match known {
            None => Some(format!(
                "nothing is configured to report on the cluster {provider}+{name}"
            )),
            Some(it) if it.connection == Connection::Connected => {
                let heard = it.last_event.max(it.since);
                let is_folder = it.server_version.is_none();
                let is_heard = heard.is_some_and(|it| it.as_millisecond() >= begun.now_ms)
                    || is_folder && begun.at.elapsed() >= SILENT_MAX;
                let how = if is_folder {
                    format!("a folder of reports counts as heard after {SILENT_MAX:?}")
                } else {
                    "its API server is asked every few seconds".to_owned()
                };
                (!is_heard).then(|| {
                    format!(
                        "the cluster {provider}+{name} was not heard since the command began; {how}"
                    )
                })
            }
            Some(it) => {
                let why = it.error.as_deref().unwrap_or("it was not heard yet");
                Some(format!(
                    "the cluster {provider}+{name} is {}: {why}",
                    it.connection.as_str()
                ))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn judged(more: &Value) -> Standing {
        let mut status = json!({"name": "web", "state": {"Actions": []}});
        let members = more.as_object().unwrap().clone();
        status.as_object_mut().unwrap().extend(members);
        of_status(&serde_json::from_str(&status.to_string()).unwrap())
    }

    #[test]
    fn ready_and_failed_end_the_waiting_unless_anything_casts_doubt_on_it() {
        let ready = json!({"ready-status": "Ready", "ready-phase": "ready"});
        assert_eq!(judged(&ready), Standing::Ready);
        let present = json!({"ready-status": "Present", "ready-phase": "present"});
        assert_eq!(judged(&present), Standing::Ready);
        let failed = json!({"ready-phase": "failed", "ready-reason": "Pod x is Failed"});
        assert_eq!(
            judged(&failed),
            Standing::Failed("Pod x is Failed".to_owned())
        );
        let stale = "2026-11-22T10:00:00Z";
        for doubtful in [
            json!({"ready-phase": "ready", "stale-since": stale, "stale-reason": "away"}),
            json!({"ready-phase": "failed", "stale-since": stale, "stale-reason": "away"}),
            json!({"ready-phase": "ready", "faults": ["cut"]}),
            json!({"message": "it was never instantiated"}),
            json!({"ready-phase": "degraded"}),
            json!({"ready-phase": "suspended"}),
            json!({"ready-phase": "unknown"}),
            json!({"ready-phase": "not-present"}),
        ] {
            let standing = judged(&doubtful);
            assert!(matches!(standing, Standing::Waiting(_)), "{standing:?}");
        }
    }

    #[test]
    fn a_cluster_that_is_not_connected_or_was_not_heard_is_named() {
        let status = json!({"name": "web", "state": {"Actions": []}, "apps": [
            {"name": "front", "clusters": [{"cluster-provider": "k", "cluster": "a", "resources": []}]},
        ]})
        .to_string();
        let status: Status<'_> = serde_json::from_str(&status).unwrap();
        let begun = Begun {
            at: Instant::now(),
            now_ms: 1000,
        };
        let told = |connection: &str, last: &str| {
            let list = json!({"clusters": [{
                "cluster-provider": "k", "cluster": "a", "connection": connection,
                "since": "1970-01-01T00:00:00Z", "last-event": last,
            }]})
            .to_string();
            not_heard(&status, &serde_json::from_str(&list).unwrap(), begun)
        };
        assert_eq!(told("connected", "1970-01-01T00:00:01Z"), None);
        let silent = told("connected", "1970-01-01T00:00:00.999Z").unwrap();
        assert!(
            silent.contains("was not heard since the command began"),
            "{silent}"
        );
        let stale = told("stale", "1970-01-01T00:00:01Z").unwrap();
        assert!(stale.starts_with("the cluster k+a is stale"), "{stale}");
        assert!(not_heard(&status, &ClusterList::default(), begun).is_some());
    }

    #[test]
    fn a_folder_that_stays_connected_is_heard_and_an_api_server_that_is_silent_is_not() {
        let status = json!({"name": "web", "state": {"Actions": []}, "apps": [
            {"name": "front", "clusters": [{"cluster-provider": "k", "cluster": "a", "resources": []}]},
        ]})
        .to_string();
        let status: Status<'_> = serde_json::from_str(&status).unwrap();
        let begun = Begun {
            at: Instant::now().checked_sub(SILENT_MAX).unwrap(),
            now_ms: 1000,
        };
        let mut cluster = json!({
            "cluster-provider": "k", "cluster": "a", "connection": "connected",
            "since": "1970-01-01T00:00:00Z", "last-event": "1970-01-01T00:00:00Z",
        });
        let told = |cluster: &Value| {
            let list = json!({"clusters": [cluster]}).to_string();
            not_heard(&status, &serde_json::from_str(&list).unwrap(), begun)
        };
        assert_eq!(told(&cluster), None);
        cluster["server-version"] = "v1.34.2".into();
        assert!(told(&cluster).is_some());
    }
}
