//! `kindsight plugin verify`: checks the signatures of an artifact.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;
use kindsight_server::oci::{PublicKey, verify};

use super::artifact::ArtifactArg;

/// `kindsight plugin verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads the `.sig` tags of cosign 2 and the bundles of cosign 3. The transparency log is not asked.
Keyless signatures are not supported.

Examples:
  kindsight plugin verify oci://ghcr.io/team/rules:1.2.0 --key cosign.pub
  kindsight plugin verify carried --key cosign.pub")]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    artifact: ArtifactArg,
    /// PEM file with a public key (ECDSA P-256 or Ed25519); can be repeated, and one of the keys suffices.
    #[arg(long = "key", value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// No signature is valid for one of the keys, or the artifact cannot be read.
pub(super) fn run(args: &VerifyArgs) -> anyhow::Result<()> {
    let keys = args.keys.iter().map(|path| PublicKey::read(path));
    let keys: Vec<PublicKey> = keys.collect::<Result<_, _>>()?;
    let (repository, version) = args.artifact.open()?;
    let digest = repository.digest(&version)?;
    let signed = verify(&repository, &digest, &keys)?;
    let reference = &args.artifact.reference;
    let mut out = io::stdout().lock();
    writeln!(out, "{reference} is signed with the key {signed}")?;
    Ok(writeln!(out, "manifest {digest}")?)
}
