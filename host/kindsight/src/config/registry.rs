//! Flags for interpreters in OCI registries and layout folders.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kindsight_model::Source;
use kindsight_server::catalog::ArtifactSource;
use kindsight_server::oci::{Client, ClientOptions, DockerConfig, Place, PublicKey, Reference};

use crate::config::duration;

/// The shortest interval at which tags can be looked up.
const FOLLOW_MIN: Duration = Duration::from_secs(1);

/// A value of `--interpreters`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InterpreterSource {
    /// A directory of files (`*.wasm`) to watch.
    Directory(PathBuf),
    /// An artifact of a registry or of a layout folder.
    Artifact(Reference),
}

/// Parser of `--interpreters`.
pub(crate) fn interpreter_source(text: &str) -> Result<InterpreterSource, String> {
    let reference = Reference::of_argument(text).map_err(|error| error.to_string())?;
    let Some(reference) = reference else {
        return Ok(InterpreterSource::Directory(PathBuf::from(text)));
    };
    let is_registry = matches!(reference.place, Place::Registry { .. });
    if is_registry && reference.version().is_none() {
        return Err(format!(
            "`{reference}` names no version: add `:TAG` or `@sha256:…`"
        ));
    }
    Ok(InterpreterSource::Artifact(reference))
}

/// Connections to registries, for `serve` and for `plugin`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Registries of interpreters")]
pub(crate) struct ConnectionArgs {
    /// PEM file with the authorities of the certificates of registries, instead of those of the system.
    #[arg(long, env = "KINDSIGHT_REGISTRY_CA", value_name = "FILE")]
    registry_ca: Option<PathBuf>,
    /// Registry that speaks HTTP without TLS; can be repeated. Registries on loopback addresses need no such
    /// permission.
    ///
    /// Everyone on the way can read the credentials and change the artifacts; with --require-signature a changed
    /// artifact is refused.
    #[arg(
        long,
        env = "KINDSIGHT_REGISTRY_PLAIN_HTTP",
        value_name = "HOST[:PORT]",
        value_delimiter = ','
    )]
    registry_plain_http: Vec<String>,
}

impl ConnectionArgs {
    /// The client, with the credentials that docker stores.
    ///
    /// # Errors
    /// The file with authorities cannot be read.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Ok(Client::new(ClientOptions {
            docker: DockerConfig::of_environment(),
            ca: self.registry_ca.clone(),
            plain_http: self.registry_plain_http.clone(),
            ..ClientOptions::default()
        })?)
    }
}

/// Interpreters in registries.
#[derive(Debug, Args)]
#[command(next_help_heading = "Registries of interpreters")]
pub(crate) struct ArtifactArgs {
    /// Interval at which the tags of --interpreters are looked up for new versions, such as `5m`. By default, an
    /// artifact is pulled once at each start.
    #[arg(long, env = "KINDSIGHT_INTERPRETERS_FOLLOW", value_name = "TIME", value_parser = follow_every)]
    interpreters_follow: Option<Duration>,
    /// PEM file with a public key (ECDSA P-256 or Ed25519) that must have signed each artifact of --interpreters and
    /// of --catalogue; can be repeated, and one of the keys suffices.
    ///
    /// A signature is a `.sig` tag of cosign 2 or a bundle of cosign 3. Keyless signatures are not supported. Files
    /// of a directory and uploads are not signed.
    #[arg(
        long = "require-signature",
        env = "KINDSIGHT_REQUIRE_SIGNATURE",
        value_name = "KEYFILE",
        value_delimiter = ','
    )]
    keys: Vec<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

fn follow_every(text: &str) -> Result<Duration, String> {
    let every = duration(text)?;
    if every < FOLLOW_MIN {
        return Err("the shortest interval is `1s`".to_owned());
    }
    Ok(every)
}

impl ArtifactArgs {
    /// The watched directory and the artifacts of `--interpreters`.
    ///
    /// # Errors
    /// There are two directories, or a file with a key or authorities cannot be used.
    pub(crate) fn sources(
        &self,
        sources: &[InterpreterSource],
        component_bytes_max: usize,
        replaces_built_in: bool,
        cache: PathBuf,
    ) -> anyhow::Result<(Option<PathBuf>, ArtifactSource)> {
        let mut directory = None;
        let mut references = Vec::new();
        for source in sources {
            match source {
                InterpreterSource::Artifact(reference) => {
                    anyhow::ensure!(
                        !references.contains(reference),
                        "--interpreters names {reference} twice"
                    );
                    references.push(reference.clone());
                }
                InterpreterSource::Directory(path) => {
                    if let Some(first) = directory.replace(path.clone()) {
                        let (first, second) = (first.display(), path.display());
                        anyhow::bail!(
                            "--interpreters names two directories, {first} and {second}: only one can be watched; `oci://…` and `oci-layout:…` can be repeated"
                        );
                    }
                }
            }
        }
        let keys = self.keys.iter().map(|path| PublicKey::read(path));
        let artifacts = ArtifactSource {
            rank: Source::Registry,
            client: self.connection.client()?,
            references,
            keys: keys.collect::<Result<_, _>>()?,
            follow_every: self.interpreters_follow,
            cache: Some(cache),
            component_bytes_max,
            replaces_built_in,
        };
        Ok((directory, artifacts))
    }

    /// The catalogue of rules, with the accepted keys and the limits of `artifacts`. Its folder is read at each start.
    pub(crate) fn catalogue(
        references: Vec<Reference>,
        artifacts: &ArtifactSource,
    ) -> ArtifactSource {
        ArtifactSource {
            rank: Source::Catalogue,
            references,
            follow_every: None,
            replaces_built_in: false,
            ..artifacts.clone()
        }
    }
}
