//! A process that ends what a killed test leaves behind.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use tempfile::TempDir;

/// Reads which process groups were started and ended; at the end of its input, which the kernel closes
/// however the test process goes, it kills those that are left and removes the folder. It is deaf to
/// the signals that end the test process.
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

/// The watchdog of this process, and the folder that goes with it.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Mutex<Child>,
    folder: PathBuf,
}

static WATCHDOG: OnceLock<Watchdog> = OnceLock::new();

impl Watchdog {
    /// Returns the one of this process; starts it at the first call.
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
                // Ctrl-C in a terminal reaches the group of the test process alone.
                .process_group(0)
                .spawn()
                .expect("a POSIX shell");
            let shell = Mutex::new(shell);
            Self { shell, folder }
        })
    }

    /// Folder for everything that the processes of this test write.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Notes a process group that was started.
    pub(crate) fn started(&self, group: u32) {
        self.tell("started", group);
    }

    /// Forgets a group that ended, before its number can be another's.
    pub(crate) fn ended(&self, group: u32) {
        self.tell("ended", group);
    }

    fn tell(&self, word: &str, group: u32) {
        let mut shell = self.shell.lock().unwrap_or_else(PoisonError::into_inner);
        let input = shell.stdin.as_mut().expect("its input is piped");
        writeln!(input, "{word} {group}").expect("a watchdog that runs");
    }
}
