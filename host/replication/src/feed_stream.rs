//! The bytes of a feed, compressed if the follower reads gzip.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::feed::Feed;

/// A feed as the body of an answer.
pub struct FeedStream {
    feed: Feed,
    /// Each chunk is flushed, so that a follower can read it at once.
    gzip: Option<GzEncoder<Vec<u8>>>,
}

impl FeedStream {
    /// The body for one follower.
    pub fn new(feed: Feed, is_gzip: bool) -> Self {
        Self {
            feed,
            gzip: is_gzip.then(|| GzEncoder::new(Vec::new(), Compression::fast())),
        }
    }

    /// Waits for the next bytes; see [`Feed::next`].
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        let chunk = self.feed.next().await?;
        let Some(gzip) = &mut self.gzip else {
            return Some(chunk);
        };
        // Writing to memory does not fail.
        let written = gzip.write_all(&chunk).and_then(|()| gzip.flush());
        written.ok()?;
        Some(std::mem::take(gzip.get_mut()))
    }
}
