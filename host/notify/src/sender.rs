//! The threads that send requests, one for each receiver.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::message::Message;
use crate::receiver::{Outcome, Receiver};
use crate::settings::SettingsError;

/// The thread of a receiver. It ends after its request when the sender is dropped.
pub(crate) struct Sender(mpsc::Sender<(u64, Message)>);

/// The result of a request.
#[derive(Debug)]
pub(crate) struct Sent {
    /// The number of its receiver.
    pub(crate) receiver: usize,
    /// The lease under which the request began. The result of a request of an earlier lease has no effect.
    pub(crate) term: u64,
    pub(crate) outcome: Outcome,
}

impl Sender {
    /// Starts the thread of the receiver with this number.
    pub(crate) fn start(
        number: usize,
        receiver: &Arc<Receiver>,
        results: mpsc::Sender<Sent>,
    ) -> Result<Self, SettingsError> {
        // One request runs at a time; another one may wait after a change of the lease.
        let (messages, mut next) = mpsc::channel::<(u64, Message)>(1);
        let of = Arc::clone(receiver);
        let work = move || {
            while let Some((term, message)) = next.blocking_recv() {
                let sent = Sent {
                    receiver: number,
                    term,
                    outcome: of.send(&message),
                };
                if results.blocking_send(sent).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name(format!("notify {}", receiver.name));
        let started = thread.spawn(work);
        started.map_err(|source| {
            let name = receiver.name.clone();
            SettingsError::Thread { name, source }
        })?;
        Ok(Self(messages))
    }

    /// Begins a request. The result follows in the channel of the results. False if the requests of two earlier leases
    /// have not ended.
    pub(crate) fn begin(&self, term: u64, message: Message) -> bool {
        self.0.try_send((term, message)).is_ok()
    }
}
