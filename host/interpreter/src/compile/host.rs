//! Host side of the compile process: starts it, reads its answer, and reaps it.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::ChildCompiler;
use super::pipes::{Broken, Deadline, Pipes};
use super::protocol::{self, Request};
use crate::load_error::LoadError;

/// The interval at which the end of a process is polled after it has closed its pipes.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The beginning of the message of Rust's allocator when memory runs out.
const OUT_OF_MEMORY: &str = "memory allocation of ";

impl ChildCompiler {
    /// Compiles in a child process. In every case, the child was reaped when this function returns.
    ///
    /// # Errors
    /// The child's refusal, or the failure of the child.
    pub(super) fn compile(&self, component: &[u8]) -> Result<Vec<u8>, LoadError> {
        let deadline = Deadline::of(self.wall_time_max);
        let host = |error: io::Error| {
            LoadError::Host(format!("failed to start the compile process: {error}"))
        };
        let mut child = self.start().map_err(host)?;
        let mut pipes = Pipes::begin(&mut child.0, self.request(component)).map_err(host)?;
        let exchanged = pipes
            .exchange(component, deadline)
            .and_then(|()| child.wait_until(deadline));
        let status = child.end().map_err(host)?;
        match exchanged {
            Ok(()) => self.outcome(status, pipes.answer, &pipes.stderr),
            Err(Broken::Late) => Err(LoadError::Host(format!(
                "the compile process took more than {} s of wall-clock time",
                self.wall_time_max.as_secs_f32()
            ))),
            Err(Broken::NotAnAnswer) => Err(invalid_answer()),
            Err(Broken::Io(error)) => Err(LoadError::Host(format!(
                "failed to exchange data with the compile process: {error}"
            ))),
        }
    }

    fn start(&self) -> io::Result<Running> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            // So that processes that the child started are killed with it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().map(Running)
    }

    fn request(&self, component: &[u8]) -> Request {
        Request {
            memory_bytes_max: self.memory_bytes_max,
            cpu_seconds_max: self.cpu_time_max.as_secs().max(1),
            host: u64::from(std::process::id()),
            component_bytes: component.len() as u64,
        }
    }

    /// The result of a child that was not killed by the host.
    fn outcome(
        &self,
        status: ExitStatus,
        answer: Vec<u8>,
        stderr: &[u8],
    ) -> Result<Vec<u8>, LoadError> {
        if status.success() {
            return protocol::read_answer(answer).unwrap_or_else(|_| Err(invalid_answer()));
        }
        let stderr = String::from_utf8_lossy(stderr);
        let Some(signal) = status.signal() else {
            let line = stderr.lines().next().unwrap_or_default();
            return Err(LoadError::Host(format!(
                "the compile process failed ({status}): {line}"
            )));
        };
        let raw = |signal: Signal| signal.as_raw();
        Err(if signal == raw(Signal::XCPU) {
            LoadError::Compile(format!(
                "took more than {} s of processor time",
                self.cpu_time_max.as_secs().max(1)
            ))
        } else if signal == raw(Signal::ABORT) && stderr.contains(OUT_OF_MEMORY) {
            LoadError::Compile(format!(
                "asked for more than {} bytes of memory",
                self.memory_bytes_max
            ))
        } else if signal == raw(Signal::KILL) {
            // Probably the kernel killed it, because the machine has no memory left.
            LoadError::Host(
                "the compile process was killed; the machine may be out of memory".to_owned(),
            )
        } else {
            LoadError::Compile(format!("the compiler crashed on it ({status})"))
        })
    }
}

fn invalid_answer() -> LoadError {
    LoadError::Host("the compile process sent an invalid answer".to_owned())
}

/// A started child. It is killed and reaped when it is dropped.
struct Running(Child);

impl Running {
    /// Waits for the end of the child without reaping it, so that its process id and group are not
    /// reused.
    fn wait_until(&self, deadline: Deadline) -> Result<(), Broken> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(Pid::from_child(&self.0)), options)?.is_none() {
            if deadline.left().is_zero() {
                return Err(Broken::Late);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Kills the complete process group, and reaps the child.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // The processes may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        self.0.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A child that was reaped must not be killed: another process may already use its process
        // id.
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.end();
        }
    }
}
