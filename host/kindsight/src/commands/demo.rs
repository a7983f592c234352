//! `kindsight demo`: a server over a recorded composite application; only its clusters are not real.

use std::net::SocketAddr;

use anyhow::Context as _;
use clap::Args;
use kindsight_server::{Demo, LogFormat, now_ms, start_logging};

use crate::cli;
use crate::client::Server;
use crate::commands::status::{self, StatusQuery};
use crate::config::address;
use crate::output_format::OutputFormat;
use crate::progress::{self, LogLines, Progress};

/// `kindsight demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Prints the status and exits, instead of serving until Ctrl-C.
    #[arg(long)]
    pub(crate) once: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
    /// Address to listen on; port 0 picks a free port.
    #[arg(long, env = "KINDSIGHT_LISTEN", value_name = "ADDRESS", value_parser = address, default_value = "127.0.0.1:9015")]
    pub(crate) listen: SocketAddr,
}

/// Runs the command.
///
/// # Errors
/// When the server cannot be started, or its own server does not answer.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    start_logging("warn", LogFormat::Text, || LogLines)?;
    let folder = tempfile::Builder::new()
        .prefix("kindsight-demo-")
        .tempdir()?;
    let demo = Demo::write_to(folder.path())?;
    let (mut settings, dig, monitors) = (demo.settings, demo.dig, demo.monitors);
    settings.on_loaded = progress::of_interpreters();
    // With --once the server stops before a client can query it, so any free port is suitable.
    if !args.once {
        settings.listen = args.listen;
    }
    kindsight_server::run(settings, async |server, mut signals| {
        let waiting = Progress::waiting("waiting for the reports of the clusters");
        server.synced().await;
        drop(waiting);
        let asked = Server::open(&format!("http://{}", server.address()))?;
        let query = StatusQuery::about(&dig.to_string())?;
        let (output, once) = (args.output, args.once);
        tokio::task::spawn_blocking(move || show(&asked, &query, output, once))
            .await
            .context("query the demo's own server")??;
        if !args.once {
            tokio::select! {
                () = signals.wait(server) => {}
                () = monitors.run() => {}
            }
        }
        Ok(())
    })
}

fn show(
    server: &Server,
    query: &StatusQuery,
    output: OutputFormat,
    once: bool,
) -> anyhow::Result<()> {
    status::show(server, query, output, now_ms())?;
    if !once {
        let (url, path) = (server.url(), query.path());
        cli::hint(&format!(
            "serving this application until Ctrl-C; its page: {url}/; queries to try:"
        ));
        for parameters in [
            "?type=cluster",
            "?type=cluster&app=sink&output=detail",
            "?type=cluster&explain=true",
        ] {
            cli::hint(&format!("  curl '{url}{path}{parameters}'"));
        }
    }
    Ok(())
}
