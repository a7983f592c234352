//! Tables about the systems that the server passes its state on to.

use std::sync::Arc;

use clap::Args;
use kindsight_server::aai::AaiSettings;
use kindsight_server::notify::ReceiverSettings;
use kindsight_server::outgoing::Destinations;

use super::aai_table::AaiTable;
use super::notify_table::{NotifyTable, receivers};
use super::outgoing_table::OutgoingTable;

/// Tables of the configuration file about other systems.
#[derive(Debug, Clone, Args)]
pub(crate) struct OtherSystemsArgs {
    /// The `[aai]` of the configuration file, as JSON.
    #[arg(long = "aai-table", hide = true, value_name = "JSON")]
    aai_table: Option<AaiTable>,
    /// A `[[notify]]` of the configuration file, as JSON.
    #[arg(long = "notify-table", hide = true, value_name = "JSON")]
    notify_tables: Vec<NotifyTable>,
    /// The `[outgoing]` of the configuration file, as JSON.
    #[arg(long = "outgoing-table", hide = true, value_name = "JSON")]
    outgoing_table: Option<OutgoingTable>,
}

impl OtherSystemsArgs {
    /// The destinations that requests may go to.
    pub(crate) fn destinations(&self) -> Arc<Destinations> {
        OutgoingTable::destinations(self.outgoing_table.as_ref())
    }

    /// The inventory A&AI. Reads its files of TLS.
    ///
    /// # Errors
    /// A file cannot be read, or the URL is invalid or not permitted.
    pub(crate) fn aai(&self) -> anyhow::Result<Option<AaiSettings>> {
        let table = self.aai_table.as_ref();
        let settings = table.map(|table| table.settings(&self.destinations()));
        settings.transpose()
    }

    /// The receivers of notifications. Reads the files with their URLs.
    ///
    /// # Errors
    /// A file cannot be read, or there are too many receivers.
    pub(crate) fn receivers(&self) -> anyhow::Result<Vec<ReceiverSettings>> {
        receivers(&self.notify_tables)
    }
}
