//! Flags of a replica.

use std::path::PathBuf;

use clap::Args;
use kindsight_server::ReplicaSettings;

/// The host whose state the server shows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Replica")]
#[expect(
    clippy::struct_field_names,
    reason = "the names of the flags are the names of the fields"
)]
pub(crate) struct ReplicaArgs {
    /// URL of a server whose state this server shows, such as `https://kindsight.example.org:9015`. This server then has
    /// no clusters and evaluates no objects.
    #[arg(long, env = "KINDSIGHT_REPLICA_OF", value_name = "URL")]
    replica_of: Option<String>,
    /// File with a token of that server, for a user with the role `viewer` for everything.
    ///
    /// The file is read for each connection.
    #[arg(
        long,
        env = "KINDSIGHT_REPLICA_TOKEN_FILE",
        value_name = "FILE",
        requires = "replica_of"
    )]
    replica_token_file: Option<PathBuf>,
    /// PEM file with the authorities that may sign the certificate of that server, instead of the system's authorities.
    #[arg(
        long,
        env = "KINDSIGHT_REPLICA_CA",
        value_name = "FILE",
        requires = "replica_of"
    )]
    replica_ca: Option<PathBuf>,
}

impl ReplicaArgs {
    /// The settings of a replica; `None` without the flag.
    pub(crate) fn settings(&self) -> Option<ReplicaSettings> {
        Some(ReplicaSettings {
            url: self.replica_of.clone()?,
            token_file: self.replica_token_file.clone(),
            ca: self.replica_ca.clone(),
        })
    }
}
