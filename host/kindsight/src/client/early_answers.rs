//! Connections on which an answer that arrives before the body is read.
//!
//! ureq 3.5 loses the wake-up of such an answer: after `Expect: 100-continue` it looks at the complete answer, decides
//! to send no body, and then waits for more input. If the server keeps the connection open, it waits until its deadline.

use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// Wraps each connection.
#[derive(Debug)]
pub(crate) struct EarlyAnswers;

impl<T: Transport> Connector<T> for EarlyAnswers {
    type Out = Connection<T>;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<T>,
    ) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| Connection {
            inner,
            first_input: FirstInput::Read,
        }))
    }
}

/// A connection that offers the first input after a transmission twice.
#[derive(Debug)]
pub(crate) struct Connection<T> {
    inner: T,
    first_input: FirstInput,
}

/// The first input after a transmission.
#[derive(Debug, PartialEq, Eq)]
enum FirstInput {
    Awaited,
    /// Was offered once, with this number of bytes.
    Offered(usize),
    /// Needs no further offer.
    Read,
}

impl<T: Transport> Transport for Connection<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.first_input = FirstInput::Awaited;
        self.inner.transmit_output(amount, timeout)
    }

    /// Is called where the buffer is empty, or where its content was not enough for the caller.
    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let unread = self.inner.buffers().input().len();
        match std::mem::replace(&mut self.first_input, FirstInput::Read) {
            FirstInput::Offered(bytes) if bytes == unread => Ok(true),
            FirstInput::Awaited => {
                let is_read = self.inner.await_input(timeout)?;
                self.first_input = FirstInput::Offered(self.inner.buffers().input().len());
                Ok(is_read)
            }
            FirstInput::Offered(_) | FirstInput::Read => self.inner.await_input(timeout),
        }
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
