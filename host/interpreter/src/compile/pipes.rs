//! Exchanges request and answer with a child process over its pipes, up to a deadline.
//!
//! All pipes are polled at once: a child that does not read, never stops writing, or writes nothing
//! cannot block the host beyond the deadline.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

use super::protocol::{self, Request};

/// Longest part of standard error that is kept, in bytes.
const STDERR_BYTES_MAX: usize = 8 * 1024;
/// Bytes that are read or written at a time: a quarter of what a pipe holds.
const PIECE_BYTES: usize = 16 * 1024;

/// Deadline of an exchange with a child.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    start: Instant,
    most: Duration,
}

impl Deadline {
    /// The deadline that is so far from now.
    pub(super) fn of(most: Duration) -> Self {
        let start = Instant::now();
        Self { start, most }
    }

    /// Time that is left; zero when it has passed.
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

/// The pipes of a child, and the bytes read from them.
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
    /// Sends the request; the component is still to follow.
    pub(super) fn begin(child: &mut Child, request: Request) -> io::Result<Self> {
        let mut pipes = Self {
            input: child.stdin.take(),
            output: child.stdout.take(),
            errors: child.stderr.take(),
            answer: Vec::new(),
            stderr: Vec::new(),
        };
        if let Some(input) = &mut pipes.input {
            // A child that does not read may answer all the same.
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

    /// Sends the component and reads until the child has closed its pipes.
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
        let input = self.input.as_ref().map(|it| (it.as_fd(), PollFlags::OUT));
        let output = self.output.as_ref().map(|it| (it.as_fd(), PollFlags::IN));
        let errors = self.errors.as_ref().map(|it| (it.as_fd(), PollFlags::IN));
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
            // A timeout is noticed at the next call.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends as much as the pipe takes and closes it after the last byte; returns the bytes still
    /// to be sent.
    fn send<'c>(&mut self, component: &'c [u8]) -> &'c [u8] {
        let Some(input) = &mut self.input else {
            return component;
        };
        let piece = component.get(..PIECE_BYTES).unwrap_or(component);
        let left = match input.write(piece) {
            Ok(sent) => component.get(sent..).unwrap_or_default(),
            Err(error) if is_retryable(&error) => component,
            // It has closed its input; its answer counts all the same.
            Err(_) => &[],
        };
        if left.is_empty() {
            self.input = None;
        }
        left
    }
}

/// Reads the available bytes; closes the pipe after the last.
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
