//! Flags for the store of a server.

use std::path::Path;

use clap::Args;
use kindsight_server::StoreSettings;
use kindsight_server::store::StoreAddress;

use super::etcd::EtcdArgs;

/// The store of a server.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Store: `file:PATH` or `etcd://HOST:2379` [default: a file in --data-dir].
    ///
    /// It keeps `AppContext`s, records and uploaded interpreters. Several members of an etcd are separated by commas.
    /// `memory:` keeps nothing.
    #[arg(long = "store", env = "KINDSIGHT_STORE", value_name = "ADDRESS")]
    address: Option<StoreAddress>,
    /// Only reads the `AppContext`s of the store of another orchestrator, and never writes to it. Everything else is
    /// kept in --data-dir.
    #[arg(long, env = "KINDSIGHT_OBSERVE")]
    pub(crate) observe: bool,
    #[command(flatten)]
    etcd: EtcdArgs,
}

impl StoreArgs {
    /// The place of the store as text for the log, without credentials. `data_dir` is the folder of the server.
    pub(crate) fn place(&self, data_dir: &Path) -> String {
        let own = format!("file in {}", data_dir.display());
        match &self.address {
            None => own,
            Some(address) if self.observe => format!("{own}, observing {address}"),
            Some(address) => address.to_string(),
        }
    }

    /// Returns whether the server writes into an etcd.
    pub(crate) fn is_own_etcd(&self) -> bool {
        !self.observe && matches!(self.address, Some(StoreAddress::Etcd(_)))
    }

    /// The settings of these flags. Reads the password of an etcd user.
    ///
    /// # Errors
    /// The password cannot be read.
    pub(crate) fn settings(&self) -> anyhow::Result<StoreSettings> {
        Ok(StoreSettings {
            address: self.address.clone(),
            etcd: self.etcd.options()?,
            observes: self.observe,
        })
    }
}
