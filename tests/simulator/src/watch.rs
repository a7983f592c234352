//! Watches: lines with events, until the lifetime of the watch ends.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, Stream};
use hyper::body::{Bytes, Frame};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::cluster::SimulatedCluster;
use crate::failure::Failure;
use crate::history::{Compacted, EventType, ObjectId};
use crate::list::{Form, formed};
use crate::objects;
use crate::query::Query;
use crate::selection::Selection;

/// Lifetime of a watch whose request names none.
const LIFETIME: Duration = Duration::from_mins(30);
/// Time between two bookmarks of a watch.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);
/// Time between the last bookmark and the end of a watch.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);
/// Maximum number of events that are made at a time.
const EVENTS_AT_A_TIME: usize = 100;

/// The annotation of the bookmark that ends a streamed list.
const INITIAL_END: &str = "k8s.io/initial-events-end";

/// An open watch.
pub(crate) struct Watch {
    cluster: Arc<SimulatedCluster>,
    selection: Selection,
    form: Form,
    /// The number of the next existing object; none once all were sent.
    initial: Option<u32>,
    /// Every event up to this version was sent.
    version: u64,
    newest: watch::Receiver<u64>,
    has_bookmarks: bool,
    bookmark_at: Instant,
    ends_at: Instant,
    is_over: bool,
}

impl Watch {
    pub(crate) fn open(
        cluster: &Arc<SimulatedCluster>,
        selection: Selection,
        query: &Query,
        form: Form,
    ) -> Result<Self, Failure> {
        let asked = query.version()?;
        let mut history = cluster.history();
        let newest = history.newest(selection.kind);
        let sends_initial = query
            .sends_initial
            .unwrap_or(asked.is_none_or(|at| at == 0));
        let version = match asked {
            Some(version) if !sends_initial => version,
            _ => history.now(),
        };
        drop(history);
        cluster.watch_opens();
        let ends_at = Instant::now() + query.timeout.unwrap_or(LIFETIME);
        Ok(Self {
            cluster: Arc::clone(cluster),
            initial: sends_initial.then_some(selection.numbers.start),
            selection,
            form,
            version,
            newest,
            has_bookmarks: query.has_bookmarks,
            bookmark_at: next_bookmark(ends_at),
            ends_at,
            is_over: false,
        })
    }

    /// The lines of the watch.
    pub(crate) fn lines(self) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
        stream::unfold(self, async |mut watch| {
            let lines = watch.next().await?;
            Some((Ok(Frame::data(lines)), watch))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        if let Some(number) = self.initial {
            let lines = self.initial(number);
            if !lines.is_empty() {
                return Some(lines.into());
            }
        }
        loop {
            if self.is_over {
                return None;
            }
            self.newest.borrow_and_update();
            let lines = self.events();
            if !lines.is_empty() {
                return Some(lines.into());
            }
            let now = Instant::now();
            if now >= self.ends_at {
                return None;
            }
            if now >= self.bookmark_at {
                self.bookmark_at = next_bookmark(self.ends_at);
                if self.has_bookmarks {
                    self.version = self.cluster.history().now();
                    return Some(self.bookmark(false).into());
                }
            }
            let wake_at = self.bookmark_at.min(self.ends_at);
            tokio::select! {
                _ = self.newest.changed() => {}
                () = sleep_until(wake_at) => {}
            }
        }
    }

    /// Lines with existing objects from a number on, and the bookmark after the last one. Empty at the end of a watch
    /// without bookmarks.
    fn initial(&mut self, first: u32) -> Vec<u8> {
        let cluster = Arc::clone(&self.cluster);
        let history = cluster.history();
        let seed = cluster.seed();
        let mut found = VecDeque::new();
        let mut next = None;
        for number in first..self.selection.numbers.end {
            if found.len() >= EVENTS_AT_A_TIME {
                next = Some(number);
                break;
            }
            let kind = self.selection.kind;
            let id = ObjectId { kind, number };
            let state = history.at(id, self.version);
            if let Some(state) = state.filter(|_| self.selection.has(&seed, number)) {
                found.push_back((id, state));
            }
        }
        drop(history);
        self.initial = next;
        let mut lines = Vec::new();
        for (id, state) in found {
            let item = objects::item(&seed, id, state);
            let object = formed(self.form, id.kind.kind(), item);
            write(&mut lines, "ADDED", &Value::Object(object));
        }
        if next.is_none() && self.has_bookmarks {
            lines.extend(self.bookmark(true));
        }
        lines
    }

    /// Lines with the next events. A compacted version ends the watch.
    fn events(&mut self) -> Vec<u8> {
        let kind = self.selection.kind;
        let cluster = Arc::clone(&self.cluster);
        let events = {
            let history = cluster.history();
            let events = history.events_after(kind, self.version, EVENTS_AT_A_TIME);
            events.map_err(|Compacted| history.compacted())
        };
        let mut lines = Vec::new();
        let events = match events {
            Ok(events) => events,
            Err(compacted) => {
                self.is_over = true;
                let message = format!("too old resource version: {} ({compacted})", self.version);
                write(&mut lines, "ERROR", &Failure::expired(message, None).body());
                return lines;
            }
        };
        let seed = cluster.seed();
        for event in events {
            self.version = event.state.version;
            if !self.selection.has(&seed, event.number) {
                continue;
            }
            let number = event.number;
            let item = objects::item(&seed, ObjectId { kind, number }, event.state);
            let object = formed(self.form, kind.kind(), item);
            let name = match event.kind {
                EventType::Added => "ADDED",
                EventType::Modified => "MODIFIED",
                EventType::Deleted => "DELETED",
            };
            write(&mut lines, name, &Value::Object(object));
        }
        lines
    }

    fn bookmark(&self, ends_list: bool) -> Vec<u8> {
        let kind = self.selection.kind.kind();
        let mut metadata = json!({"resourceVersion": self.version.to_string()});
        if ends_list {
            metadata["annotations"] = json!({INITIAL_END: "true"});
        }
        let item = [("metadata".to_owned(), metadata)].into_iter().collect();
        let mut line = Vec::new();
        let object = formed(self.form, kind, item);
        write(&mut line, "BOOKMARK", &Value::Object(object));
        line
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cluster.watch_ends();
    }
}

/// The time of the next bookmark: after a minute, or shortly before the end.
fn next_bookmark(ends_at: Instant) -> Instant {
    let regular = Instant::now() + BOOKMARK_EVERY;
    let last = ends_at - BOOKMARK_BEFORE_END;
    if last > Instant::now() {
        regular.min(last)
    } else {
        regular
    }
}

/// Appends an event as a line.
fn write(lines: &mut Vec<u8>, kind: &str, object: &Value) {
    let event = json!({"type": kind, "object": object});
    lines.extend(event.to_string().bytes());
    lines.push(b'\n');
}
