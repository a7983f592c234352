//! `kindsight notify`: the receivers of notifications of a server.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kindsight_api::notify::{NotifyReceiver, NotifyReceiverList, NotifyResend, NotifyTest};
use kindsight_model::is_label_value;
use kindsight_server::now_ms;
use ureq::http::Method;

use crate::age::age;
use crate::client::{self, Request};
use crate::output_format::OutputFormat;
use crate::server_args::ServerArgs;
use crate::table::Table;

/// `kindsight notify`.
#[derive(Debug, Args)]
pub(crate) struct NotifyArgs {
    #[command(subcommand)]
    command: NotifyCommand,
}

#[derive(Debug, Subcommand)]
enum NotifyCommand {
    /// Lists the receivers with their queues, and the events that were given up.
    List(ListArgs),
    /// Sends a test event to a receiver, and shows its answer.
    ///
    /// An Alertmanager shows the alert of the test for 15 minutes.
    #[command(after_help = "Exit codes: 0 the receiver accepted the event; 1 it did not.")]
    Test(TestArgs),
    /// Sends the events that a receiver did not accept again.
    ///
    /// An event is listed as given up until the receiver accepts it.
    Resend(ResendArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    output: OutputFormat,
}

#[derive(Debug, Args)]
struct TestArgs {
    /// Name of the receiver in the configuration of the server.
    #[arg(value_parser = receiver_name)]
    name: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct ResendArgs {
    /// Name of the receiver in the configuration of the server.
    #[arg(value_parser = receiver_name)]
    name: String,
    #[command(flatten)]
    server: ServerArgs,
}

/// Parser of the name of a receiver.
fn receiver_name(text: &str) -> Result<String, String> {
    if is_label_value(text) {
        return Ok(text.to_owned());
    }
    Err("expected the `name` of a `[[notify]]` of the server".to_owned())
}

/// Runs the command.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn run(args: &NotifyArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        NotifyCommand::List(args) => list(args).map(|()| ExitCode::SUCCESS),
        NotifyCommand::Test(args) => test(args),
        NotifyCommand::Resend(args) => resend(args).map(|()| ExitCode::SUCCESS),
    }
}

fn list(args: &ListArgs) -> anyhow::Result<()> {
    let answer = Request::get("/v2/notify".to_owned()).ask(&args.server.connect()?)?;
    match args.output {
        OutputFormat::Json => client::print_as_is(io::stdout().lock(), &answer),
        OutputFormat::Table => {
            let out = anstream::stdout().lock();
            Ok(print(out, &client::read(&answer)?, now_ms())?)
        }
    }
}

fn test(args: &TestArgs) -> anyhow::Result<ExitCode> {
    let path = format!("/v2/notify/{}/test", args.name);
    let answer = Request::to(Method::POST, path).ask(&args.server.connect()?)?;
    let tested: NotifyTest = client::read(&answer)?;
    let mut out = anstream::stdout().lock();
    if tested.delivered {
        let status = tested.status.unwrap_or_default();
        writeln!(out, "{} accepted the test event ({status})", args.name)?;
        return Ok(ExitCode::SUCCESS);
    }
    let why = tested.error.unwrap_or_default();
    anyhow::bail!("{} did not accept the test event: {why}", args.name)
}

fn resend(args: &ResendArgs) -> anyhow::Result<()> {
    let path = format!("/v2/notify/{}/resend", args.name);
    let answer = Request::to(Method::POST, path).ask(&args.server.connect()?)?;
    let NotifyResend {
        dead_letters,
        queued,
    } = client::read(&answer)?;
    let mut out = anstream::stdout().lock();
    writeln!(
        out,
        "{}: {queued} of {dead_letters} dead letters are sent again",
        args.name
    )?;
    Ok(())
}

/// Prints one line per receiver. Lines below it show its last failure and its dead letters. Ages are relative to
/// `now_ms`.
fn print(mut to: impl Write, list: &NotifyReceiverList, now_ms: i64) -> io::Result<()> {
    let head = [
        "RECEIVER",
        "FORMAT",
        "SENDS",
        "WAITING",
        "DELIVERED",
        "FAILED",
        "MERGED",
        "DEAD LETTERS",
    ];
    let mut table = Table::new(&mut to, &head);
    for receiver in &list.receivers {
        let NotifyReceiver {
            delivered,
            failed,
            merged,
            ..
        } = receiver;
        table.row(&[
            &receiver.name,
            receiver.format.as_str(),
            if receiver.sends { "yes" } else { "no" },
            &receiver.waiting.to_string(),
            &delivered.to_string(),
            &failed.to_string(),
            &merged.to_string(),
            &receiver.dead_letters.len().to_string(),
        ])?;
        if let Some(error) = &receiver.error {
            table.note(&format!("  last request: {error}"))?;
        }
        for letter in &receiver.dead_letters {
            let phase = letter.phase.map_or("gone", |phase| phase.as_str());
            let age = age(letter.at, now_ms);
            table.note(&format!(
                "  given up: {} {phase}, {age} ago, after {} requests: {} (id {})",
                letter.subject, letter.attempts, letter.error, letter.id
            ))?;
        }
    }
    table.flush()?;
    if list.receivers.is_empty() {
        writeln!(to, "no receivers are configured")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kindsight_api::notify::{DeadLetter, NotifyFormat};

    #[test]
    fn a_receiver_is_listed_with_its_failure_and_its_dead_letters() {
        let letter = DeadLetter {
            id: "8f14".to_owned(),
            subject: "applications/-/shop/-/web".to_owned(),
            phase: Some(kindsight_model::Phase::Failed),
            at: jiff::Timestamp::from_second(60).ok(),
            attempts: 1,
            error: "the receiver answered 400".to_owned(),
        };
        let receiver = NotifyReceiver {
            name: "ops".to_owned(),
            format: NotifyFormat::Slack,
            transitions: Vec::new(),
            sends: true,
            waiting: 3,
            delivered: 7,
            failed: 2,
            merged: 0,
            error: Some("the receiver answered 503".to_owned()),
            dead_letters: vec![letter],
        };
        let list = NotifyReceiverList {
            receivers: vec![receiver],
        };
        let mut out = Vec::new();
        print(&mut out, &list, 120_000).unwrap();
        let text = String::from_utf8(out).unwrap();
        let expected = "\
RECEIVER  FORMAT  SENDS  WAITING  DELIVERED  FAILED  MERGED  DEAD LETTERS
ops       slack   yes    3        7          2       0       1
  last request: the receiver answered 503
  given up: applications/-/shop/-/web failed, 60s ago, after 1 requests: the receiver answered 400 (id 8f14)
";
        assert_eq!(text, expected);
    }
}
