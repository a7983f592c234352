//! The option that names the server.

use clap::Args;

/// The server that a command asks.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// URL of the server.
    #[arg(
        long = "server",
        value_name = "SERVER",
        global = true,
        default_value = "http://127.0.0.1:9015",
        env = "KINDSIGHT_SERVER"
    )]
    pub(crate) url: String,
}
