//! One process: started, paused, stopped, and gone when it is dropped.

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

/// Time a process has to end when it is asked to; then it is killed.
const STOP_MAX: Duration = Duration::from_secs(10);
/// Time between two looks at whether something happened.
pub(crate) const PERIOD: Duration = Duration::from_millis(50);
/// End of a log that is shown when its process ended early.
const LOG_TAIL_BYTES: usize = 4000;

/// A process in a group of its own, which logs to a file.
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
    /// When it cannot be started.
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

    /// Starts it once more, with the arguments of the first time; does nothing if it runs.
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

    /// Tells whether it runs. One that ended by itself is forgotten: its number may be another's soon.
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

    /// Asks it to end, waits, and kills it when it takes too long.
    pub(crate) fn stop(&mut self) {
        self.resume();
        self.signal(Signal::TERM);
        let begin = Instant::now();
        while self.is_running() && begin.elapsed() < STOP_MAX {
            thread::sleep(PERIOD);
        }
        self.kill();
    }

    /// Kills it, with whatever it started.
    pub(crate) fn kill(&mut self) {
        if self.is_running()
            && let Some(child) = &self.child
        {
            // One that ends at this moment is waited for like the rest.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        }
        self.reap();
    }

    /// Freezes it, and returns when it stands: its connections stay open and nobody answers.
    pub(crate) fn pause(&mut self) {
        self.signal(Signal::STOP);
        if let Some(child) = &self.child {
            // Its threads stop one after the other. Whether it stopped or ended is left to be asked.
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
            // It may end by itself at this moment.
            let _ = kill_process(Pid::from_child(child), signal);
        }
    }

    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            Watchdog::get().ended(child.id());
            // Fails only for a child that was waited for.
            let _ = child.wait();
        }
    }

    /// Polls until it is so.
    ///
    /// # Panics
    /// When the process ended, or time is up; with the end of its log.
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
