//! A process that runs as in the Pod of the chart: the files of the image as a read-only root, a user without
//! privileges, mounted folders, and no environment but the environment of the image and of the test.

mod sockets;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _, stderr};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;

use rustix::process::{Pid, Signal, kill_process};

use crate::image::Image;
use crate::watchdog::Watchdog;

pub use sockets::Sockets;

/// User and group of the process.
const USER: u32 = 65532;

/// Mounts what a container runtime mounts, and becomes the program of the image. Arguments: the root folder, and
/// triples of a folder, its path in the root and `ro` or `rw`, up to `--`.
const SCRIPT: &str = r#"
set -eu
root=$1; shift
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    mount -o "remount,bind,$3" "$root$2"
    shift 3
done
shift
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec=65532:65532 --groups=65532 "$root" "$@"
"#;

/// A folder of this machine in a [`Container`].
#[derive(Debug)]
pub struct Mount {
    from: PathBuf,
    to: String,
    mode: &'static str,
}

impl Mount {
    /// A volume, which the process may change. As with `fsGroup` of a Pod, its group is the group of the process.
    ///
    /// # Panics
    /// If this process may not change the owner.
    pub fn volume(from: &Path, to: &str) -> Self {
        chown(from, Some(0), Some(USER)).expect("the group of a volume");
        let shared = fs::Permissions::from_mode(0o2775);
        fs::set_permissions(from, shared).expect("the permissions of a volume");
        Self::new(from, to, "rw")
    }

    /// A volume whose present files belong to the process.
    ///
    /// # Panics
    /// If this process may not change the owner.
    pub fn owned(from: &Path, to: &str) -> Self {
        for entry in fs::read_dir(from).expect("a folder") {
            let path = entry.expect("an entry").path();
            chown(&path, Some(USER), Some(USER)).expect("the owner of a file");
        }
        Self::volume(from, to)
    }

    /// The folder of a ConfigMap or Secret with these files, which the process may only read.
    ///
    /// # Panics
    /// If a file cannot be written.
    pub fn files(folder: &Path, to: &str, files: &[(&str, &str)]) -> Self {
        let from = folder.join(to.trim_matches('/').replace('/', "-"));
        fs::create_dir(&from).expect("a folder");
        fs::set_permissions(&from, fs::Permissions::from_mode(0o755)).expect("permissions");
        for (name, content) in files {
            let file = from.join(name);
            fs::write(&file, content).expect("a file");
            chown(&file, Some(0), Some(USER)).expect("the group of a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).expect("permissions");
        }
        Self::new(&from, to, "ro")
    }

    fn new(from: &Path, to: &str, mode: &'static str) -> Self {
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            mode,
        }
    }
}

/// A running process of an image, killed when it is dropped.
#[derive(Debug)]
pub struct Container {
    child: Child,
    address: SocketAddr,
}

impl Container {
    /// Returns whether this process may start a container. If not, one line says so.
    ///
    /// # Panics
    /// With the same line if `CI` is `true`.
    pub fn can_start() -> bool {
        static TOLD: Once = Once::new();
        let tried = Command::new("unshare").args(["--mount", "true"]).output();
        if tried.is_ok_and(|output| output.status.success()) {
            return true;
        }
        let line = "tests of the image did not run: they need root and the right to mount (`unshare --mount true`)";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{line}");
        TOLD.call_once(|| drop(writeln!(stderr(), "{line}")));
        false
    }

    /// Starts the entrypoint of the image, and waits until the server listens.
    ///
    /// # Panics
    /// With the log, if the process ends instead.
    pub fn start(
        image: &Image,
        mounts: &[Mount],
        environment: &[(&str, &str)],
        arguments: &[&str],
    ) -> Self {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", SCRIPT, "sh"]);
        command.arg(&image.files);
        let runtime = ["/proc", "/dev", "/tmp"];
        for point in mounts.iter().map(|mount| &*mount.to).chain(runtime) {
            let point = image.files.join(point.trim_start_matches('/'));
            fs::create_dir_all(point).expect("a mount point");
        }
        for mount in mounts {
            command.arg(&mount.from).args([&mount.to, mount.mode]);
        }
        command.arg("--");
        let config = &image.config["config"];
        let texts = |key: &str| {
            let texts = config[key].as_array().into_iter().flatten();
            texts.filter_map(|text| text.as_str())
        };
        command.args(texts("Entrypoint")).args(arguments);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path);
        for variable in texts("Env") {
            let (name, value) = variable.split_once('=').expect("NAME=VALUE");
            command.env(name, value);
        }
        command.envs(environment.iter().copied());
        command.stderr(Stdio::piped()).process_group(0);
        let watchdog = Watchdog::get();
        let mut child = command.spawn().expect("unshare");
        watchdog.started(child.id());
        let lines = BufReader::new(child.stderr.take().expect("its log")).lines();
        let mut lines = lines.map_while(Result::ok);
        let mut log = Vec::new();
        let address = lines.find_map(|line| {
            let address = listening_address(&line);
            log.push(line);
            address
        });
        let address = address.unwrap_or_else(|| panic!("it ended instead of serving: {log:#?}"));
        // A process that writes to a closed pipe ends, so the log is read until the server ends.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// The address of the server. It is on loopback if the server listens on all addresses.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The TCP sockets of the process, without its children.
    ///
    /// # Panics
    /// If the process has ended.
    pub fn sockets(&self) -> Sockets {
        Sockets::of(&self.proc())
    }

    /// The folder of the process in `/proc`.
    pub fn proc(&self) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string())
    }

    /// Real, effective, saved and file system user of the process.
    ///
    /// # Panics
    /// If the process has ended.
    pub fn users(&self) -> Vec<String> {
        let status = self.proc().join("status");
        let status = fs::read_to_string(status).expect("the status of the process");
        let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        let users = users.expect("users").split_whitespace();
        users.map(str::to_owned).collect()
    }

    /// Tries to create a file in the file system of the container, as root, so that only the mounts can refuse it.
    ///
    /// # Errors
    /// The file system is read-only.
    ///
    /// # Panics
    /// After any other failure.
    pub fn create_file(&self, path: &str) -> Result<(), &'static str> {
        let path = self.proc().join("root").join(path.trim_start_matches('/'));
        match fs::write(&path, "") {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::ReadOnlyFilesystem => {
                Err("Read-only file system")
            }
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }

    /// Sends SIGTERM and waits for the end; returns whether the exit code is 0.
    ///
    /// # Panics
    /// If the process cannot be stopped.
    pub fn stop(mut self) -> bool {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("SIGTERM");
        self.child.wait().expect("its end").success()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // Both fail if the process was stopped before.
        let _ = self.child.kill();
        let _ = self.child.wait();
        Watchdog::get().ended(self.child.id());
    }
}

/// The address in the line of the log that announces it. Other lines may name an issuer.
fn listening_address(line: &str) -> Option<SocketAddr> {
    let (_, url) = line.split_once("serving on ")?;
    let (_, address) = url.split_once("://")?;
    let address = address.split_whitespace().next()?;
    let address = address.trim_end_matches(|character: char| !character.is_ascii_digit());
    let mut address: SocketAddr = address.parse().ok()?;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    Some(address)
}
