//! Bytes to lines, with decompression.

use std::io::Write as _;

use flate2::write::GzDecoder;

use crate::wire::{LINE_BYTES_MAX, WireError};

/// The received bytes that form no complete line yet.
pub(super) struct Lines {
    source: Source,
    /// Start of the next line.
    next: usize,
    /// End of the bytes that have no line break after `next`.
    searched: usize,
}

enum Source {
    Plain(Vec<u8>),
    Gzip(Box<GzDecoder<Vec<u8>>>),
}

impl Lines {
    pub(super) fn new(is_gzip: bool) -> Self {
        let source = if is_gzip {
            Source::Gzip(Box::new(GzDecoder::new(Vec::new())))
        } else {
            Source::Plain(Vec::new())
        };
        Self {
            source,
            next: 0,
            searched: 0,
        }
    }

    /// Adds received bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), String> {
        match &mut self.source {
            Source::Plain(plain) => plain.extend_from_slice(bytes),
            Source::Gzip(decoder) => {
                let written = decoder.write_all(bytes).and_then(|()| decoder.flush());
                written.map_err(|error| format!("the gzip data is invalid: {error}"))?;
            }
        }
        Ok(())
    }

    /// The next complete line, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        let (next, searched) = (self.next, self.searched);
        let bytes = self.bytes();
        let rest = bytes.get(searched..).unwrap_or_default();
        let Some(found) = rest.iter().position(|byte| *byte == b'\n') else {
            let waiting = bytes.len().saturating_sub(next);
            if waiting > LINE_BYTES_MAX {
                return Err(WireError::TooLong);
            }
            bytes.drain(..next);
            self.next = 0;
            self.searched = waiting;
            return Ok(None);
        };
        let end = searched + found;
        let line = bytes.get(next..end).unwrap_or_default().to_vec();
        self.next = end + 1;
        self.searched = end + 1;
        if line.len() > LINE_BYTES_MAX {
            return Err(WireError::TooLong);
        }
        Ok(Some(line))
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        match &mut self.source {
            Source::Plain(plain) => plain,
            Source::Gzip(decoder) => decoder.get_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_division_of_the_bytes() {
        let text = b"one\n\ntwo\nrest";
        for size in 1..text.len() {
            let mut lines = Lines::new(false);
            let mut found = Vec::new();
            for part in text.chunks(size) {
                lines.add(part).unwrap();
                while let Some(line) = lines.next().unwrap() {
                    found.push(String::from_utf8(line).unwrap());
                }
            }
            assert_eq!(found, ["one", "", "two"]);
        }
    }

    #[test]
    fn a_line_over_the_limit_is_an_error() {
        let mut lines = Lines::new(false);
        lines.add(&vec![b'x'; LINE_BYTES_MAX + 1]).unwrap();
        assert!(matches!(lines.next(), Err(WireError::TooLong)));
    }
}
