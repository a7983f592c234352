//! `kindsight plugin pull`: a component from a registry, into a file or a layout folder.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kindsight_server::interpreter;
use kindsight_server::oci::{PublicKey, Pulled, Reference, Version, copy, pull};

use super::artifact::ArtifactArg;
use crate::progress::Progress;

/// `kindsight plugin pull`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kindsight plugin pull oci://ghcr.io/team/rules:1.2.0 -o widgets.wasm
  kindsight plugin pull oci://ghcr.io/team/rules:1.2.0 --layout carried --require-signature cosign.pub
  kindsight plugin pull oci-layout:carried -o widgets.wasm")]
pub(super) struct PullArgs {
    #[command(flatten)]
    artifact: ArtifactArg,
    /// File for the component.
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "layout",
        conflicts_with = "layout"
    )]
    output: Option<PathBuf>,
    /// Folder in OCI layout for the artifact with its signatures, for a site without a registry. It is created if it
    /// does not exist.
    #[arg(long, value_name = "DIR")]
    layout: Option<PathBuf>,
    /// PEM file with a public key that must have signed the artifact; can be repeated, and one of the keys suffices.
    #[arg(long = "require-signature", value_name = "KEYFILE")]
    keys: Vec<PathBuf>,
    /// Largest component, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = interpreter::Limits::default().component_bytes_max)]
    component_bytes_max: usize,
}

/// Runs the command.
///
/// # Errors
/// The artifact cannot be pulled or is not signed, or a file cannot be written.
pub(super) fn run(args: &PullArgs) -> anyhow::Result<()> {
    let keys = args.keys.iter().map(|path| PublicKey::read(path));
    let keys: Vec<PublicKey> = keys.collect::<Result<_, _>>()?;
    let (repository, version) = args.artifact.open()?;
    let reference = &args.artifact.reference;
    let progress = Progress::waiting(&format!("pulling {reference}"));
    let pulled = pull(&repository, &version, &keys, args.component_bytes_max)?;
    if let Some(layout) = &args.layout {
        let tag = tag(reference, &version)?;
        let target = Reference::of_layout(layout);
        let target = args.artifact.connection.client()?.create(&target)?;
        let pinned = Version::Digest(pulled.digest.clone());
        copy(
            &repository,
            &pinned,
            &target,
            &tag,
            args.component_bytes_max,
        )?;
    }
    drop(progress);
    if let Some(file) = &args.output {
        write(file, &pulled.component)?;
    }
    print(reference, &pulled)
}

/// The tag in the layout folder: the tag of the reference.
fn tag(reference: &Reference, version: &Version) -> anyhow::Result<Version> {
    let tag = reference.tag.clone().map(Version::Tag);
    let known = matches!(version, Version::Tag(_)).then(|| version.clone());
    let tag = tag.or(known);
    tag.context(
        "the folder needs a tag for the artifact: name the tag before the digest, `…:TAG@sha256:…`",
    )
}

/// Replaces a file.
fn write(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let failed = || format!("write {}", file.display());
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut written = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    written.write_all(bytes).with_context(failed)?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    written
        .as_file()
        .set_permissions(readable)
        .with_context(failed)?;
    written.persist(file).with_context(failed)?;
    Ok(())
}

fn print(reference: &Reference, pulled: &Pulled) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "pulled {reference}")?;
    writeln!(out, "manifest {}", pulled.digest)?;
    if let Some(signed) = &pulled.signed {
        writeln!(out, "signed with the key {signed}")?;
    }
    Ok(())
}
