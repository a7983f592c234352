//! Other monitors that write the same objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kindsight_clusters::{ApiRequest, ApiServer, ApiVerb};
use kindsight_model::clean;
use serde_json::json;
use tokio::time::Instant;

use crate::MonitorIdentity;
use crate::targets::Rival;

/// Time between two reports about the same monitor.
const REPORT_EVERY: Duration = Duration::from_mins(10);
/// Maximum number of other monitors that are remembered.
const RIVALS_MAX: usize = 64;
/// Maximum length of the name of another monitor in texts, in bytes.
const NAME_BYTES_MAX: usize = 253;

/// The other monitors that this monitor has noticed, with the time of the last report.
#[derive(Debug, Default)]
pub(crate) struct Rivals(BTreeMap<String, Instant>);

/// The notice about another monitor, which becomes an event in the cluster.
#[derive(Debug)]
pub(crate) struct RivalNotice {
    rival: Rival,
    message: String,
}

impl Rivals {
    /// Logs another monitor, at most once in ten minutes for each name. Returns the notice for the cluster, as often.
    pub(crate) fn note(
        &mut self,
        rival: Rival,
        identity: &MonitorIdentity,
        now: Instant,
    ) -> Option<RivalNotice> {
        let name = clean(&rival.name, NAME_BYTES_MAX).into_owned();
        let last = self.0.get(&name);
        if last.is_some_and(|at| now.saturating_duration_since(*at) < REPORT_EVERY) {
            return None;
        }
        if self.0.len() >= RIVALS_MAX {
            self.0.pop_first();
        }
        self.0.insert(name.clone(), now);
        tracing::warn!(
            state = %rival.state,
            other = name,
            this = %identity,
            "another monitor writes the same ResourceBundleState; stop one of the two monitors"
        );
        let message = format!(
            "The monitors `{identity}` and `{name}` write this object. Stop one of the two monitors."
        );
        Some(RivalNotice { rival, message })
    }
}

impl RivalNotice {
    /// Creates the event about the object. A failure is logged, because the log already names the other monitor.
    pub(crate) async fn send(self, server: Arc<ApiServer>, at: Timestamp) {
        let Rival { state, uid, .. } = &self.rival;
        let time = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let body = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"generateName": "kindsight-monitor-", "namespace": &*state.namespace},
            "involvedObject": {"apiVersion": "k8splugin.io/v1alpha1", "kind": "ResourceBundleState",
                "namespace": &*state.namespace, "name": &*state.name, "uid": &**uid},
            "reason": "AnotherMonitor", "message": self.message, "type": "Warning",
            "source": {"component": "kindsight-monitor"},
            "firstTimestamp": time, "lastTimestamp": time, "count": 1,
        });
        let path = format!("/api/v1/namespaces/{}/events", state.namespace);
        let request = ApiRequest {
            verb: ApiVerb::Create,
            path: &path,
            is_metadata_enough: true,
            body: &body.to_string(),
        };
        let why = match server.send(&request).await {
            Ok(answer) if answer.is_success() => return,
            Ok(answer) => format!("it answers {}: {}", answer.code, answer.message),
            Err(error) => error.to_string(),
        };
        tracing::debug!(%state, why, "event about another monitor not created");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_name::StateName;

    #[test]
    fn another_monitor_is_reported_once_in_ten_minutes() {
        let mut rivals = Rivals::default();
        let identity = "a".parse().unwrap();
        let start = Instant::now();
        let rival = |name: &str| Rival {
            state: StateName::usual(&"7-front".parse().unwrap()),
            uid: "u".into(),
            name: name.to_owned(),
        };
        let notice = rivals.note(rival("b\u{1b}"), &identity, start).unwrap();
        assert!(notice.message.contains("`a` and `b"), "{}", notice.message);
        assert!(!notice.message.contains('\u{1b}'));
        assert!(rivals.note(rival("b\u{1b}"), &identity, start).is_none());
        assert!(rivals.note(rival("c"), &identity, start).is_some());
        assert!(
            rivals
                .note(rival("b\u{1b}"), &identity, start + REPORT_EVERY)
                .is_some()
        );
    }
}
