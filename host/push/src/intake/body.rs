//! Bodies: gzip of JSON lines.

use std::io::{BufRead as _, BufReader, Read as _};

use flate2::read::MultiGzDecoder;
use kindsight_api::push::PushRefusal;
use kindsight_model::{OBJECT_BYTES_MAX, clean};

use crate::wire::Line;

/// Maximum size of the lines of a body, in bytes.
pub const PUSH_DECODED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum size of a line, in bytes: the largest object, and the largest report on twenty thousand objects.
const LINE_BYTES_MAX: usize = 2 * OBJECT_BYTES_MAX;
/// Maximum length of a reason, in bytes.
const REASON_BYTES_MAX: usize = 300;

/// Reads the lines of a body, and passes each known line on. Returns the number of unknown lines. Takes the memory of
/// one line, in time linear in the limit.
pub(super) fn read(
    body: &[u8],
    mut take: impl FnMut(Line<'_>, usize) -> Result<(), PushRefusal>,
) -> Result<usize, PushRefusal> {
    let limit = PUSH_DECODED_BYTES_MAX as u64 + 1;
    let mut reader = BufReader::new(MultiGzDecoder::new(body).take(limit));
    let (mut read, mut number, mut ignored) = (0, 0, 0);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        number += 1;
        let invalid = |why: String| {
            let why = clean(&why, REASON_BYTES_MAX);
            PushRefusal::Invalid(format!("line {number}: {why}"))
        };
        let mut line = reader.by_ref().take(LINE_BYTES_MAX as u64 + 1);
        let count = line.read_until(b'\n', &mut bytes);
        let count = count.map_err(|error| invalid(format!("the body is not gzip: {error}")))?;
        read += count;
        if count == 0 {
            return Ok(ignored);
        }
        if read > PUSH_DECODED_BYTES_MAX {
            let why = format!("the body has more than {PUSH_DECODED_BYTES_MAX} bytes of lines");
            return Err(PushRefusal::TooLarge(why));
        }
        if count > LINE_BYTES_MAX {
            let why = format!("line {number} has more than {LINE_BYTES_MAX} bytes");
            return Err(PushRefusal::TooLarge(why));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| invalid(error.to_string()))?;
        match Line::read(text).map_err(|error| invalid(error.to_string()))? {
            Some(line) => take(line, count)?,
            None => ignored += 1,
        }
    }
}
