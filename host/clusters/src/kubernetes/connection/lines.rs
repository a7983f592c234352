//! The lines of responses that do not end.

use http_body_util::BodyExt as _;
use kube::client::Body;
use tokio_util::sync::CancellationToken;

use super::{ApiError, LIMITS};

/// Reason of watches that end because another connection replaces theirs.
const REPLACED: &str = "the connection did not answer";

/// The lines of a response, in order.
pub(in crate::kubernetes) struct Lines {
    body: Body,
    closed: CancellationToken,
    read: Vec<u8>,
    /// Number of bytes of `read` that were searched and contain no end of a line.
    searched: usize,
    /// True while the rest of an oversized line is dropped.
    is_skipping: bool,
}

/// A line of a response.
pub(in crate::kubernetes) enum Line {
    Whole(Vec<u8>),
    /// A line that was dropped, with the reason.
    TooLarge(String),
}

impl Lines {
    /// The lines of a body, until another connection replaces its connection.
    pub(super) fn new(body: Body, closed: CancellationToken) -> Self {
        Self {
            body,
            closed,
            read: Vec::new(),
            searched: 0,
            is_skipping: false,
        }
    }

    /// The next line; none at the end of the response. An oversized line is dropped, and the lines after it are
    /// read.
    ///
    /// # Errors
    /// [`ApiError::Unreachable`] if the connection is lost.
    pub(in crate::kubernetes) async fn next(&mut self) -> Result<Option<Line>, ApiError> {
        loop {
            let rest = self.read.get(self.searched..).unwrap_or_default();
            if let Some(at) = rest.iter().position(|&byte| byte == b'\n') {
                let after = self.read.split_off(self.searched + at + 1);
                self.searched = 0;
                let line = std::mem::replace(&mut self.read, after);
                return Ok(Some(
                    if std::mem::take(&mut self.is_skipping) || line.len() > LIMITS.event_bytes {
                        let size = format!("an event has more than {} bytes", LIMITS.event_bytes);
                        Line::TooLarge(size)
                    } else {
                        Line::Whole(line)
                    },
                ));
            }
            self.searched = self.read.len();
            if self.is_skipping || self.searched > LIMITS.event_bytes {
                self.is_skipping = true;
                self.read = Vec::new();
                self.searched = 0;
            }
            let frame = self.closed.run_until_cancelled(self.body.frame()).await;
            match frame.ok_or_else(|| ApiError::Unreachable(REPLACED.to_owned()))? {
                None => return Ok(None),
                Some(frame) => {
                    let frame = frame.map_err(ApiError::unreachable)?;
                    if let Ok(data) = frame.into_data() {
                        self.read.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}
