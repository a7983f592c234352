//! A line for each change, where the output is not a terminal.

use std::io::{self, Write};

use jiff::Timestamp;
use kindsight_api::status::{QueryType, Status};
use kindsight_api::watch::{Gone, StatusChange};

use super::super::answer::{name, resources};
use super::super::followed::{Followed, News};
use super::super::scope::scoped;
use super::super::states;
use crate::client;
use crate::table::clean;

/// The type and the part of the status that the lines show.
#[derive(Clone, Copy)]
pub(super) struct Shown<'s> {
    pub(super) kind: QueryType,
    /// The selected part of the application; none for all of it.
    pub(super) scope: Option<&'s str>,
}

/// Prints the news.
pub(super) fn print(
    to: &mut impl Write,
    news: &News,
    followed: &Followed,
    shown: Shown<'_>,
    now_ms: i64,
) -> anyhow::Result<()> {
    let mut lines = Lines {
        to,
        shown,
        at: Timestamp::from_millisecond(now_ms)?,
    };
    match news {
        News::Unchanged => return Ok(()),
        News::Snapshot => {
            if let Some(status) = followed.status() {
                lines.status(&client::read(status)?)?;
            }
        }
        News::Change(change) => lines.change(&client::read(change)?)?,
        News::Lost(why) => lines.line(&format!("connecting again, since {why}"))?,
        News::Missing(why) => lines.line(why)?,
    }
    lines.to.flush()?;
    Ok(())
}

struct Lines<'w, W> {
    to: &'w mut W,
    shown: Shown<'w>,
    at: Timestamp,
}

impl<W: Write> Lines<'_, W> {
    fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.to, "{:.0} {}", self.at, clean(text))
    }

    fn change(&mut self, change: &StatusChange<'_>) -> io::Result<()> {
        for gone in &change.gone {
            self.gone(gone)?;
        }
        self.status(&change.status)
    }

    fn gone(&mut self, gone: &Gone<'_>) -> io::Result<()> {
        let mut text = gone.app.to_string();
        if let Some(cluster) = &gone.cluster {
            text.extend([" ", &cluster.cluster_provider, "+", &cluster.cluster]);
        }
        if let Some(resource) = &gone.resource {
            text.extend([" ", &resource.gvk.kind, "/", &resource.name]);
        }
        self.line(&format!("{text} is gone"))
    }

    /// Prints one line for each resource in the status, and one for the selected part of the application.
    fn status(&mut self, status: &Status<'_>) -> io::Result<()> {
        for (app, cluster, resource) in resources(status) {
            let (provider, at) = (&cluster.cluster_provider, &cluster.cluster);
            let (kind, name) = (&resource.gvk.kind, &resource.name);
            let mut text = format!("{} {provider}+{at} {kind}/{name} ", app.name);
            text.push_str(&states::words(self.shown.kind, cluster, resource));
            for (lead, part) in [(" ", &resource.reason), (": ", &resource.message)] {
                if !part.is_empty() {
                    text.extend([lead, part]);
                }
            }
            self.line(&text)?;
        }
        let readiness = &status.readiness;
        let state = readiness.ready_status.as_deref();
        let name = scoped(&name(status), self.shown.scope);
        let mut text = format!("{name}: {}", state.unwrap_or("-"));
        let stale = readiness.stale_reason.as_deref();
        let reasons = [&readiness.ready_reason, &status.message];
        let reasons = reasons.into_iter().flatten().map(AsRef::as_ref);
        for reason in reasons.chain(stale) {
            text.extend(["; ", reason]);
        }
        for kind in readiness.unanswered.iter() {
            text.extend(["; not answered: ", kind]);
        }
        self.line(&text)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_one_line_per_resource_and_one_for_the_application() {
        let core = json!({"Group": "", "Version": "v1", "Kind": "Pod"});
        let change = json!({
            "gone": [{
                "app": "front", "cluster": {"cluster-provider": "k", "cluster": "a"},
                "resource": {"GVK": core, "name": "front-1"},
            }, {"app": "back"}],
            "status": {
                "project": "-", "composite-app-name": "shop", "name": "web", "state": {"Actions": []},
                "ready-status": "Failed", "ready-reason": "Pod front-2 of front in k+a is Failed",
                "apps": [{"name": "front", "clusters": [{
                    "cluster-provider": "k", "cluster": "a",
                    "resources": [{
                        "GVK": core, "name": "front-2", "cluster-status": "Failed",
                        "reason": "Evicted", "message": "no\u{1b}[31m memory",
                    }],
                }]}],
            },
        })
        .to_string();
        let mut out = Vec::new();
        let mut lines = Lines {
            to: &mut out,
            shown: Shown {
                kind: QueryType::Cluster,
                scope: None,
            },
            at: Timestamp::UNIX_EPOCH,
        };
        lines
            .change(&serde_json::from_str(&change).unwrap())
            .unwrap();
        expect![[r#"
            1970-01-01T00:00:00Z front k+a Pod/front-1 is gone
            1970-01-01T00:00:00Z back is gone
            1970-01-01T00:00:00Z front k+a Pod/front-2 Failed Evicted: no [31m memory
            1970-01-01T00:00:00Z web/shop: Failed; Pod front-2 of front in k+a is Failed
        "#]]
        .assert_eq(&String::from_utf8(out).unwrap());
    }

    #[test]
    fn a_line_has_both_statuses_if_the_query_requests_both() {
        let resource = |kind: &str, name: &str, sent: Option<&str>| {
            json!({
                "GVK": {"Group": "", "Version": "v1", "Kind": kind}, "name": name,
                "rsync-status": sent, "cluster-status": "Pending", "reason": "NoEndpoints",
            })
        };
        let status = json!({
            "name": "dig", "state": {"Actions": []}, "ready-status": "Pending",
            "apps": [{"name": "sink", "clusters": [{
                "cluster-provider": "k", "cluster": "a",
                "resources": [
                    resource("Service", "sink", Some("Applied")),
                    resource("Pod", "sink-1", None),
                ],
            }]}],
        })
        .to_string();
        let mut out = Vec::new();
        let mut lines = Lines {
            to: &mut out,
            shown: Shown {
                kind: QueryType::All,
                scope: None,
            },
            at: Timestamp::UNIX_EPOCH,
        };
        lines
            .status(&serde_json::from_str(&status).unwrap())
            .unwrap();
        expect![[r#"
            1970-01-01T00:00:00Z sink k+a Service/sink sent Applied, reported Pending NoEndpoints
            1970-01-01T00:00:00Z sink k+a Pod/sink-1 not sent, reported Pending NoEndpoints
            1970-01-01T00:00:00Z dig: Pending
        "#]]
        .assert_eq(&String::from_utf8(out).unwrap());
    }
}
