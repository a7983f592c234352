//! Reloads the configured clusters and the rights of projects when their files change, while the server runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use kindsight_server::clusters::{ClusterSource, Projects};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::cli::Command;
use crate::config::ServeArgs;
use crate::config::kubeconfig::KubeconfigArg;
use crate::config::watch::WATCH_SETTINGS;
use crate::config_file;

/// Interval at which the files are polled. Not every mount sends change events, and there are only a few files.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Settings that take effect while the server runs.
const LIVE: [&str; 4] = ["application", "cluster", "kubeconfig", "project"];

/// The files that define the clusters, with their stamps at one poll. A missing file has no stamp.
type Files = BTreeMap<PathBuf, Option<Stamp>>;

/// Metadata of a file that changes whenever its content changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: (i64, i64),
    size: u64,
    inode: u64,
}

impl From<Metadata> for Stamp {
    fn from(of: Metadata) -> Self {
        Self {
            modified: (of.mtime(), of.mtime_nsec()),
            size: of.size(),
            inode: of.ino(),
        }
    }
}

/// The configuration as it was read.
struct Configuration {
    clusters: Vec<ClusterSource>,
    projects: Projects,
    /// The settings of the configuration file that take effect only at the start.
    others: toml::Table,
}

/// Follows the files of the configuration, and sends the clusters and the rights of projects each time that they differ.
///
/// A file is read once its stamp has not changed for one interval, so that unfinished files are not read. An
/// invalid configuration is logged and changes nothing. The future ends with the executor.
pub(crate) async fn follow(
    clusters: watch::Sender<Vec<ClusterSource>>,
    projects: watch::Sender<Projects>,
) {
    let mut known: Option<Configuration> = None;
    // The files at the last poll, and whether they were read since.
    let mut files = Files::new();
    let mut is_read = false;
    loop {
        sleep(LOOK_EVERY).await;
        let paths: Vec<PathBuf> = files.keys().cloned().collect();
        let Ok(looked_at) = spawn_blocking(|| looked_at(paths)).await else {
            return;
        };
        if files != looked_at {
            // A writer may not have finished.
            (files, is_read) = (looked_at, false);
            continue;
        }
        if is_read {
            continue;
        }
        let Ok(read) = spawn_blocking(read).await else {
            return;
        };
        is_read = true;
        let configuration = read.and_then(|(configuration, stamped)| {
            files = stamped;
            configuration
        });
        match configuration {
            Ok(configuration) => {
                configuration.tell_others(known.as_ref());
                send(&clusters, &configuration.clusters);
                send(&projects, &configuration.projects);
                known = Some(configuration);
            }
            Err(error) => tracing::error!(
                error = format!("{error:#}"),
                "the changed configuration is invalid; the previous clusters remain configured"
            ),
        }
    }
}

/// Sends a value if it differs from the last value.
fn send<T: Clone + PartialEq>(to: &watch::Sender<T>, value: &T) {
    to.send_if_modified(|current| {
        let is_changed = current != value;
        current.clone_from(value);
        is_changed
    });
}

impl Configuration {
    fn of(args: &ServeArgs) -> anyhow::Result<Self> {
        let mut others = match &args.config {
            Some(config) => config_file::table(config).context("configuration file")?,
            None => toml::Table::new(),
        };
        others.retain(|name, _| !LIVE.contains(&name) && !WATCH_SETTINGS.contains(&name));
        Ok(Self {
            clusters: args.sources()?,
            projects: args.projects(),
            others,
        })
    }

    /// Logs changed settings that need a restart.
    fn tell_others(&self, before: Option<&Self>) {
        let Some(before) = before else {
            return;
        };
        let names = before.others.keys().chain(self.others.keys());
        let changed: BTreeSet<&str> = names
            .filter(|name| before.others.get(*name) != self.others.get(*name))
            .map(|name| &**name)
            .collect();
        if !changed.is_empty() {
            let settings = changed.into_iter().collect::<Vec<_>>().join(", ");
            tracing::warn!(
                settings,
                "changed settings take effect only after a restart"
            );
        }
    }
}

/// Reads the command line, the environment and the configuration file again.
///
/// The stamps of the files are taken before the files are read, so the next poll sees every later change.
fn read() -> anyhow::Result<(anyhow::Result<Configuration>, Files)> {
    let cli = config_file::read(std::env::args_os().collect())?;
    let Command::Serve(args) = cli.command else {
        anyhow::bail!("the command is not `serve`");
    };
    let files = looked_at(files(&args));
    Ok((Configuration::of(&args), files))
}

/// The files that define the clusters.
fn files(args: &ServeArgs) -> Vec<PathBuf> {
    let kubeconfigs = args.kubeconfigs.iter().map(KubeconfigArg::path);
    let tables = args
        .cluster_tables
        .iter()
        .filter_map(|table| table.kubeconfig());
    let kubeconfigs = kubeconfigs.chain(tables).map(ToOwned::to_owned);
    args.config.iter().cloned().chain(kubeconfigs).collect()
}

fn looked_at(paths: Vec<PathBuf>) -> Files {
    let stamped = paths.into_iter().map(|path| {
        let stamp = std::fs::metadata(&path).ok().map(Stamp::from);
        (path, stamp)
    });
    stamped.collect()
}
