//! The host's side of a child that compiles: starts it, listens, and sees to its end.

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

/// How long it takes a process to end after it has closed its pipes, as a grain.
const GRAIN: Duration = Duration::from_millis(1);
/// What Rust's allocator says before it gives up.
const OUT_OF_MEMORY: &str = "memory allocation of ";

impl ChildCompiler {
    /// Compiles in a child. Whatever happens, nothing of the child is left when this returns.
    ///
    /// # Errors
    /// The child's refusal, or what became of the child.
    pub(super) fn compile(&self, component: &[u8]) -> Result<Vec<u8>, LoadError> {
        let deadline = Deadline::of(self.wall_time_max);
        let host = |error: io::Error| LoadError::Host(format!("start the compiler: {error}"));
        let mut child = self.start().map_err(host)?;
        let mut pipes = Pipes::begin(&mut child.0, self.request(component)).map_err(host)?;
        let heard = pipes
            .talk(component, deadline)
            .and_then(|()| child.wait_until(deadline));
        let status = child.end().map_err(host)?;
        match heard {
            Ok(()) => self.outcome(status, pipes.answer, &pipes.complaint),
            Err(Broken::Late) => Err(LoadError::Host(format!(
                "the compiler took more than {} s on the clock",
                self.wall_time_max.as_secs_f32()
            ))),
            Err(Broken::NotAnAnswer) => Err(not_an_answer()),
            Err(Broken::Io(error)) => Err(LoadError::Host(format!("ask the compiler: {error}"))),
        }
    }

    fn start(&self) -> io::Result<Running> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            // So that what a child may have started ends with it.
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

    /// What a child that has ended by itself has come to.
    fn outcome(
        &self,
        status: ExitStatus,
        answer: Vec<u8>,
        complaint: &[u8],
    ) -> Result<Vec<u8>, LoadError> {
        if status.success() {
            return protocol::read_answer(answer).unwrap_or_else(|_| Err(not_an_answer()));
        }
        let complaint = String::from_utf8_lossy(complaint);
        let Some(signal) = status.signal() else {
            let line = complaint.lines().next().unwrap_or_default();
            return Err(LoadError::Host(format!(
                "the compiler gave up ({status}): {line}"
            )));
        };
        let of = |signal: Signal| signal.as_raw();
        Err(if signal == of(Signal::XCPU) {
            LoadError::Compile(format!(
                "took more than {} s of processor time",
                self.cpu_time_max.as_secs().max(1)
            ))
        } else if signal == of(Signal::ABORT) && complaint.contains(OUT_OF_MEMORY) {
            LoadError::Compile(format!(
                "asked for more than {} bytes of memory",
                self.memory_bytes_max
            ))
        } else if signal == of(Signal::KILL) {
            // As the kernel does where the machine has no memory left.
            LoadError::Host("the compiler was killed".to_owned())
        } else {
            LoadError::Compile(format!("the compiler broke on it ({status})"))
        })
    }
}

fn not_an_answer() -> LoadError {
    LoadError::Host("the compiler answered with something else than code".to_owned())
}

/// A child that was started. Dropped, it is killed and reaped.
struct Running(Child);

impl Running {
    /// Waits for its end without reaping it: its number, and its group's, must stay its own.
    fn wait_until(&self, deadline: Deadline) -> Result<(), Broken> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(Pid::from_child(&self.0)), options)?.is_none() {
            if deadline.left().is_zero() {
                return Err(Broken::Late);
            }
            thread::sleep(GRAIN);
        }
        Ok(())
    }

    /// Kills what is left of it and of what it started, and reaps it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // There may be nothing left to kill.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        self.0.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Reaped already, it is only asked for its status again; its number may be another's by now.
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.end();
        }
    }
}
