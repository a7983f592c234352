//! `kindsight backup` and `kindsight restore`: the state of a server in one file.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use kindsight_server::store::StoreAddress;
use kindsight_server::{BackupContent, StoppedServer, StoreSettings};

use crate::config::store::StoreArgs;

/// `kindsight backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
The file contains the contexts, the records of groups and clusters, the uploaded interpreters with
their settings and history, and the last-known state of applications. It does not contain compiled
code, the configuration, or the files of tokens, roles and certificates.

The file contains every manifest that was sent to a cluster, including its Secrets. Only its owner can
read it: keep it like a password.

Stop the server before the command: a server keeps its files locked. The state in an etcd can be
backed up while servers run; leave --data-dir out then. With --observe, the contexts belong to the
other orchestrator and are not in the file.

Examples:
  kindsight backup --data-dir /var/lib/kindsight kindsight-2026-11-24.backup
  kindsight backup --store etcd://etcd-0:2379 kindsight-2026-11-24.backup
  kindsight store check file:kindsight-2026-11-24.backup")]
pub(crate) struct BackupArgs {
    /// File to write; it must not exist.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    state: StateArgs,
}

/// `kindsight restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
The data folder must not exist or must be empty, and an etcd must have no keys below /kindsight/ and
/context/. The command checks the complete file before it writes. It refuses a damaged file, and a
file of a newer release.

Examples:
  kindsight restore kindsight-2026-11-24.backup --data-dir /var/lib/kindsight
  kindsight restore kindsight-2026-11-24.backup --store etcd://etcd-0:2379")]
pub(crate) struct RestoreArgs {
    /// File that `kindsight backup` wrote.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    state: StateArgs,
}

/// The place of a server's state. `serve` has the same flags, with the same meaning.
#[derive(Debug, Args)]
struct StateArgs {
    /// Data folder of the server; without it `kindsight-data`, unless --store is an etcd.
    #[arg(long, env = "KINDSIGHT_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

impl StateArgs {
    /// The data folder, if the state is not only in an etcd.
    fn data_dir<'a>(&'a self, store: &StoreSettings) -> Option<&'a Path> {
        let is_only_etcd = matches!(store.address, Some(StoreAddress::Etcd(_))) && !store.observes;
        let default = (!is_only_etcd).then(|| Path::new(crate::config::DATA_DIR));
        self.data_dir.as_deref().or(default)
    }
}

/// Runs `kindsight backup`.
///
/// # Errors
/// The backup cannot be made, or the output fails.
pub(crate) fn back_up(args: &BackupArgs) -> anyhow::Result<()> {
    let store = args.state.store.settings()?;
    let server = StoppedServer {
        data_dir: args.state.data_dir(&store),
        store: &store,
    };
    let content = kindsight_server::back_up(&server, &args.file, kindsight_server::now_ms())?;
    print("backed up", &content)
}

/// Runs `kindsight restore`.
///
/// # Errors
/// The backup cannot be restored, or the output fails.
pub(crate) fn restore(args: &RestoreArgs) -> anyhow::Result<()> {
    let store = args.state.store.settings()?;
    let server = StoppedServer {
        data_dir: args.state.data_dir(&store),
        store: &store,
    };
    let content = kindsight_server::restore(&args.file, &server)?;
    print("restored", &content)
}

fn print(action: &str, content: &BackupContent) -> anyhow::Result<()> {
    let BackupContent {
        store_keys,
        last_known_keys,
    } = content;
    writeln!(
        io::stdout().lock(),
        "{action} {store_keys} keys of the store and {last_known_keys} keys of the last-known state"
    )?;
    Ok(())
}
