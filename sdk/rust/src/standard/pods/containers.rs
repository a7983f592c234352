//! Verdicts from the container statuses of a Pod.

use super::trouble::LOOP_RESTARTS;
use crate::{Node, Verdict};

/// Reasons of the end of a container that did not start, of containerd and of Docker.
const START_FAILURES: [&str; 2] = ["StartError", "ContainerCannotRun"];

/// A container that waits because of an error.
#[derive(Clone, Copy)]
pub(super) struct Stuck<'a> {
    container: Node<'a>,
    /// The reason in the container's status.
    pub(super) reason: &'a str,
}

impl Stuck<'_> {
    /// Returns whether the error may be temporary: an image that could not be pulled, before the
    /// kubelet has seen further failures and backs off.
    pub(super) fn may_pass(self) -> bool {
        self.reason == "ErrImagePull"
    }

    /// Returns whether repeated attempts to start the container failed, for example because its
    /// command does not exist. The first failure may be an error of the node.
    pub(super) fn cannot_start(self) -> bool {
        let end = self.container.at("/lastState/terminated/reason");
        let restarts = self.container.get("restartCount").integer();
        end.text().is_some_and(|end| START_FAILURES.contains(&end))
            && restarts.is_some_and(|restarts| restarts >= LOOP_RESTARTS)
    }

    /// The message of the container, with its name: the error of the last attempt, if it cannot be
    /// started, because the kubelet then reports only that it backs off.
    pub(super) fn message(self) -> String {
        let last = self.container.at("/lastState/terminated");
        if let Some((_, message)) = bad_end(self.container, last).filter(|_| self.cannot_start()) {
            return message;
        }
        let message = self.container.at("/state/waiting/message");
        of(self.container, message.text_or_empty())
    }

    /// The time at which its last run ended, in Unix milliseconds.
    pub(super) fn ended_ms(self) -> Option<i64> {
        self.container
            .at("/lastState/terminated/finishedAt")
            .time_ms()
    }
}

/// The first container that waits because of an error. Containers with a permanent error have
/// priority.
pub(super) fn stuck(status: Node<'_>) -> Option<Stuck<'_>> {
    let mut stuck = all(status).filter_map(|container| {
        let reason = container.at("/state/waiting/reason").text()?;
        is_trouble(reason).then_some(Stuck { container, reason })
    });
    let first = stuck.next()?;
    let lasting = |first: Stuck<'_>| !first.may_pass();
    if lasting(first) {
        return Some(first);
    }
    Some(stuck.find(|next| lasting(*next)).unwrap_or(first))
}

/// The last time at which an init container ended, in Unix milliseconds. The next one could begin
/// then.
pub(super) fn init_ended_ms(status: Node<'_>) -> Option<i64> {
    let init = status.get("initContainerStatuses").items();
    init.filter_map(|container| container.at("/state/terminated/finishedAt").time_ms())
        .max()
}

/// Returns whether the reason is an error that requires an operator, although the kubelet retries.
fn is_trouble(waiting_reason: &str) -> bool {
    waiting_reason.starts_with("Err")
        || waiting_reason.ends_with("Error")
        || waiting_reason.ends_with("BackOff")
        || waiting_reason == "InvalidImageName"
}

/// The time after an error in which a container that is running again is not trusted, in
/// milliseconds. After the same time, the kubelet resets the container's crash count.
const CRASH_MEMORY_MS: i64 = 600_000;

/// Failed, if a container that is not ready has ended with an error, or did so a short time ago.
///
/// Init containers are skipped, because one that failed and then succeeded keeps the record of its
/// failure. Any other container keeps the record too while it runs, but a failure days ago is not
/// the reason why it is not ready now. A container whose end was lost starts again.
pub(super) fn crashed(status: Node<'_>, now_ms: i64) -> Option<Verdict> {
    let mut unready = status
        .get("containerStatuses")
        .items()
        .filter(|container| !container.get("ready").is_true());
    unready.find_map(|container| {
        if let Some((reason, message)) = crash(container, container.at("/state/terminated")) {
            return Some(Verdict::failed(reason.to_owned(), message));
        }
        let last = container.at("/lastState/terminated");
        let (reason, message) = crash(container, last)?;
        let failed = Verdict::failed(reason.to_owned(), message);
        match last.get("finishedAt").time_ms() {
            Some(ended_ms) => {
                let forgotten_ms = ended_ms.saturating_add(CRASH_MEMORY_MS);
                (now_ms < forgotten_ms).then(|| failed.recheck_at(forgotten_ms))
            }
            None => Some(failed),
        }
    })
}

/// Returns whether the end of a container was lost, for example in the reboot of its node, so that
/// the record does not show a crash: the kubelet does not find the container, or containerd does not
/// find its task.
pub(super) fn is_lost(end: Node<'_>) -> bool {
    match end.get("reason").text_or_empty() {
        "ContainerStatusUnknown" => true,
        "Unknown" => end.get("exitCode").integer() == Some(CONTAINERD_LOST),
        _ => false,
    }
}

/// The exit code that containerd reports, with the reason `Unknown`, for a container without a task.
const CONTAINERD_LOST: i64 = 255;

/// Failed, with the most specific reason and message of a failed Pod.
pub(super) fn failure(status: Node<'_>) -> Verdict {
    let bad_end =
        all(status).find_map(|container| bad_end(container, container.at("/state/terminated")));
    let (reason, message) = bad_end.unwrap_or(("PodFailed", String::new()));
    let own = |field| status.get(field).text().filter(|text| !text.is_empty());
    Verdict::failed(
        own("reason").unwrap_or(reason).to_owned(),
        own("message").map_or(message, str::to_owned),
    )
}

/// The reason and message of a container that crashed.
fn crash<'a>(container: Node<'a>, terminated: Node<'a>) -> Option<(&'a str, String)> {
    bad_end(container, terminated).filter(|_| !is_lost(terminated))
}

/// The reason and message of a container that ended with an error.
fn bad_end<'a>(container: Node<'a>, terminated: Node<'a>) -> Option<(&'a str, String)> {
    let code = terminated
        .get("exitCode")
        .integer()
        .filter(|&code| code != 0)?;
    let reason = terminated.get("reason").text().unwrap_or("Error");
    let name = container.get("name").text_or_empty();
    let message = match terminated.get("message").text_or_empty() {
        "" if reason == "OOMKilled" => format!("container {name} ran out of memory"),
        "" => format!("container {name} ended with exit code {code}"),
        message => of(container, message),
    };
    Some((reason, message))
}

/// All container statuses. Init containers are first, because they run first.
pub(super) fn all(status: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let init = status.get("initContainerStatuses").items();
    init.chain(status.get("containerStatuses").items())
}

fn of(container: Node<'_>, message: &str) -> String {
    format!(
        "container {}: {message}",
        container.get("name").text_or_empty()
    )
}
