//! Checks which clusters were heard since the command began.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use jiff::Timestamp;
use kindsight_api::clusters::{ClusterList, Connection};
use kindsight_api::status::Status;

use crate::client::{self, Request, Server};

/// Time after which a folder of reports counts as heard, if it is still connected. Folders are not probed. An API
/// server is probed every few seconds, and does not count as heard without an answer, because it may hang.
const SILENT_MAX: Duration = Duration::from_secs(20);

/// Resolution of a `Date` header, in milliseconds.
const DATE_MS: i64 = 1000;

/// The error of a server without a clock.
const NO_DATE: &str = "the server's answer has no `Date`: --wait needs one to know which reports are newer than the command; does a proxy remove it?";

/// Path of the list of clusters below the server's address.
const CLUSTERS: &str = "/v2/clusters";

/// The time at which the command began.
///
/// The times of clusters are by the server's clock, so they are compared with the begin by the same clock. It
/// follows from the `Date` of any answer and the time from the begin to the request; the client's own clock may
/// be wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub(super) at: Instant,
    /// The earliest time, in Unix milliseconds by the server's clock, that is known not to be before the begin.
    server_ms: i64,
}

impl Begun {
    pub(super) fn now() -> Self {
        Self {
            at: Instant::now(),
            server_ms: i64::MAX,
        }
    }

    /// Takes an answer of the server to a request of this time into account. A `Date` has no part of a second;
    /// the dates of several answers narrow the begin down.
    pub(super) fn narrow(&mut self, asked: Instant, date: Timestamp) {
        let elapsed = asked.saturating_duration_since(self.at).as_millis();
        let elapsed_ms = i64::try_from(elapsed).unwrap_or(i64::MAX);
        let latest_ms = date.as_millisecond().saturating_add(DATE_MS - 1);
        self.server_ms = self.server_ms.min(latest_ms.saturating_sub(elapsed_ms));
    }
}

/// Provider and name of each cluster of an application.
pub(super) type Clusters = BTreeSet<(String, String)>;

/// The clusters of the application with this status.
pub(super) fn clusters(status: &Status<'_>) -> Clusters {
    let clusters = status.apps.iter().flat_map(|app| &app.clusters);
    clusters
        .map(|cluster| {
            (
                cluster.cluster_provider.to_string(),
                cluster.cluster.to_string(),
            )
        })
        .collect()
}

/// The reason why one of the clusters was not heard; none if all were heard.
///
/// # Errors
/// When the server refuses or cannot be reached, or its answer has no date.
pub(super) fn not_heard(
    server: &Server,
    clusters: &Clusters,
    begun: &mut Begun,
) -> anyhow::Result<Option<String>> {
    let asked = Instant::now();
    let answer = Request::get(CLUSTERS.to_owned()).answer(server)?;
    begun.narrow(asked, answer.date.context(NO_DATE)?);
    let list: ClusterList<'_> = client::read(&answer.body)?;
    Ok(missing(clusters, &list, begun))
}

fn missing(clusters: &Clusters, list: &ClusterList<'_>, begun: &Begun) -> Option<String> {
    clusters.iter().find_map(|(provider, name)| {
        let mut known = list.clusters.iter();
        let known =
            known.find(|cluster| cluster.cluster_provider == *provider && cluster.cluster == *name);
        match known {
            None => Some(format!(
                "nothing is configured to report on the cluster {provider}+{name}"
            )),
            Some(cluster) if cluster.connection == Connection::Connected => {
                let heard = cluster.last_event.max(cluster.since);
                let is_folder = cluster.server_version.is_none();
                let is_heard = heard.is_some_and(|heard| heard.as_millisecond() >= begun.server_ms)
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
            Some(cluster) => {
                let why = cluster.error.as_deref().unwrap_or("it was not heard yet");
                Some(format!(
                    "the cluster {provider}+{name} is {}: {why}",
                    cluster.connection.as_str()
                ))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_cluster_that_is_not_connected_or_was_not_heard_is_named() {
        let status = json!({"name": "web", "state": {"Actions": []}, "apps": [
            {"name": "front", "clusters": [{"cluster-provider": "k", "cluster": "a", "resources": []}]},
        ]})
        .to_string();
        let status: Status<'_> = serde_json::from_str(&status).unwrap();
        let begun = Begun {
            at: Instant::now(),
            server_ms: 1000,
        };
        let reason = |connection: &str, last: &str| {
            let list = json!({"clusters": [{
                "cluster-provider": "k", "cluster": "a", "connection": connection,
                "since": "1970-01-01T00:00:00Z", "last-event": last,
            }]})
            .to_string();
            missing(
                &clusters(&status),
                &serde_json::from_str(&list).unwrap(),
                &begun,
            )
        };
        assert_eq!(reason("connected", "1970-01-01T00:00:01Z"), None);
        let silent = reason("connected", "1970-01-01T00:00:00.999Z").unwrap();
        assert!(
            silent.contains("was not heard since the command began"),
            "{silent}"
        );
        let stale = reason("stale", "1970-01-01T00:00:01Z").unwrap();
        assert!(stale.starts_with("the cluster k+a is stale"), "{stale}");
        assert!(missing(&clusters(&status), &ClusterList::default(), &begun).is_some());
    }

    #[test]
    fn a_connected_folder_counts_as_heard_and_a_silent_api_server_does_not() {
        let status = json!({"name": "web", "state": {"Actions": []}, "apps": [
            {"name": "front", "clusters": [{"cluster-provider": "k", "cluster": "a", "resources": []}]},
        ]})
        .to_string();
        let status: Status<'_> = serde_json::from_str(&status).unwrap();
        let begun = Begun {
            at: Instant::now().checked_sub(SILENT_MAX).unwrap(),
            server_ms: 1000,
        };
        let mut cluster = json!({
            "cluster-provider": "k", "cluster": "a", "connection": "connected",
            "since": "1970-01-01T00:00:00Z", "last-event": "1970-01-01T00:00:00Z",
        });
        let reason = |cluster: &Value| {
            let list = json!({"clusters": [cluster]}).to_string();
            missing(
                &clusters(&status),
                &serde_json::from_str(&list).unwrap(),
                &begun,
            )
        };
        assert_eq!(reason(&cluster), None);
        cluster["server-version"] = "v1.34.2".into();
        assert!(reason(&cluster).is_some());
    }

    #[test]
    fn several_dates_narrow_the_begin_and_never_set_it_too_early() {
        let mut begun = Begun::now();
        let after = |ms| begun.at + Duration::from_millis(ms);
        // The command began at 7,400 by the server's clock.
        let answers = [(after(100), 7), (after(500), 7), (after(700), 8)];
        let bounds = answers.map(|(asked, second)| {
            begun.narrow(asked, Timestamp::from_second(second).unwrap());
            begun.server_ms
        });
        assert_eq!(bounds, [7899, 7499, 7499]);
    }
}
