//! Lines of a log without control characters and tokens.

use std::io::{self, Write};

use kindsight_model::{clean, clean_json};

use crate::redaction::without_tokens;

/// Longest line of the log as text, in bytes: several texts of the largest size that a guest can shape.
pub const LOG_LINE_BYTES_MAX: usize = 16 * 1024;

/// Form of the lines of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFormat {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

/// Cleans and writes the lines of a log. One event is one line without control characters and tokens, even if the name of
/// a file or an object contains them. The loggers of all programs write through it, once for each line.
#[derive(Debug)]
pub struct CleanLines<W> {
    to: W,
    format: LineFormat,
}

impl<W: Write> CleanLines<W> {
    /// Lines of this form for `to`.
    pub fn new(to: W, format: LineFormat) -> Self {
        Self { to, format }
    }
}

impl<W: Write> Write for CleanLines<W> {
    /// Writes one event; the formatter passes each in one piece.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = without_tokens(text.strip_suffix('\n').unwrap_or(&text));
        let line = match self.format {
            LineFormat::Text => clean(&line, LOG_LINE_BYTES_MAX),
            // A truncated object would not be JSON.
            LineFormat::Json => clean_json(&line),
        };
        self.to.write_all(format!("{line}\n").as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
