//! The body of a stream: each event is made when the connection can take it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Bytes, HttpBody};
use hyper::body::Frame;

use super::Watched;
use super::follower::Follower;

/// The making of the next event. None at the end of the stream.
type Making<W> = Pin<Box<dyn Future<Output = Option<(VecDeque<Bytes>, Follower<W>)>> + Send>>;

/// The events of a follower.
pub(super) struct EventBody<W: Watched> {
    /// Parts of an event that were not sent yet.
    ready: VecDeque<Bytes>,
    /// None once the stream has ended.
    making: Option<Making<W>>,
}

impl<W: Watched> EventBody<W> {
    pub(super) fn new(follower: Follower<W>) -> Self {
        Self {
            ready: VecDeque::new(),
            making: Some(Box::pin(follower.next())),
        }
    }
}

impl<W: Watched> HttpBody for EventBody<W> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            if let Some(part) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(part))));
            }
            let Some(making) = &mut self.making else {
                return Poll::Ready(None);
            };
            let made = ready!(making.as_mut().poll(cx));
            self.making = None;
            if let Some((parts, follower)) = made {
                self.ready = parts;
                self.making = Some(Box::pin(follower.next()));
            }
        }
    }
}
