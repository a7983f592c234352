//! `kindsight clusters`: lists the clusters of a server.

use std::io::{self, Write};

use clap::Args;
use kindsight_api::clusters::{ClusterConnection, ClusterList};
use kindsight_server::now_ms;

use crate::age::age;
use crate::client::{self, Request};
use crate::output_format::OutputFormat;
use crate::table::Table;

/// `kindsight clusters`.
#[derive(Debug, Args)]
pub(crate) struct ClustersArgs {
    /// URL of the server.
    #[arg(
        long,
        default_value = "http://127.0.0.1:9015",
        env = "KINDSIGHT_SERVER"
    )]
    pub(crate) server: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// Runs the command.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn run(args: &ClustersArgs) -> anyhow::Result<()> {
    let answer = Request::get("/v2/clusters".to_owned()).ask(&args.server)?;
    let out = io::stdout().lock();
    match args.output {
        OutputFormat::Json => client::print_as_is(out, &answer),
        OutputFormat::Table => Ok(print(out, &client::read(&answer)?, now_ms())?),
    }
}

/// Prints one line per cluster, and below it what it does not cover and what could not be read. Ages are
/// relative to `now_ms`.
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
        let objects = cluster.objects.map(|it| it.to_string());
        table.row(&[
            &name(cluster),
            cluster.connection.as_str(),
            &age(cluster.since, now_ms),
            cluster.server_version.as_deref().unwrap_or_default(),
            &objects.unwrap_or_default(),
            &age(cluster.last_event, now_ms),
            &cluster.origin,
            cluster.error.as_deref().unwrap_or_default(),
        ])?;
        for kind in cluster.not_covered.iter() {
            table.note(&format!("  not covered: {kind}"))?;
        }
        for fault in cluster.faults.iter() {
            table.note(&format!("  not readable: {fault}"))?;
        }
    }
    table.flush()?;
    if list.clusters.is_empty() {
        writeln!(to, "no clusters are configured")?;
    }
    Ok(())
}

fn name(cluster: &ClusterConnection<'_>) -> String {
    format!("{}+{}", cluster.cluster_provider, cluster.cluster)
}

#[cfg(test)]
mod tests;
