//! Exchanges request and answer with a child process over its pipes, until a deadline.
//!
//! All pipes are polled together: a child that does not read, writes without end, or writes nothing
//! cannot block the host beyond the deadline.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

use super::protocol::{self, Request};

/// Maximum size of the part of standard error that is kept, in bytes.
const STDERR_BYTES_MAX: usize = 8 * 1024;
/// Bytes that are read or written at a time, a quarter of the capacity of a pipe.
const PIECE_BYTES: usize = 16 * 1024;

/// The deadline of an exchange with a child.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    start: Instant,
    most: Duration,
}

impl Deadline {
    /// The deadline at this time from now.
    pub(super) fn of(most: Duration) -> Self {
        let start = Instant::now();
        Self { start, most }
    }

    /// The remaining time, zero if the deadline has passed.
    pub(super) fn left(self) -> Duration {
        self.most.saturating_sub(self.start.elapsed())
    }
}

/// Failure of an exchange with a child.
#[derive(Debug)]
pub(super) enum Broken {
    Late,
    NotAnAnswer,
    Io(io::Error),
}

impl From<Errno> for Broken {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

impl From<protocol::NotAnAnswer> for Broken {
    fn from(_: protocol::NotAnAnswer) -> Self {
        Self::NotAnAnswer
    }
}

/// The pipes of a child, and the bytes that were read from them.
pub(super) struct Pipes {
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    /// Bytes from standard output.
    pub(super) answer: Vec<u8>,
    /// The first bytes from standard error.
    pub(super) stderr: Vec<u8>,
}

impl Pipes {
    /// Sends the header of the request. The component follows later.
    pub(super) fn begin(child: &mut Child, request: Request) -> io::Result<Self> {
        let mut pipes = Self {
            input: child.stdin.take(),
            output: child.stdout.take(),
            errors: child.stderr.take(),
            answer: Vec::new(),
            stderr: Vec::new(),
        };
        if let Some(input) = &mut pipes.input {
            // A child that does not read may still answer.
            let _ = input.write_all(&request.to_bytes());
            ioctl_fionbio(input.as_fd(), true)?;
        }
        if let Some(output) = &pipes.output {
            ioctl_fionbio(output, true)?;
        }
        if let Some(errors) = &pipes.errors {
            ioctl_fionbio(errors, true)?;
        }
        Ok(pipes)
    }

    /// Sends the component, and reads until the child has closed its pipes.
    pub(super) fn exchange(
        &mut self,
        mut component: &[u8],
        deadline: Deadline,
    ) -> Result<(), Broken> {
        while self.output.is_some() || self.errors.is_some() {
            self.wait(deadline)?;
            component = self.send(component);
            receive(&mut self.output, &mut self.answer)?;
            let whole = protocol::answer_bytes(&self.answer)?;
            if whole.is_some_and(|whole| self.answer.len() > whole) {
                return Err(Broken::NotAnAnswer);
            }
            receive(&mut self.errors, &mut self.stderr)?;
            self.stderr.truncate(STDERR_BYTES_MAX);
        }
        Ok(())
    }

    /// Waits until a pipe can be read or written.
    fn wait(&self, deadline: Deadline) -> Result<(), Broken> {
        let input = self
            .input
            .as_ref()
            .map(|pipe| (pipe.as_fd(), PollFlags::OUT));
        let output = self
            .output
            .as_ref()
            .map(|pipe| (pipe.as_fd(), PollFlags::IN));
        let errors = self
            .errors
            .as_ref()
            .map(|pipe| (pipe.as_fd(), PollFlags::IN));
        let pipes = [input, output, errors].into_iter().flatten();
        let mut pipes: Vec<_> = pipes
            .map(|(pipe, flags)| PollFd::from_borrowed_fd(pipe, flags))
            .collect();
        let left = deadline.left();
        if left.is_zero() {
            return Err(Broken::Late);
        }
        let left = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut pipes, Some(&left)) {
            // A timeout is detected at the next call.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends as much as the pipe accepts, and closes it after the last byte. Returns the bytes that
    /// were not sent yet.
    fn send<'c>(&mut self, component: &'c [u8]) -> &'c [u8] {
        let Some(input) = &mut self.input else {
            return component;
        };
        let piece = component.get(..PIECE_BYTES).unwrap_or(component);
        let left = match input.write(piece) {
            Ok(sent) => component.get(sent..).unwrap_or_default(),
            Err(error) if is_retryable(&error) => component,
            // The child has closed its input. Its answer is still valid.
            Err(_) => &[],
        };
        if left.is_empty() {
            self.input = None;
        }
        left
    }
}

/// Reads the available bytes. Closes the pipe after the last byte.
fn receive(pipe: &mut Option<impl Read>, into: &mut Vec<u8>) -> Result<(), Broken> {
    let Some(open) = pipe else { return Ok(()) };
    let mut piece = [0; PIECE_BYTES];
    match open.read(&mut piece) {
        Ok(0) => *pipe = None,
        Ok(read) => into.extend_from_slice(piece.get(..read).unwrap_or_default()),
        Err(error) if is_retryable(&error) => {}
        Err(error) => return Err(Broken::Io(error)),
    }
    Ok(())
}

fn is_retryable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
