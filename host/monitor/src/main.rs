//! `kindsight-monitor`: the agent in a cluster.

#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod cli;
mod logging;
mod terminal;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use cli::{Cli, Command};

/// Maximum size of the parsed trees that the objects keep, in bytes. A report needs the text of most objects only.
const TREES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One thread is sufficient: the agent waits for networks most of the time, and one thread keeps little memory.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli).await {
        Ok(code) => code,
        Err(error) => {
            terminal::complain(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Result<ExitCode, Box<dyn Error>> {
    logging::start(&cli.log, cli.log_format)?;
    match cli.command.unwrap_or(Command::Run(Box::new(cli.run))) {
        Command::Run(args) => {
            let options = args.options()?;
            tracing::info!(
                cluster = %options.cluster.name(),
                identity = %options.identity,
                creates = options.may_create,
                "monitor started"
            );
            kindsight_model::set_tree_budget(TREES_BYTES_MAX);
            kindsight_monitor::run(options, ended()?).await?;
            tracing::info!("monitor ended");
            Ok(ExitCode::SUCCESS)
        }
        Command::Install(args) => terminal::install(&args).await,
    }
}

/// A token that the signals SIGTERM and SIGINT cancel. A second signal ends the process.
fn ended() -> Result<CancellationToken, Box<dyn Error>> {
    let shutdown = CancellationToken::new();
    let (mut terminated, mut interrupted) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let cancelled = shutdown.clone();
    let tasks = tokio_util::task::TaskTracker::new();
    tasks.spawn(async move {
        for _ in 0..2 {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
            if cancelled.is_cancelled() {
                std::process::exit(1);
            }
            cancelled.cancel();
        }
    });
    Ok(shutdown)
}
