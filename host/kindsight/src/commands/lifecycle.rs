//! `kindsight apply`, `approve`, `instantiate`, `update`, `rollback`, `terminate`, `stop` and `delete`: the lifecycle of an
//! application, and of the network intents of a cluster.

mod dry_run;
mod file;
mod network_intents;
mod target;
mod wait;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_api::lifecycle::{GroupState, RollbackTarget, SendingOptions};
use kindsight_model::{ClusterName, LifecycleState};
use ureq::http::Method;

use crate::INVALID;
use crate::cli::hint;
use crate::client::{self, Request, Server};
use crate::server_args::ServerArgs;
use target::{Target, TargetArgs, resolved};
use wait::{WaitArgs, act_and_wait};

const JSON: &str = "application/json";

/// `kindsight apply`.
#[derive(Debug, Args)]
// Without --cluster, the command only stores the application: there is no action to wait for.
#[command(mut_arg("wait", |wait| wait.requires("cluster")))]
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

With --cluster, the file has the manifests of the networks of a cluster, which are stored and sent at
once. Without a file, the stored ones are sent. --wait waits until they were sent.

Examples:
  kindsight apply -f app.yaml
  kindsight approve shop/web/v1/prod
  kindsight instantiate shop/web/v1/prod --wait
  kindsight apply -f networks.yaml --cluster lab+edge01 --wait")]
pub(crate) struct ApplyArgs {
    /// File with the application, or with the network intents of a cluster.
    #[arg(short, long, value_name = "FILE", required_unless_present = "cluster")]
    file: Option<PathBuf>,
    /// Cluster whose network intents are stored and sent.
    #[arg(long, value_name = "PROVIDER+NAME")]
    cluster: Option<ClusterName>,
    /// Shows what would be sent with this content, and changes nothing.
    #[arg(long, conflicts_with_all = ["wait", "force"])]
    dry_run: bool,
    /// Overwrites the fields of other managers, such as kubectl. Only with --cluster.
    #[arg(long, requires = "cluster")]
    force: bool,
    #[command(flatten)]
    wait: WaitArgs,
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

/// `kindsight stop`, and a part of other commands.
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
--wait 4 a resource failed or the action was stopped, 5 the time is up, also if the server could not
be reached until then; with --dry-run 4 a cluster would refuse a resource, 1 not every resource was
checked.";

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

/// `kindsight terminate`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct TerminateArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// `kindsight delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// A part of the commands that send resources.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct WaitingArgs {
    #[command(flatten)]
    action: ActionArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

/// Sends the content of an application, or the network intents of a cluster.
///
/// # Errors
/// When a file cannot be read, or the server cannot be reached or refuses.
pub(crate) fn apply(args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let (None, Some(file)) = (&args.cluster, &args.file) else {
        return network_intents::apply(args);
    };
    let (name, intent) = file::read(file)?;
    let target = Target::application(&name);
    let body = serde_json::to_vec(&intent)?;
    let server = args.server.connect()?;
    if args.dry_run {
        return dry_run::show(&server, &target, body);
    }
    let state = stored(&server, &target, body)?;
    print(&target, &state)?;
    let waits = state.unapproved || state.state == LifecycleState::Created;
    if let Some(tag) = state.content.filter(|_| waits) {
        hint(&format!(
            "`kindsight approve {name} --if-content {tag}` approves exactly this content"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Approves the content of an application.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn approve(args: &ApproveArgs) -> anyhow::Result<ExitCode> {
    let server = args.action.server.connect()?;
    let Some(target) = resolved(&server, &args.action.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    let mut request = Request::to(Method::POST, format!("{}/approve", target.path));
    if let Some(tag) = &args.if_content {
        request = request.if_match(tag);
    }
    print(&target, &client::read(&request.ask(&server)?)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Sends an action without waiting, such as `stop`.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn act(args: &ActionArgs, word: &str) -> anyhow::Result<ExitCode> {
    let server = args.server.connect()?;
    let Some(target) = resolved(&server, &args.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    print(&target, &sent(&server, &target, word, Vec::new())?)?;
    Ok(ExitCode::SUCCESS)
}

/// Deletes an application, or the network intents of a cluster.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn delete(args: &DeleteArgs) -> anyhow::Result<ExitCode> {
    let server = args.server.connect()?;
    let Some(target) = args.target.find(&server)? else {
        return Ok(ExitCode::from(INVALID));
    };
    Request::to(Method::DELETE, target.path.clone()).ask(&server)?;
    writeln!(io::stdout().lock(), "{}: deleted", target.name)?;
    Ok(ExitCode::SUCCESS)
}

/// Removes the resources of an application, or the network intents of a cluster, and waits for the end on request.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn terminate(args: &TerminateArgs) -> anyhow::Result<ExitCode> {
    let server = args.server.connect()?;
    let Some(target) = args.target.find(&server)? else {
        return Ok(ExitCode::from(INVALID));
    };
    act_and_wait(&server, &target, ("terminate", Vec::new()), &args.wait)
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
    let Some(target) = resolved(&server, &args.waiting.action.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    dry_run::show(&server, &target, Vec::new())
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
    let Some(target) = resolved(&server, &args.action.subject)? else {
        return Ok(ExitCode::from(INVALID));
    };
    act_and_wait(&server, &target, (word, body), &args.wait)
}

/// Stores a content.
fn stored(server: &Server, target: &Target, body: Vec<u8>) -> anyhow::Result<GroupState> {
    let request = Request::to(Method::PUT, target.path.clone());
    client::read(&request.with_body(JSON, body).ask(server)?)
}

fn sent(server: &Server, target: &Target, word: &str, body: Vec<u8>) -> anyhow::Result<GroupState> {
    let mut request = Request::to(Method::POST, format!("{}/{word}", target.path));
    if !body.is_empty() {
        request = request.with_body(JSON, body);
    }
    client::read(&request.ask(server)?)
}

fn print(target: &Target, state: &GroupState) -> anyhow::Result<()> {
    let mut line = format!("{}: {}", target.name, state.state);
    if let Some(status) = &state.instance_status {
        line.extend([", instance ", status]);
    }
    Ok(writeln!(io::stdout().lock(), "{line}")?)
}
