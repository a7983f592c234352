//! `kindsight plugin push`: a component, or an artifact of a layout folder, to a registry.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use kindsight_api::interpreters::InterpreterDetail;
use kindsight_server::oci::{Annotations, Reference, Repository, Version, copy, push};
use kindsight_server::{
    ComponentFile, LogFormat, cache_folder, inspect_component, interpreter, start_logging,
};

use super::artifact::{created, reference};
use crate::commands::interpreters::requests;
use crate::config::registry::ConnectionArgs;
use crate::progress::{LogLines, Progress};

/// Prefix of the annotations that the OCI image specification defines.
const PREFIX: &str = "org.opencontainers.image";

/// `kindsight plugin push`.
#[derive(Debug, Args)]
#[command(after_help = "\
The component is checked first, as a server would: it must describe itself and pass its fixtures.
Its name, version and summary become annotations. The last line of the output pins the artifact.

Examples:
  kindsight plugin push widgets.wasm oci://ghcr.io/team/rules:1.2.0
  kindsight plugin push widgets.wasm oci://localhost:5000/rules:1 --annotation org.opencontainers.image.source=https://…
  kindsight plugin push widgets.wasm oci-layout:carried:1
  kindsight plugin push carried oci://registry.site/rules:1")]
pub(super) struct PushArgs {
    /// Component or core module (`*.wasm`), or a folder in OCI layout (`PATH` or `oci-layout:PATH:TAG`), which is pushed with its
    /// signatures.
    #[arg(value_name = "FILE|LAYOUT")]
    from: String,
    /// Target: `oci://HOST/REPOSITORY:TAG` or `oci-layout:PATH:TAG`.
    #[arg(value_name = "REFERENCE", value_parser = target)]
    to: Reference,
    /// Annotation of the artifact; can be repeated.
    #[arg(long = "annotation", value_name = "KEY=VALUE", value_parser = annotation)]
    annotations: Vec<(String, String)>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Parser of a target, which has a tag and no digest.
fn target(text: &str) -> Result<Reference, String> {
    // A missing layout folder is made.
    let parsed = match text.parse::<Reference>() {
        Ok(parsed) => parsed,
        Err(_) => reference(text)?,
    };
    match (&parsed.tag, &parsed.digest) {
        (Some(_), None) => Ok(parsed),
        (None, _) => Err(format!("`{parsed}` names no tag: add `:TAG`")),
        (_, Some(_)) => Err("a target has a tag, and no digest".to_owned()),
    }
}

fn annotation(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or("expected `KEY=VALUE`")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Runs the command.
///
/// # Errors
/// The component is refused, or the registry cannot be written.
pub(super) fn run(args: &PushArgs) -> anyhow::Result<()> {
    let client = args.connection.client()?;
    let tag = args.to.tag.clone().context("the target has a tag")?;
    let tag = Version::Tag(tag);
    let digest = match Reference::of_argument(&args.from)? {
        Some(from) => {
            let source = client.open(&from)?;
            let version = source.version(&from)?;
            anyhow::ensure!(
                args.annotations.is_empty(),
                "--annotation is for a component; an artifact is copied unchanged"
            );
            let progress = Progress::waiting(&format!("copying {from}"));
            let target = client.create(&args.to)?;
            let bytes_max = interpreter::Limits::default().component_bytes_max;
            let digest = copy(&source, &version, &target, &tag, bytes_max)?;
            drop(progress);
            digest
        }
        None => push_component(args, &client.create(&args.to)?, &tag)?,
    };
    let mut out = io::stdout().lock();
    writeln!(out, "pushed {}", args.to)?;
    Ok(writeln!(out, "{}@{digest}", args.to)?)
}

fn push_component(
    args: &PushArgs,
    target: &Repository,
    tag: &Version,
) -> anyhow::Result<kindsight_model::Digest> {
    start_logging("error", LogFormat::Text, || LogLines)?;
    let path = PathBuf::from(&args.from);
    let bytes = requests::bytes_of(&path)?;
    let progress = Progress::waiting(&format!("checking {}", path.display()));
    let file = ComponentFile {
        path,
        bytes: bytes.clone(),
        settings: None,
    };
    let detail = inspect_component(cache_folder().as_deref(), &file)?;
    drop(progress);
    let mut annotations = annotations(detail);
    annotations.extend(args.annotations.iter().cloned());
    let progress = Progress::waiting(&format!("pushing to {}", args.to));
    // A core module is stored as the component that a server would make of it.
    let component = interpreter::componentized(&bytes)?;
    let pushed = push(target, tag, &component, &created()?, annotations)?;
    drop(progress);
    Ok(pushed.digest)
}

/// The annotations of an artifact with this component: its name, its version and its summary.
pub(super) fn annotations(detail: InterpreterDetail) -> Annotations {
    let of = |key: &str, value: String| (format!("{PREFIX}.{key}"), value);
    let mut annotations = Annotations::from([
        of("title", detail.name.to_string()),
        of("version", detail.version.unwrap_or_default()),
        of("description", detail.summary),
    ]);
    annotations.retain(|_, value| !value.is_empty());
    annotations
}
