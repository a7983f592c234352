//! A process that stops the processes of a killed test.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use tempfile::TempDir;

/// Reads which process groups were started and ended. When the test process ends in any way, the
/// kernel closes the input of this script. The script then kills the remaining groups and removes
/// the folder. It ignores the signals that end the test process.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=
while read -r word group; do
  case $word in
    started) groups="$groups $group" ;;
    ended) kept=; for it in $groups; do [ "$it" = "$group" ] || kept="$kept $it"; done; groups=$kept ;;
  esac
done
for it in $groups; do kill -s KILL -- "-$it"; done
for attempt in 1 2 3 4 5; do rm -rf -- "$1" && exit; sleep 0.2; done
"#;

/// The watchdog of this process, and its folder.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Mutex<Child>,
    folder: PathBuf,
}

static WATCHDOG: OnceLock<Watchdog> = OnceLock::new();

impl Watchdog {
    /// Returns the watchdog of this process, and starts it at the first call.
    pub(crate) fn get() -> &'static Self {
        WATCHDOG.get_or_init(|| {
            let folder = TempDir::with_prefix("kindsight-cluster-");
            let folder = folder.expect("a temporary folder").keep();
            let shell = Command::new("sh")
                .args(["-c", SCRIPT, "watchdog"])
                .arg(&folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // Ctrl-C in a terminal then reaches only the group of the test process.
                .process_group(0)
                .spawn()
                .expect("a POSIX shell");
            let shell = Mutex::new(shell);
            Self { shell, folder }
        })
    }

    /// The folder for all files that the processes of this test write.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Records a process group that was started.
    pub(crate) fn started(&self, group: u32) {
        self.tell("started", group);
    }

    /// Removes a group that ended, before another process can get its id.
    pub(crate) fn ended(&self, group: u32) {
        self.tell("ended", group);
    }

    fn tell(&self, word: &str, group: u32) {
        let mut shell = self.shell.lock().unwrap_or_else(PoisonError::into_inner);
        let input = shell.stdin.as_mut().expect("its input is piped");
        writeln!(input, "{word} {group}").expect("a watchdog that runs");
    }
}
