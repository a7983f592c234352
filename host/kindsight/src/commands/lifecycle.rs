//! `kindsight apply`, `approve`, `instantiate`, `update`, `rollback`, `terminate`, `stop` and `delete`: the lifecycle of an
//! application.

mod dry_run;
mod file;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use kindsight_api::lifecycle::{
    Group, GroupState, ResourceProblem, RollbackTarget, SendingOptions,
};
use kindsight_model::{DigName, LifecycleState};
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
      any-of: [[lab+edge03, lab+edge04]]
      manifests: [front.yaml]
      depends-on:
        - {app: database, status: ready, wait-seconds: 5}
      resource-dependencies:
        - {resource: Deployment/front, on: Job/migration, status: ready}
    - name: database
      clusters: [lab+edge01]
      manifests: [database.yaml]

`clusters` are all clusters of the app, and the app also goes to one cluster of each list in `any-of`.
The conditions of dependencies are `applied` and `ready`.

Examples:
  kindsight apply -f app.yaml
  kindsight approve shop/web/v1/prod
  kindsight instantiate shop/web/v1/prod --wait")]
pub(crate) struct ApplyArgs {
    /// File with the application.
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,
    /// Shows what an instantiation or an update with this content would send, and changes nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// `kindsight approve`.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    action: ActionArgs,
    /// Approves only the content with this tag. `apply` shows the tag, and `content` of the group in the REST API.
    #[arg(long, value_name = "TAG")]
    if_content: Option<String>,
}

/// `kindsight stop` and `delete`, and a part of other commands.
#[derive(Debug, Args)]
pub(crate) struct ActionArgs {
    /// Application, short or in full (`project/composite-app/version/deployment-intent-group`).
    subject: String,
    #[command(flatten)]
    server: ServerArgs,
}

const EXIT_CODES: &str = "\
--wait ends when every resource was sent or removed, and shows the resources that were not, with the
reasons. `kindsight status NAME --wait` waits until the application is ready.

Exit codes: 0 success; 1 the server refused or could not be reached; 2 invalid command line; with
--wait 4 a resource failed or the action was stopped, 5 the time is up.";

/// `kindsight instantiate` and `update`.
#[derive(Debug, Args)]
pub(crate) struct SendingArgs {
    #[command(flatten)]
    waiting: WaitingArgs,
    /// Shows what would be sent and removed, and changes nothing.
    #[arg(long, conflicts_with_all = ["wait", "force"])]
    dry_run: bool,
    /// Overwrites the fields of other managers, such as kubectl.
    #[arg(long)]
    force: bool,
}

/// `kindsight rollback`.
#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    waiting: WaitingArgs,
    /// Revision to return to. `revisions` of the group in the REST API lists them.
    #[arg(long, value_name = "NUMBER")]
    revision: i64,
    /// Overwrites the fields of other managers, such as kubectl.
    #[arg(long)]
    force: bool,
}

/// `kindsight terminate`, and a part of other commands.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
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
    if args.dry_run {
        return dry_run::show(&server, &name, serde_json::to_vec(&intent)?);
    }
    let request = Request::to(Method::PUT, path(&name));
    let answer = request.with_body(JSON, serde_json::to_vec(&intent)?);
    let answer = answer.ask(&server)?;
    let state: GroupState = client::read(&answer)?;
    print(&name, &state)?;
    if let Some(tag) = state
        .content
        .filter(|_| state.unapproved || state.state == LifecycleState::Created)
    {
        hint(&format!(
            "`kindsight approve {name} --if-content {tag}` approves exactly this content"
        ));
    }
    Ok(())
}

/// Approves the content of an application.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn approve(args: &ApproveArgs) -> anyhow::Result<ExitCode> {
    let server = args.action.server.connect()?;
    let Some(name) = resolved(&server, &args.action.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    let mut request = Request::to(Method::POST, format!("{}/approve", path(&name)));
    if let Some(tag) = &args.if_content {
        request = request.if_match(tag);
    }
    print(&name, &client::read(&request.ask(&server)?)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Sends an action without waiting, such as `stop`.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn act(args: &ActionArgs, word: &str) -> anyhow::Result<ExitCode> {
    let server = args.server.connect()?;
    let Some(name) = resolved(&server, &args.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    print(&name, &sent(&server, &name, word, Vec::new())?)?;
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
    act_with_body(args, word, Vec::new())
}

/// Sends the resources of an application, or shows the effect.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn send(args: &SendingArgs, word: &str) -> anyhow::Result<ExitCode> {
    if !args.dry_run {
        let force = args.force;
        let body = serde_json::to_vec(&SendingOptions { force })?;
        return act_with_body(&args.waiting, word, body);
    }
    let server = args.waiting.action.server.connect()?;
    let Some(name) = resolved(&server, &args.waiting.action.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    dry_run::show(&server, &name, Vec::new())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns to an earlier revision.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn roll_back(args: &RollbackArgs) -> anyhow::Result<ExitCode> {
    let (revision, force) = (args.revision, args.force);
    let body = serde_json::to_vec(&RollbackTarget { revision, force })?;
    act_with_body(&args.waiting, "rollback", body)
}

fn act_with_body(args: &WaitingArgs, word: &str, body: Vec<u8>) -> anyhow::Result<ExitCode> {
    let server = args.action.server.connect()?;
    let Some(name) = resolved(&server, &args.action.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    let mut state = sent(&server, &name, word, body)?;
    let mut problems = Vec::new();
    let (action, begin) = (state.state, Instant::now());
    while args.wait && state.running && state.state == action {
        if begin.elapsed() >= args.timeout {
            print(&name, &state)?;
            print_problems(&problems)?;
            return Ok(ExitCode::from(TIME_IS_UP));
        }
        thread::sleep(POLL);
        let answer = Request::get(path(&name)).ask(&server)?;
        let group = client::read::<Group>(&answer)?;
        (state, problems) = (group.lifecycle, group.problems);
    }
    print(&name, &state)?;
    print_problems(&problems)?;
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

fn sent(server: &Server, name: &DigName, word: &str, body: Vec<u8>) -> anyhow::Result<GroupState> {
    let mut request = Request::to(Method::POST, format!("{}/{word}", path(name)));
    if !body.is_empty() {
        request = request.with_body(JSON, body);
    }
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

fn print_problems(problems: &[ResourceProblem]) -> anyhow::Result<()> {
    for problem in problems {
        let ResourceProblem {
            app,
            cluster,
            resource,
            status,
            detail,
        } = problem;
        let line = format!("  {app} {cluster} {resource}: {status}: {detail}");
        writeln!(io::stdout().lock(), "{line}")?;
    }
    Ok(())
}
