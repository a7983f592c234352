//! `kindsight clusters`: lists the clusters of a server.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use clap::Args;
use kindsight_api::clusters::{ClusterConnection, ClusterCoverage, ClusterList, Connection};
use kindsight_server::now_ms;

use crate::age::age;
use crate::client::{self, Request};
use crate::color;
use crate::output_format::OutputFormat;
use crate::server_args::ServerArgs;
use crate::store_line;
use crate::table::{Cell, Table};

/// Maximum number of uncovered Kinds with the same reason that get a line each.
const KINDS_ALIKE_MAX: usize = 3;
/// Maximum number of Kinds that the line of all further Kinds names.
const KINDS_SHOWN_MAX: usize = 4;

/// `kindsight clusters`.
#[derive(Debug, Args)]
pub(crate) struct ClustersArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// Runs the command.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn run(args: &ClustersArgs) -> anyhow::Result<()> {
    let answer = Request::get("/v2/clusters".to_owned()).ask(&args.server.connect()?)?;
    match args.output {
        OutputFormat::Json => client::print_as_is(io::stdout().lock(), &answer),
        OutputFormat::Table => {
            let out = anstream::stdout().lock();
            Ok(print(out, &client::read(&answer)?, now_ms())?)
        }
    }
}

/// The state of the connection, and whether some Kinds are not covered.
fn connection(cluster: &ClusterConnection<'_>) -> Cell<'static> {
    let is_partial = cluster.coverage == Some(ClusterCoverage::Partial);
    let text = match cluster.connection {
        Connection::Connected if is_partial => "connected, partial".to_owned(),
        state => state.to_string(),
    };
    Cell::styled(text, color::of_connection(cluster.connection, is_partial))
}

/// Prints one line per cluster. Lines below it show its mode (unless `auto`), its selector, uncovered Kinds and
/// unreadable reports. Ages are relative to `now_ms`.
fn print(mut to: impl Write, list: &ClusterList<'_>, now_ms: i64) -> io::Result<()> {
    let head = [
        "CLUSTER",
        "CONNECTION",
        "SINCE",
        "VERSION",
        "OBJECTS",
        "LAST EVENT",
        "ORIGIN",
        "ERROR",
    ];
    let mut table = Table::new(&mut to, &head);
    for cluster in &list.clusters {
        let objects = cluster.objects.map(|count| count.to_string());
        table.cells(&[
            Cell::plain(name(cluster)),
            connection(cluster),
            Cell::plain(age(cluster.since, now_ms)),
            Cell::plain(cluster.server_version.as_deref().unwrap_or_default()),
            Cell::plain(objects.unwrap_or_default()),
            Cell::plain(age(cluster.last_event, now_ms)),
            Cell::plain(&*cluster.origin),
            Cell::plain(cluster.error.as_deref().unwrap_or_default()),
        ])?;
        if let Some(mode) = cluster.mode {
            table.note(&format!("  mode: {}", mode.as_str()))?;
        }
        if let Some(selector) = &cluster.selector {
            table.note(&format!("  selector: {selector}"))?;
        }
        for text in not_covered(&cluster.not_covered) {
            table.note(&format!("  not covered: {text}"))?;
        }
        for fault in cluster.faults.iter() {
            table.note(&format!("  not readable: {fault}"))?;
        }
    }
    table.flush()?;
    store_line::print(&mut to, list.store.as_ref())?;
    if list.clusters.is_empty() {
        writeln!(to, "no clusters are configured")?;
    }
    Ok(())
}

/// Kinds that a cluster does not cover, each with its reason. If many Kinds have the same reason, the first Kind gets a
/// line, and one further line names the next Kinds.
fn not_covered(all: &[Arc<str>]) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for text in all {
        let (name, why) = text.split_once(": ").unwrap_or((text, ""));
        let reason = why.split_once(": ").map_or(why, |(reason, _)| reason);
        by_reason.entry(reason).or_default().push((name, text));
    }
    let mut lines = Vec::new();
    for (reason, alike) in by_reason {
        let whole = if alike.len() > KINDS_ALIKE_MAX {
            1
        } else {
            alike.len()
        };
        let (first, others) = alike.split_at(whole);
        lines.extend(first.iter().map(|(_, text)| (*text).to_owned()));
        if others.is_empty() {
            continue;
        }
        let names: Vec<&str> = others.iter().map(|(name, _)| *name).collect();
        let shown = names.get(..KINDS_SHOWN_MAX).unwrap_or(&names).join(", ");
        lines.push(match names.len().saturating_sub(KINDS_SHOWN_MAX) {
            0 => format!("{shown}: {reason}"),
            more => format!("{shown} and {more} more: {reason}; -o json lists them"),
        });
    }
    lines
}

fn name(cluster: &ClusterConnection<'_>) -> String {
    format!("{}+{}", cluster.cluster_provider, cluster.cluster)
}

#[cfg(test)]
mod tests;
