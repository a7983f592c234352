//! Log lines of interpreters, for the user of the command line.

use std::fmt;
use std::io::Write;

use kindsight_interpreter::{GUEST_ERROR, GUEST_LOG_TARGET};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Writes each log line of an interpreter, of any level, as `name: level: text`. Ignores other events.
pub(super) struct GuestLines<F> {
    /// Makes the writer of one line.
    pub(super) to: F,
}

impl<S: Subscriber, W: Write, F: Fn() -> W + 'static> Layer<S> for GuestLines<F> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != GUEST_LOG_TARGET {
            return;
        }
        let mut line = Line::default();
        event.record(&mut line);
        let (level, text) = match line.text.strip_prefix(GUEST_ERROR) {
            Some(text) => ("error".to_owned(), text),
            None => (
                event.metadata().level().as_str().to_ascii_lowercase(),
                line.text.as_str(),
            ),
        };
        // If standard error is closed, the failure cannot be reported anywhere.
        let _ = (self.to)().write_all(format!("{}: {level}: {text}\n", line.name).as_bytes());
    }
}

/// The parts of one event that are taken.
#[derive(Default)]
struct Line {
    name: String,
    text: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "interpreter.name" {
            value.clone_into(&mut self.name);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.text = format!("{value:?}");
        }
    }
}
