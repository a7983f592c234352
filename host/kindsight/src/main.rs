//! `kindsight`: what the raw status of Kubernetes resources means.
//!
//! One binary, one subcommand a job. This file only picks; `cli.rs` lists the commands and
//! `road.rs` is where the rooms are put together.
#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod application;
mod aside;
mod cli;
mod client;
mod comparison;
mod config;
mod demo;
mod interpret;
mod interpreters;
mod interpreters_command;
mod judge;
mod live;
mod manifest;
mod road;
mod serve;
mod status;
mod table;
mod telemetry;
mod verdict_line;

use std::process::ExitCode;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    if live::is_compiler() {
        return kindsight_interpreter::compile_child();
    }
    match config::read(std::env::args_os().collect()).and_then(run) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
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
        Command::Interpret(args) => interpret::run(&args)?,
        Command::Status(args) => status::run(args)?,
        Command::Interpreters(args) => return interpreters_command::run(&args),
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether whoever read our output went away, as `head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref())
        .any(broken)
}
