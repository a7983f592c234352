//! A server's answer, as far as the table shows it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Deserialize;
use serde_json::Value;

use crate::table::{Table, clean, short_digest};

/// The answer to a status query.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Answer {
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    ready_status: String,
    #[serde(default)]
    ready_reason: String,
    #[serde(default)]
    rsync_status: BTreeMap<String, u64>,
    #[serde(default)]
    cluster_status: BTreeMap<String, u64>,
    #[serde(default)]
    faults: Vec<String>,
    #[serde(default)]
    apps: Vec<App>,
}

#[derive(Debug, Deserialize)]
struct App {
    name: String,
    clusters: Vec<Cluster>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    #[serde(rename = "cluster-provider")]
    provider: String,
    #[serde(rename = "cluster")]
    name: String,
    #[serde(default)]
    stale_since: String,
    #[serde(default)]
    faults: Vec<String>,
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Resource {
    #[serde(rename = "GVK")]
    gvk: Gvk,
    name: String,
    #[serde(default)]
    detail: Value,
    #[serde(default)]
    rsync_status: String,
    #[serde(default)]
    cluster_status: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    since: String,
    interpreter: Option<Interpreter>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Gvk {
    kind: String,
}

#[derive(Debug, Deserialize)]
struct Interpreter {
    name: String,
    version: String,
    digest: String,
}

impl Answer {
    /// Prints the resources, one a line, and the totals.
    pub(crate) fn print(&self, mut to: impl Write, now_ms: i64) -> anyhow::Result<()> {
        let explain = self
            .resources()
            .any(|(.., resource)| resource.interpreter.is_some());
        let mut head = vec!["APP", "CLUSTER", "KIND", "NAME", "STATE", "REASON", "AGE"];
        if explain {
            head.extend(["SINCE", "INTERPRETER", "DIGEST"]);
        }
        head.push("MESSAGE");
        let mut table = Table::new(&mut to, &head);
        for (app, cluster, resource) in self.resources() {
            resource.row(&mut table, &app.name, cluster, explain, now_ms)?;
        }
        table.flush()?;
        self.totals(&mut to)?;
        Ok(())
    }

    fn resources(&self) -> impl Iterator<Item = (&App, &Cluster, &Resource)> {
        self.clusters().flat_map(|(app, cluster)| {
            cluster
                .resources
                .iter()
                .map(move |resource| (app, cluster, resource))
        })
    }

    fn clusters(&self) -> impl Iterator<Item = (&App, &Cluster)> {
        self.apps
            .iter()
            .flat_map(|app| app.clusters.iter().map(move |cluster| (app, cluster)))
    }

    fn totals(&self, to: &mut impl Write) -> io::Result<()> {
        let mut line = format!("\n{}", self.name);
        for part in [&self.status, &self.message] {
            if !part.is_empty() {
                line.extend([": ", part]);
            }
        }
        for counts in [&self.cluster_status, &self.rsync_status] {
            let counts: Vec<String> = counts
                .iter()
                .map(|(state, count)| format!("{count} {state}"))
                .collect();
            if !counts.is_empty() {
                // Writing to a String does not fail.
                let _ = write!(line, "; {}", counts.join(", "));
            }
        }
        writeln!(to, "{line}")?;
        match (self.ready_status.as_str(), self.ready_reason.as_str()) {
            ("", _) => {}
            (whole, "") => writeln!(to, "as a whole: {whole}")?,
            (whole, reason) => writeln!(to, "as a whole: {whole}: {reason}")?,
        }
        for (app, cluster) in self.clusters() {
            let place = format!("{} on {}+{}", app.name, cluster.provider, cluster.name);
            if !cluster.stale_since.is_empty() {
                writeln!(
                    to,
                    "{place}: not reachable since {}, the last word is shown",
                    cluster.stale_since
                )?;
            }
            for fault in &cluster.faults {
                writeln!(to, "{place}: {}", clean(fault))?;
            }
        }
        for fault in &self.faults {
            writeln!(to, "{}", clean(fault))?;
        }
        Ok(())
    }
}

impl Resource {
    fn row(
        &self,
        table: &mut Table<impl Write>,
        app: &str,
        cluster: &Cluster,
        explain: bool,
        now_ms: i64,
    ) -> io::Result<()> {
        let state = if self.cluster_status.is_empty() {
            &self.rsync_status
        } else {
            &self.cluster_status
        };
        let age = self.age(now_ms);
        let by = self.interpreter.as_ref();
        let interpreter = by
            .map(|by| format!("{} {}", by.name, by.version))
            .unwrap_or_default();
        let digest = by.map_or("", |by| short_digest(&by.digest));
        let mut cells: Vec<&str> = vec![
            app,
            &cluster.name,
            &self.gvk.kind,
            &self.name,
            state,
            &self.reason,
            &age,
        ];
        if explain {
            cells.extend([self.since.as_str(), &interpreter, digest]);
        }
        cells.push(&self.message);
        table.row(&cells)
    }

    /// Since its creation, as `kubectl` shows it.
    fn age(&self, now_ms: i64) -> String {
        let created = self
            .detail
            .pointer("/metadata/creationTimestamp")
            .and_then(Value::as_str);
        let created = created.and_then(|text| text.parse::<jiff::Timestamp>().ok());
        created.map_or_else(String::new, |created| {
            duration(now_ms - created.as_millisecond())
        })
    }
}

/// A time span in its two largest units at most.
fn duration(span_ms: i64) -> String {
    let seconds = (span_ms / 1000).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 120 => format!("{minutes}m"),
        () if hours < 48 => format!("{hours}h"),
        () => format!("{days}d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        for (seconds, expected) in [
            (-5, "0s"),
            (59, "59s"),
            (119, "119s"),
            (150, "2m"),
            (7200, "2h"),
            (200_000, "2d"),
        ] {
            assert_eq!(duration(seconds * 1000), expected);
        }
    }
}
