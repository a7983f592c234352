//! Wakes the streams whose subject changed.

use std::sync::Arc;

use kindsight_read_model::Subscription;
use tokio_util::sync::CancellationToken;

use crate::clients::Clients;
use crate::limits::GATHER;

/// The one subscription to the read model for all clients. So a change of another subject wakes no stream.
#[derive(Debug)]
pub struct Dispatcher {
    pub(crate) subscription: Subscription,
    pub(crate) clients: Arc<Clients>,
    pub(crate) stop: CancellationToken,
}

impl Dispatcher {
    /// Wakes streams until the stop, or until the read model is closed.
    pub async fn run(mut self) {
        loop {
            let gathered = self.subscription.gathered(GATHER);
            let Some(Some(changes)) = self.stop.run_until_cancelled(gathered).await else {
                return;
            };
            self.clients.wake(&changes);
        }
    }
}
