//! `kindsight`: tells what the raw status of Kubernetes resources means.
//!
//! One binary with a subcommand for each job. This file dispatches them; `cli.rs` declares them, and
//! the crate `kindsight-server` is the server.
#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod age;
mod cli;
mod client;
mod client_config;
mod color;
mod commands;
mod config;
mod config_file;
mod explanation;
mod kubectl;
mod login;
mod output_format;
mod pipe;
mod progress;
mod server_args;
mod store_line;
mod table;

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::commands::{
    applications, clusters, demo, history, interpret, interpreters, serve, status, store,
};

/// Returns memory to the system after a burst. The allocator of glibc does not: it kept nearly all the memory of
/// 100,000 reported objects (`cargo bench -p kindsight-tests --bench load`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit code for findings at which the command line asks to fail: neither success nor failure.
pub(crate) const FOUND: u8 = 3;

/// Exit code where the command line cannot be followed, as clap has it.
pub(crate) const INVALID: u8 = 2;

/// Exit code where an application that was waited for failed, or a cluster would refuse a resource of a dry run.
pub(crate) const FAILED: u8 = 4;

/// Exit code where the time to wait is up.
pub(crate) const TIME_IS_UP: u8 = 5;

/// Exit code where the reader of the output closed the pipe. Shells have it for a program that SIGPIPE ended.
const UNREAD: u8 = 141;

fn main() -> ExitCode {
    if kindsight_server::is_compiler() {
        return kindsight_server::interpreter::compile_child();
    }
    let argv: Vec<_> = std::env::args_os().collect();
    color::set(color::requested(&argv));
    match config_file::read(argv).and_then(run) {
        Ok(code) => code,
        Err(error) if pipe::is_unread(&error, &std::io::stdout()) => ExitCode::from(UNREAD),
        Err(error) => {
            cli::complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Demo(args) => demo::run(&args)?,
        Command::Serve(args) => serve::run(args)?,
        Command::Interpret(args) => return interpret::run(&args),
        Command::Applications(args) => applications::run(&args)?,
        Command::Clusters(args) => clusters::run(&args)?,
        Command::Status(args) => return status::run(&args),
        Command::History(args) => return history::run(&args),
        Command::HealthScope(args) => commands::health_scope::run(&args)?,
        Command::Apply(args) => return commands::lifecycle::apply(&args),
        Command::Approve(args) => return commands::lifecycle::approve(&args),
        Command::Instantiate(args) => {
            return commands::lifecycle::send(&args, "instantiate");
        }
        Command::Update(args) => return commands::lifecycle::send(&args, "update"),
        Command::Rollback(args) => return commands::lifecycle::roll_back(&args),
        Command::Terminate(args) => return commands::lifecycle::terminate(&args),
        Command::Stop(args) => return commands::lifecycle::act(&args, "stop"),
        Command::Delete(args) => return commands::lifecycle::delete(&args),
        Command::Store(args) => return store::run(&args),
        Command::Backup(args) => commands::backup::back_up(&args)?,
        Command::Restore(args) => commands::backup::restore(&args)?,
        Command::Interpreters(args) => return interpreters::run(&args),
        Command::Notify(args) => return commands::notify::run(&args),
        Command::Plugin(args) => return commands::plugin::run(&args),
        Command::Login(args) => commands::login::log_in(&args)?,
        Command::Logout(args) => commands::login::log_out(&args)?,
        Command::Token(args) => commands::token::run(&args)?,
        Command::Completion(args) => commands::completion::run(&args)?,
        Command::Man(args) => commands::man::run(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}
