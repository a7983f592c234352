//! `kindsight apply`, `approve`, `instantiate`, `terminate`, `stop` and `delete`: the lifecycle of an application.

mod file;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use kindsight_api::lifecycle::{Group, GroupState};
use kindsight_model::DigName;
use ureq::http::Method;

use crate::cli::hint;
use crate::client::{self, Request, Server};
use crate::commands::status::subject::{self, Resolved};
use crate::config::duration;
use crate::server_args::ServerArgs;
use crate::{FAILED, INVALID, TIME_IS_UP};

/// Time between two queries of `--wait`.
const POLL: Duration = Duration::from_millis(200);
const JSON: &str = "application/json";

/// `kindsight apply`.
#[derive(Debug, Args)]
#[command(after_help = "\
The file is YAML. Each manifest is the path of a YAML file, relative to the file, or an object:

  project: shop
  composite-app: web
  version: v1
  deployment-intent-group: prod
  apps:
    - name: front
      clusters: [lab+edge01, lab+edge02]
      manifests: [front.yaml]

Examples:
  kindsight apply -f app.yaml
  kindsight approve shop/web/v1/prod
  kindsight instantiate shop/web/v1/prod --wait")]
pub(crate) struct ApplyArgs {
    /// File with the application.
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
}

/// `kindsight approve`, `stop` and `delete`.
#[derive(Debug, Args)]
pub(crate) struct ActionArgs {
    /// Application, short or in full (`project/composite-app/version/deployment-intent-group`).
    subject: String,
    #[command(flatten)]
    server: ServerArgs,
}

/// `kindsight instantiate` and `terminate`.
#[derive(Debug, Args)]
#[command(after_help = "\
--wait ends when every resource was sent or removed. `kindsight status NAME --wait` waits until the
application is ready.

Exit codes: 0 success; 1 the server refused or could not be reached; 2 invalid command line; with
--wait 4 a resource failed or the action was stopped, 5 the time is up.")]
pub(crate) struct WaitingArgs {
    #[command(flatten)]
    action: ActionArgs,
    /// Waits until every resource was sent or removed.
    #[arg(long)]
    wait: bool,
    /// Time to wait, such as `30s` or `5m`.
    #[arg(long, default_value = "5m", requires = "wait", value_parser = duration)]
    timeout: Duration,
}

/// Sends the content of an application.
///
/// # Errors
/// When a file cannot be read, or the server cannot be reached or refuses.
pub(crate) fn apply(args: &ApplyArgs) -> anyhow::Result<()> {
    let (name, intent) = file::read(&args.file)?;
    let server = args.server.connect()?;
    let request = Request::to(Method::PUT, path(&name));
    let answer = request.with_body(JSON, serde_json::to_vec(&intent)?);
    let answer = answer.ask(&server)?;
    print(&name, &client::read(&answer)?)
}

/// Sends an action without waiting, such as `approve`.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn act(args: &ActionArgs, word: &str) -> anyhow::Result<ExitCode> {
    let server = args.server.connect()?;
    let Some(name) = resolved(&server, &args.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    print(&name, &sent(&server, &name, word)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Deletes an application.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn delete(args: &ActionArgs) -> anyhow::Result<ExitCode> {
    let server = args.server.connect()?;
    let Some(name) = resolved(&server, &args.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    Request::to(Method::DELETE, path(&name)).ask(&server)?;
    writeln!(io::stdout().lock(), "{name}: deleted")?;
    Ok(ExitCode::SUCCESS)
}

/// Sends an action, and waits for its end on request.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn act_and_wait(args: &WaitingArgs, word: &str) -> anyhow::Result<ExitCode> {
    let server = args.action.server.connect()?;
    let Some(name) = resolved(&server, &args.action.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    let mut state = sent(&server, &name, word)?;
    let (action, begin) = (state.state, Instant::now());
    while args.wait && state.running && state.state == action {
        if begin.elapsed() >= args.timeout {
            print(&name, &state)?;
            return Ok(ExitCode::from(TIME_IS_UP));
        }
        thread::sleep(POLL);
        let answer = Request::get(path(&name)).ask(&server)?;
        state = client::read::<Group>(&answer)?.lifecycle;
    }
    print(&name, &state)?;
    let is_failed = state
        .instance_status
        .as_deref()
        .is_some_and(|status| status.ends_with("Failed"));
    let is_failed = args.wait && (is_failed || state.state != action);
    Ok(if is_failed {
        ExitCode::from(FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

fn sent(server: &Server, name: &DigName, word: &str) -> anyhow::Result<GroupState> {
    let request = Request::to(Method::POST, format!("{}/{word}", path(name)));
    client::read(&request.ask(server)?)
}

/// The full name of an application; `None` after a hint if several applications have the name.
fn resolved(server: &Server, subject: &str) -> anyhow::Result<Option<DigName>> {
    match subject::resolved(server, subject)? {
        Resolved::One(name) => Ok(Some(name.parse()?)),
        Resolved::Ambiguous(names) => {
            hint(&subject::ambiguous(subject, &names));
            Ok(None)
        }
    }
}

fn path(name: &DigName) -> String {
    let DigName {
        project,
        composite_app,
        version,
        dig,
    } = name;
    format!(
        "/v2/projects/{project}/composite-apps/{composite_app}/{version}/deployment-intent-groups/{dig}"
    )
}

fn print(name: &DigName, state: &GroupState) -> anyhow::Result<()> {
    let mut line = format!("{name}: {}", state.state);
    if let Some(status) = &state.instance_status {
        line.extend([", instance ", status]);
    }
    Ok(writeln!(io::stdout().lock(), "{line}")?)
}
