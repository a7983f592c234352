//! Server-sent events of a stream, read on a separate thread, because a read has no timeout.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::client::{Request, Server};

/// Maximum number of events in the channel; the reading thread waits while the channel is full.
const WAITING_MAX: usize = 16;

/// Longest line of a stream, in bytes; a longer one ends it.
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The next part of a stream.
#[derive(Debug)]
pub(super) enum StreamItem {
    /// An event.
    Event(Event),
    /// A comment, which the server sends as a heartbeat.
    Alive,
    /// The stream ended, with the reason.
    Ended(anyhow::Error),
    /// The stream was not opened, with the reason.
    NotOpened(anyhow::Error),
}

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) data: String,
    pub(super) id: String,
}

/// Opens a stream that continues after the event with the id `last`, and reads it on a thread. The thread ends with
/// the stream, or once the receiver is dropped.
pub(super) fn open(
    server: &Server,
    request: Request,
    last: Option<String>,
) -> Receiver<StreamItem> {
    let (item_tx, item_rx) = sync_channel(WAITING_MAX);
    let server = server.clone();
    std::thread::spawn(move || {
        let end = match request.open(&server, last.as_deref()) {
            Ok(stream) => StreamItem::Ended(read(stream, &item_tx)),
            Err(error) => StreamItem::NotOpened(error),
        };
        // The receiver is gone if the command has ended.
        let _ = item_tx.send(end);
    });
    item_rx
}

/// Reads events until the stream ends; returns the reason.
fn read(stream: impl Read, to: &SyncSender<StreamItem>) -> anyhow::Error {
    let mut lines = BufReader::new(stream);
    let mut event = Event::default();
    loop {
        let mut line = String::new();
        let read = (&mut lines).take(LINE_BYTES_MAX).read_line(&mut line);
        match read {
            Ok(_) if line.ends_with('\n') => {}
            Ok(0) => return anyhow::anyhow!("the server ended the stream"),
            Ok(_) => return anyhow::anyhow!("the stream was cut off within a line"),
            Err(error) => return error.into(),
        }
        let line = line.trim_end_matches(['\n', '\r']);
        let item = if line.is_empty() {
            match std::mem::take(&mut event) {
                event if event.name.is_empty() => continue,
                event => StreamItem::Event(event),
            }
        } else if line.starts_with(':') {
            StreamItem::Alive
        } else {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match field {
                "event" => event.name = value,
                "data" => event.data = value,
                "id" => event.id = value,
                _ => {}
            }
            continue;
        };
        if to.send(item).is_err() {
            return anyhow::anyhow!("the receiver of the stream was dropped");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_comments_are_read_until_the_stream_ends() {
        let stream = ":\n\nevent: snapshot\ndata: {\"a\":1}\nid: 7\n\nevent: change\ndata:{}\r\nid: 8\r\n\r\nevent: cut";
        let (item_tx, item_rx) = sync_channel(WAITING_MAX);
        let end = read(stream.as_bytes(), &item_tx);
        assert_eq!(end.to_string(), "the stream was cut off within a line");
        drop(item_tx);
        let items: Vec<StreamItem> = item_rx.iter().collect();
        let event = |name: &str, data: &str, id: &str| Event {
            name: name.to_owned(),
            data: data.to_owned(),
            id: id.to_owned(),
        };
        let [
            StreamItem::Alive,
            StreamItem::Event(first),
            StreamItem::Event(second),
        ] = &items[..]
        else {
            panic!("{items:?}");
        };
        assert_eq!(first, &event("snapshot", "{\"a\":1}", "7"));
        assert_eq!(second, &event("change", "{}", "8"));
    }
}
