//! Reloads the configured clusters and the rights of projects when their files change, while the server runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
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

#[cfg(test)]
mod tests;

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

/// The files that define the clusters, as they were polled last.
///
/// The first files are the files of the start. If the configuration file is invalid at every later read, the poll
/// therefore still sees its next change.
pub(crate) struct FollowedFiles {
    stamps: Files,
    /// Whether the files were read since they last changed.
    are_read: bool,
    /// The settings that take effect only at the start, as they were read last. `None` if the file could not be read
    /// again at the start.
    others: Option<toml::Table>,
}

impl FollowedFiles {
    /// The files at the start. They are read once more after the start, because they may have changed since the start
    /// read them.
    pub(crate) fn at_start(args: &ServeArgs) -> Self {
        Self {
            stamps: looked_at(files(args)),
            are_read: false,
            others: others(args).ok(),
        }
    }

    /// Polls the files. Reads the configuration if the files were not read since they changed, and if they did not
    /// change since the last poll, so that unfinished files are not read. Calls `arguments` for the command line.
    fn changed(
        &mut self,
        arguments: impl FnOnce() -> Vec<OsString>,
    ) -> Option<anyhow::Result<Configuration>> {
        let paths = self.stamps.keys().cloned().collect();
        let stamps = looked_at(paths);
        if self.stamps != stamps {
            // A writer may not have finished.
            self.stamps = stamps;
            self.are_read = false;
            return None;
        }
        if std::mem::replace(&mut self.are_read, true) {
            return None;
        }
        Some(read(arguments()).and_then(|(configuration, stamps)| {
            self.stamps = stamps;
            configuration
        }))
    }

    /// Replaces the settings that take effect only at the start. Returns the names of the settings that differ.
    fn replace_others(&mut self, others: &toml::Table) -> BTreeSet<String> {
        let Some(before) = self.others.replace(others.clone()) else {
            return BTreeSet::new();
        };
        let names = before.keys().chain(others.keys());
        names
            .filter(|name| before.get(*name) != others.get(*name))
            .cloned()
            .collect()
    }
}

/// Follows the files of the configuration, and sends the clusters and the rights of projects each time that they differ.
///
/// An invalid configuration is logged once and changes nothing. The future ends with the executor.
pub(crate) async fn follow(
    mut files: FollowedFiles,
    clusters: watch::Sender<Vec<ClusterSource>>,
    projects: watch::Sender<Projects>,
) {
    loop {
        sleep(LOOK_EVERY).await;
        let polled = spawn_blocking(move || {
            let changed = files.changed(|| std::env::args_os().collect());
            (files, changed)
        });
        let Ok((polled, changed)) = polled.await else {
            return;
        };
        files = polled;
        match changed {
            None => {}
            Some(Ok(configuration)) => {
                warn_of(files.replace_others(&configuration.others));
                send(&clusters, &configuration.clusters);
                send(&projects, &configuration.projects);
            }
            Some(Err(error)) => tracing::error!(
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
        Ok(Self {
            clusters: args.sources()?,
            projects: args.projects(),
            others: others(args)?,
        })
    }
}

/// The settings of the configuration file that take effect only at the start.
fn others(args: &ServeArgs) -> anyhow::Result<toml::Table> {
    let Some(config) = &args.config else {
        return Ok(toml::Table::new());
    };
    let mut others = config_file::table(config).context("configuration file")?;
    others.retain(|name, _| !LIVE.contains(&name) && !WATCH_SETTINGS.contains(&name));
    Ok(others)
}

/// Logs changed settings that need a restart.
fn warn_of(changed: BTreeSet<String>) {
    if !changed.is_empty() {
        let settings = changed.into_iter().collect::<Vec<_>>().join(", ");
        tracing::warn!(
            settings,
            "changed settings take effect only after a restart"
        );
    }
}

/// Reads the command line, the environment and the configuration file again.
///
/// The stamps of the files are taken before the files are read, so the next poll sees every later change.
fn read(arguments: Vec<OsString>) -> anyhow::Result<(anyhow::Result<Configuration>, Files)> {
    let cli = config_file::read(arguments)?;
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
