//! `kindsight plugin sign`: a signature of an artifact with a key.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;
use kindsight_server::oci::{SigningKey, sign};

use super::artifact::{ArtifactArg, created};

/// `kindsight plugin sign`.
#[derive(Debug, Args)]
#[command(after_help = "\
Signs in both forms of cosign: under the tag `sha256-<digest>.sig`, and as a bundle that refers to
the artifact. `cosign verify --key KEY.pub --insecure-ignore-tlog` accepts the signatures. Nothing
is written to a transparency log, and keyless signing is not supported.

Make a key:
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out sign.key
  openssl pkey -in sign.key -pubout -out sign.pub

Example:
  kindsight plugin sign oci://ghcr.io/team/rules:1.2.0 --key sign.key")]
pub(super) struct SignArgs {
    #[command(flatten)]
    artifact: ArtifactArg,
    /// PEM file with a private key (ECDSA P-256 or Ed25519) in PKCS#8, not encrypted.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// The key cannot be used, the artifact does not exist, or the registry cannot be written.
pub(super) fn run(args: &SignArgs) -> anyhow::Result<()> {
    let key = SigningKey::read(&args.key)?;
    let (repository, version) = args.artifact.open()?;
    let digest = sign(&repository, &version, &key, &created()?)?;
    let reference = &args.artifact.reference;
    Ok(writeln!(
        io::stdout().lock(),
        "signed {reference}, manifest {digest}"
    )?)
}
