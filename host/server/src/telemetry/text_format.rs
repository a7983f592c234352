//! The text format of log lines.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{DefaultFields, Format, FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

use super::AUDIT;

/// Formats lines without their targets, except the lines of the audit log: their target distinguishes them.
pub(super) struct TextFormat {
    plain: Format,
    audit: Format,
}

impl Default for TextFormat {
    fn default() -> Self {
        Self {
            plain: Format::default().with_target(false),
            audit: Format::default(),
        }
    }
}

impl<S> FormatEvent<S, DefaultFields> for TextFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    DefaultFields: for<'a> FormatFields<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, DefaultFields>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let format = if event.metadata().target() == AUDIT {
            &self.audit
        } else {
            &self.plain
        };
        format.format_event(context, writer, event)
    }
}
