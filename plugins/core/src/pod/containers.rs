//! Verdicts by the container statuses of a Pod.

use kindsight_sdk::prelude::*;

/// Failed, when a container waits because of an error.
pub(super) fn stuck(status: Node<'_>) -> Option<Verdict> {
    all(status).find_map(|container| {
        let waiting = container.at("/state/waiting");
        let reason = waiting.get("reason").text().filter(|it| is_trouble(it))?;
        let message = waiting.get("message").text_or_empty();
        Some(Verdict::failed(reason, of(container, message)))
    })
}

/// Returns whether the reason is an error that needs an operator, although the kubelet retries.
fn is_trouble(waiting_reason: &str) -> bool {
    waiting_reason.starts_with("Err")
        || waiting_reason.ends_with("Error")
        || waiting_reason.ends_with("BackOff")
        || waiting_reason == "InvalidImageName"
}

/// Failed, when a container that is not ready last ended with an error.
///
/// Init containers are skipped: one that failed and then succeeded keeps the record.
pub(super) fn crashed(status: Node<'_>) -> Option<Verdict> {
    let mut unready = status
        .get("containerStatuses")
        .items()
        .filter(|container| !container.get("ready").is_true());
    unready.find_map(|container| {
        let now = bad_end(container, container.at("/state/terminated"));
        let before = || bad_end(container, container.at("/lastState/terminated"));
        let (reason, message) = now.or_else(before)?;
        Some(Verdict::failed(reason, message))
    })
}

/// Failed, with the most specific reason and message of a failed Pod.
pub(super) fn failure(status: Node<'_>) -> Verdict {
    let bad_end = all(status).find_map(|it| bad_end(it, it.at("/state/terminated")));
    let (reason, message) = bad_end.unwrap_or(("PodFailed", String::new()));
    let own = |field| status.get(field).text().filter(|text| !text.is_empty());
    Verdict::failed(
        own("reason").unwrap_or(reason),
        own("message").map_or(message, str::to_owned),
    )
}

/// Reason and message of a container that ended with an error.
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

/// All container statuses, init containers first, as they run first.
fn all(status: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let init = status.get("initContainerStatuses").items();
    init.chain(status.get("containerStatuses").items())
}

fn of(container: Node<'_>, message: &str) -> String {
    format!(
        "container {}: {message}",
        container.get("name").text_or_empty()
    )
}
