//! A process that can be started, paused and stopped, and that is killed when it is dropped.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use crate::watchdog::Watchdog;

/// The time within which a process must end after a stop request. Then it is killed.
const STOP_MAX: Duration = Duration::from_secs(10);
/// The interval of polling.
pub(crate) const PERIOD: Duration = Duration::from_millis(50);
/// The size of the part of a log that is shown if its process ended early, in bytes.
const LOG_TAIL_BYTES: usize = 4000;

/// A process in its own process group, which logs to a file.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    log: PathBuf,
    child: Option<Child>,
}

impl Process {
    /// Starts a program. Its log is `<name>.log` in the folder.
    ///
    /// # Panics
    /// If it cannot be started.
    pub(crate) fn start<I>(name: &str, program: &Path, arguments: I, folder: &Path) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let mut process = Self {
            name: name.to_owned(),
            program: program.to_owned(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            log: folder.join(format!("{name}.log")),
            child: None,
        };
        process.start_again();
        process
    }

    /// Starts the program again with the same arguments, unless it is running.
    pub(crate) fn start_again(&mut self) {
        if self.is_running() {
            return;
        }
        let watchdog = Watchdog::get();
        let mut options = OpenOptions::new();
        let log = options.create(true).append(true).open(&self.log);
        let log = log.expect("a log file");
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("its log"))
            .stderr(log)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        watchdog.started(child.id());
        self.child = Some(child);
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns whether the process is running. The id of a process that has ended is dropped,
    /// because another process may get it.
    pub(crate) fn is_running(&mut self) -> bool {
        match self.child.as_mut().map(Child::try_wait) {
            Some(Ok(None)) => true,
            Some(_) => {
                self.reap();
                false
            }
            None => false,
        }
    }

    /// Requests the process to end, waits, and kills it if this takes too long.
    pub(crate) fn stop(&mut self) {
        self.resume();
        self.signal(Signal::TERM);
        let begin = Instant::now();
        while self.is_running() && begin.elapsed() < STOP_MAX {
            thread::sleep(PERIOD);
        }
        self.kill();
    }

    /// Kills the process and all processes that it started.
    pub(crate) fn kill(&mut self) {
        if self.is_running()
            && let Some(child) = &self.child
        {
            // If it ends at this moment, the call fails, and the process is still waited for.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        }
        self.reap();
    }

    /// Freezes the process, and returns when it has stopped: its connections stay open but get no
    /// answers.
    pub(crate) fn pause(&mut self) {
        self.signal(Signal::STOP);
        if let Some(child) = &self.child {
            // The threads stop one after the other. The flag leaves the state for later calls that
            // wait.
            let stopped = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = waitid(WaitId::Pid(Pid::from_child(child)), stopped);
        }
    }

    pub(crate) fn resume(&mut self) {
        self.signal(Signal::CONT);
    }

    fn signal(&mut self, signal: Signal) {
        if self.is_running()
            && let Some(child) = &self.child
        {
            // It may end at this moment.
            let _ = kill_process(Pid::from_child(child), signal);
        }
    }

    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            Watchdog::get().ended(child.id());
            // This fails only if the child was already waited for.
            let _ = child.wait();
        }
    }

    /// Polls until the condition is met.
    ///
    /// # Panics
    /// If the process has ended, or the time has passed, with the end of its log.
    pub(crate) fn wait_until(&mut self, what: &str, timeout: Duration, is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(
                self.is_running(),
                "{} ended before: {what}\n{}",
                self.name,
                self.log_tail()
            );
            assert!(
                begin.elapsed() < timeout,
                "{}: not within {timeout:?}: {what}\n{}",
                self.name,
                self.log_tail()
            );
            thread::sleep(PERIOD);
        }
    }

    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let start = log.len().saturating_sub(LOG_TAIL_BYTES);
        let tail = log.get(start..).unwrap_or_default();
        String::from_utf8_lossy(tail).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
