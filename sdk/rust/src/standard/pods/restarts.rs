//! Recent restarts: containers that run again after a crash, and may crash again.
//!
//! Between two crashes, the container is ready and no condition shows the problem. A container
//! counts if it restarted at least twice and its last end was abnormal, or if it ran out of memory
//! once. Ten minutes (a setting) after the end, it does not count any more. After ten minutes, the
//! kubelet resets its back-off too.
//!
//! The last end of an init container that has done its work is the success, so its earlier failures
//! do not count. Sidecars run as long as the Pod, so they count like other containers. An end that
//! was lost in the reboot of a node is not a crash.

use super::containers;
use super::trouble::LOOP_RESTARTS;
use crate::{Failure, Input, Node, State, Verdict};

/// The reason of a verdict that only recent restarts cause, on a Pod or on its owner.
pub const RECENT_RESTARTS: &str = "RecentRestarts";

/// Default of `restartWindowSeconds`.
const WINDOW_S: i64 = 600;

/// The recent restarts of the containers of a Pod.
pub(super) struct Restarts {
    message: String,
    /// The time at which the first of them is no longer recent, in Unix milliseconds.
    recheck_at_ms: Option<i64>,
}

impl Restarts {
    /// The recent restarts in the status of a Pod, if there are any.
    pub(super) fn of(status: Node<'_>, input: &Input<'_>) -> Result<Option<Self>, Failure> {
        let window_ms = input.setting_ms("restartWindowSeconds", WINDOW_S)?;
        if window_ms == 0 {
            return Ok(None);
        }
        let crashes = containers::all(status).filter_map(Crash::of);
        let recent: Vec<Crash<'_>> = crashes
            .filter(|crash| crash.is_recent(window_ms, input.now_ms()))
            .collect();
        if recent.is_empty() {
            return Ok(None);
        }
        let messages: Vec<String> = recent.iter().map(Crash::message).collect();
        let forgotten = recent
            .iter()
            .filter_map(|crash| crash.forgotten_ms(window_ms));
        Ok(Some(Self {
            message: messages.join(", "),
            recheck_at_ms: forgotten.min(),
        }))
    }

    /// A verdict with the state that such a Pod has.
    pub(super) fn verdict(self, state: State) -> Verdict {
        Verdict {
            recheck_at_ms: self.recheck_at_ms,
            ..Verdict::new(state, RECENT_RESTARTS, self.message)
        }
    }
}

/// A container whose last end was a crash that counts.
struct Crash<'a> {
    container: Node<'a>,
    end: Node<'a>,
}

impl<'a> Crash<'a> {
    /// The last end of a container, if it counts. A number that cannot be read is no evidence of a
    /// normal end.
    fn of(container: Node<'a>) -> Option<Self> {
        let [current, last] =
            ["/state/terminated", "/lastState/terminated"].map(|pointer| container.at(pointer));
        let end = if current.is_object() { current } else { last };
        let restarts = container.get("restartCount").integer();
        let is_loop = restarts.is_none_or(|restarts| restarts >= LOOP_RESTARTS);
        let counts = match end.get("reason").text_or_empty() {
            "OOMKilled" => true,
            _ if containers::is_lost(end) => false,
            _ => end.is_object() && is_loop && end.get("exitCode").integer() != Some(0),
        };
        counts.then_some(Self { container, end })
    }

    /// The time at which the crash is no longer recent, in Unix milliseconds, if the time of the
    /// crash is known.
    fn forgotten_ms(&self, window_ms: i64) -> Option<i64> {
        let crashed_ms = self.end.get("finishedAt").time_ms()?;
        Some(crashed_ms.saturating_add(window_ms))
    }

    /// Returns whether the crash is recent. An unknown time may be recent.
    fn is_recent(&self, window_ms: i64, now_ms: i64) -> bool {
        self.forgotten_ms(window_ms)
            .is_none_or(|forgotten_ms| now_ms < forgotten_ms)
    }

    /// "container a has restartCount 5 and last ended with Error (exit code 1)".
    fn message(&self) -> String {
        let count = |node: Node<'_>| match node.integer() {
            Some(count) => count.to_string(),
            None => "unknown".to_owned(),
        };
        let name = self.container.get("name").text_or_empty();
        let restarts = count(self.container.get("restartCount"));
        let reason = self.end.get("reason").text().unwrap_or("Error");
        let code = count(self.end.get("exitCode"));
        format!(
            "container {name} has restartCount {restarts} and last ended with {reason} (exit code {code})"
        )
    }
}

#[cfg(test)]
mod tests {
    use kindsight_contract::Tree;

    use super::*;

    /// Message and recheck time of the restarts in container statuses, one second after 1970.
    fn restarts(container: &str) -> Option<(String, Option<i64>)> {
        let text = format!(r#"{{"containerStatuses": [{container}]}}"#);
        let tree = Tree::read(&text).expect("JSON");
        let document = tree.document(&text);
        let none = Tree::read("{}").expect("JSON");
        let none = none.document("{}");
        let input = Input::new(none.root(), Some(1_000));
        let restarts = Restarts::of(document.root(), &input).expect("no settings")?;
        Some((restarts.message, restarts.recheck_at_ms))
    }

    #[test]
    fn a_message_names_the_container_the_count_and_the_end() {
        let crashed = r#"{"name": "a", "restartCount": 5, "lastState": {"terminated":
            {"exitCode": 1, "reason": "Error", "finishedAt": "1970-01-01T00:00:00Z"}}}"#;
        let killed = r#"{"name": "b", "restartCount": 1, "lastState": {"terminated":
            {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "1970-01-01T00:00:01Z"}}}"#;
        let (message, recheck_at_ms) = restarts(&format!("{killed}, {crashed}")).expect("two");
        assert_eq!(
            message,
            "container b has restartCount 1 and last ended with OOMKilled (exit code 137), \
             container a has restartCount 5 and last ended with Error (exit code 1)"
        );
        assert_eq!(recheck_at_ms, Some(600_000), "the first that ends");
    }

    #[test]
    fn a_value_that_cannot_be_read_is_no_evidence_of_a_normal_end() {
        let table = [
            r#"{"restartCount": 2, "lastState": {"terminated": {}}}"#,
            r#"{"restartCount": 2, "lastState": {"terminated": {"exitCode": "many"}}}"#,
            r#"{"restartCount": "many", "lastState": {"terminated": {"exitCode": 1}}}"#,
            r#"{"lastState": {"terminated": {"exitCode": 1, "finishedAt": "now"}}}"#,
        ];
        for container in table {
            let (_, recheck_at_ms) = restarts(container).expect("it may have crashed");
            assert_eq!(recheck_at_ms, None, "{container}");
        }
        let table = [
            r#"{"restartCount": 9}"#,
            r#"{"restartCount": 9, "lastState": {"terminated": true}}"#,
            r#"{"restartCount": 9, "lastState": {"terminated": {"exitCode": "0"}}}"#,
            r#"{"restartCount": "1", "lastState": {"terminated": {"exitCode": 1}}}"#,
        ];
        for container in table {
            assert_eq!(restarts(container), None, "{container}");
        }
    }
}
