//! Standard output as a pipe whose reader may close it early, as `head` does.

use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Returns whether a command failed with this error because the reader of `output` closed the pipe.
///
/// A request to a server and a child process can fail with the same error, so `output` is checked too.
pub(crate) fn is_unread(error: &anyhow::Error, output: &impl AsFd) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(is_broken_pipe) && has_no_reader(output)
}

fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

fn has_no_reader(output: &impl AsFd) -> bool {
    // The kernel reports a pipe without a reader even if no event is requested.
    let mut polled = [PollFd::new(output, PollFlags::empty())];
    let result = poll(&mut polled, Some(&Timespec::default()));
    let [polled] = &polled;
    let is_closed = polled.revents().intersects(PollFlags::ERR | PollFlags::HUP);
    result.is_ok() && is_closed
}

/// Output of a command whose result is its exit code: after the reader has closed the pipe, output is dropped and the
/// command continues.
pub(crate) struct UntilClosed<W>(pub(crate) W);

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if is_broken_pipe(&error) => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if is_broken_pipe(&error) => Ok(()),
            flushed => flushed,
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    fn failed(kind: io::ErrorKind) -> anyhow::Error {
        let failed: io::Result<()> = Err(kind.into());
        failed.context("print the answer").unwrap_err()
    }

    #[test]
    fn only_the_end_of_the_reader_ends_a_command_without_a_message() {
        let (reader, output) = io::pipe().unwrap();
        let broken = failed(io::ErrorKind::BrokenPipe);
        // A connection to a server broke, and the output still has a reader.
        assert!(!is_unread(&broken, &output));
        drop(reader);
        assert!(is_unread(&broken, &output));
        assert!(!is_unread(&failed(io::ErrorKind::StorageFull), &output));
        let file = tempfile::tempfile().unwrap();
        assert!(!is_unread(&broken, &file));
    }

    #[test]
    fn output_without_a_reader_is_dropped() {
        let (reader, output) = io::pipe().unwrap();
        drop(reader);
        let mut output = UntilClosed(output);
        writeln!(output, "a line").unwrap();
        output.flush().unwrap();
        let mut room = [0_u8; 3];
        let mut full = UntilClosed(&mut room[..]);
        let error = full.write_all(b"no room").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }
}
