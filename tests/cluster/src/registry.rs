//! An OCI registry: `docker-registry` of Debian, which is the registry of the distribution project.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::Duration;

use tempfile::TempDir;

use crate::binaries::{Unavailable, on_path, or_skip};
use crate::etcd::new_folder;
use crate::ports::free_port;
use crate::process::Process;

/// The executable of Debian's package of the same name.
const EXECUTABLE: &str = "docker-registry";

/// Maximum time of a start on a busy machine.
const START_MAX: Duration = Duration::from_mins(1);

/// The file of a login `me` with the password `secret`, as `htpasswd -B` writes it.
const HTPASSWD: &str = "me:$2b$04$y33zUHimHLPd./2zUfWFx.wXWwajgM1nkKlV0pkTTrP8K7V4Fv1gy\n";

/// Makes an authority (`ca.pem`) and a certificate of 127.0.0.1 (`tls.pem`, `tls.key`).
const CERTIFICATES: &str = "
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=registry -keyout tls.key -out tls.csr
printf 'subjectAltName=IP:127.0.0.1\\nbasicConstraints=CA:FALSE' > extensions
openssl x509 -req -in tls.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out tls.pem
";

/// A registry on a free port of the loopback address, with its data in a temporary folder. It ends
/// when it is dropped.
#[derive(Debug)]
pub struct OciRegistry {
    /// Ended before the folder is removed.
    process: Process,
    port: u16,
    folder: TempDir,
}

/// The protocol and the login of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistryAccess {
    /// HTTP, without a login.
    Open,
    /// HTTP, with the login `me` and the password `secret`.
    Login,
    /// HTTPS, with a certificate of the authority `ca.pem` in [`OciRegistry::folder`].
    Tls,
}

impl OciRegistry {
    /// Starts a registry, or prints one line with the reason why this test does not run.
    ///
    /// # Panics
    /// With the same line if `CI` is `true`, because a test that does not run there proves nothing.
    /// If the registry does not listen.
    pub fn or_skip(access: RegistryAccess) -> Option<Self> {
        static TOLD: Once = Once::new();
        let executable = find(EXECUTABLE);
        // Certificates are made by openssl.
        let found = match access {
            RegistryAccess::Tls => executable.and_then(|found| find("openssl").map(|_| found)),
            _ => executable,
        };
        let executable = or_skip("tests with an OCI registry", found, &TOLD)?;
        let folder = new_folder("registry");
        let (auth, tls) = match access {
            RegistryAccess::Open => (String::new(), String::new()),
            RegistryAccess::Login => (login(folder.path()), String::new()),
            RegistryAccess::Tls => (String::new(), certificates(folder.path())),
        };
        let port = free_port();
        let data = folder.path().join("data");
        let config = format!(
            "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: '127.0.0.1:{port}'{tls}}}\n{auth}\n",
            data.display()
        );
        let file = folder.path().join("registry.yml");
        fs::write(&file, config).expect("a configuration");
        let arguments = ["serve".into(), file.into_os_string()];
        let process = Process::start("registry", &executable, arguments, folder.path());
        let mut registry = Self {
            process,
            port,
            folder,
        };
        registry.wait();
        Some(registry)
    }

    fn wait(&mut self) {
        let address = ("127.0.0.1", self.port);
        self.process.wait_until("it listens", START_MAX, || {
            TcpStream::connect(address).is_ok()
        });
    }

    /// Starts a stopped registry again, on the same port and with the same data.
    ///
    /// # Panics
    /// If it does not listen.
    pub fn start_again(&mut self) {
        self.process.start_again();
        self.wait();
    }

    /// Ends the registry. Its data remains.
    pub fn stop(&mut self) {
        self.process.stop();
    }

    /// Freezes the registry: its connections stay open but get no answers.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Ends [`OciRegistry::pause`].
    pub fn resume(&mut self) {
        self.process.resume();
    }

    /// Host and port.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A reference to an artifact of this registry: `oci://HOST/` and this path.
    pub fn reference(&self, path: &str) -> String {
        format!("oci://{}/{path}", self.host())
    }

    /// A folder for files of the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces the content of a blob or a manifest (`sha256:…`) on the disk of the registry.
    ///
    /// # Panics
    /// If the registry does not have it.
    pub fn alter(&self, digest: &str, content: &[u8]) {
        let digits = digest.trim_start_matches("sha256:");
        let blobs = self.folder().join("data/docker/registry/v2/blobs/sha256");
        let path = blobs.join(&digits[..2]).join(digits).join("data");
        assert!(path.is_file(), "{} is missing", path.display());
        fs::write(path, content).expect("an altered file");
    }
}

fn find(program: &str) -> Result<PathBuf, Unavailable> {
    let line = format!("{program} is not on the PATH; install the Debian package `{program}`");
    on_path(program).ok_or(Unavailable(line))
}

/// The part of the configuration for a login.
fn login(folder: &Path) -> String {
    let file = folder.join("htpasswd");
    fs::write(&file, HTPASSWD).expect("a file with a login");
    format!(
        "auth: {{htpasswd: {{realm: test, path: {}}}}}",
        file.display()
    )
}

/// The part of the configuration for TLS.
fn certificates(folder: &Path) -> String {
    let made = Command::new("sh")
        .args(["-ec", CERTIFICATES])
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    assert!(made.expect("a shell").success(), "no certificates");
    let (certificate, key) = (folder.join("tls.pem"), folder.join("tls.key"));
    let (certificate, key) = (certificate.display(), key.display());
    format!(", tls: {{certificate: {certificate}, key: {key}}}")
}
