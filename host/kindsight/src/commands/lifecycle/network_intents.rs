//! `kindsight apply --cluster`: the network intents of a cluster.

use std::process::ExitCode;

use anyhow::Context as _;
use kindsight_api::lifecycle::SendingOptions;

use super::{ApplyArgs, Target, act_and_wait, dry_run, file, stored};

/// Stores the network intents in the file, if there is one, and sends the stored network intents.
///
/// # Errors
/// When the file cannot be read, or the server cannot be reached or refuses.
pub(super) fn apply(args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let cluster = args.cluster.as_ref().context("--cluster is missing")?;
    let target = Target::network_intents(cluster);
    let content = args
        .file
        .as_deref()
        .map(file::network_intents)
        .transpose()?;
    let content = content
        .map(|content| serde_json::to_vec(&content))
        .transpose()?;
    let server = args.server.connect()?;
    if args.dry_run {
        return dry_run::show(&server, &target, content.unwrap_or_default());
    }
    if let Some(content) = content {
        stored(&server, &target, content)?;
    }
    let options = SendingOptions { force: args.force };
    let action = ("apply", serde_json::to_vec(&options)?);
    act_and_wait(&server, &target, action, &args.wait)
}
