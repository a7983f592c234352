//! A registry process of a test.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use kindsight_model::Digest;
use kindsight_registry::Reference;
use tempfile::TempDir;

/// The executable of Debian's package `docker-registry`.
const EXECUTABLE: &str = "docker-registry";

/// The file of a login `me` with the password `secret`, as `htpasswd -B` writes it.
const HTPASSWD: &str = "me:$2b$04$y33zUHimHLPd./2zUfWFx.wXWwajgM1nkKlV0pkTTrP8K7V4Fv1gy\n";

/// A registry on a free port of the loopback address, with its data in a temporary folder.
pub(crate) struct TestRegistry {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl TestRegistry {
    /// A registry without access control; `None` if the executable is missing.
    pub(crate) fn start() -> Option<Self> {
        Self::start_in(tempfile::tempdir().unwrap(), "", "")
    }

    /// A registry with the login `me`, `secret`.
    pub(crate) fn start_with_login() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("htpasswd");
        fs::write(&file, HTPASSWD).unwrap();
        let auth = format!(
            "auth: {{htpasswd: {{realm: test, path: {}}}}}",
            file.display()
        );
        Self::start_in(folder, &auth, "")
    }

    /// A registry with a certificate of its own authority, whose certificate is `ca.pem`.
    pub(crate) fn start_with_tls() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        if !is_installed("openssl", "certificates of registries") {
            return None;
        }
        let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem \
            && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=registry -keyout tls.key -out tls.csr \
            && printf 'subjectAltName=IP:127.0.0.1\\nbasicConstraints=CA:FALSE' > extensions \
            && openssl x509 -req -in tls.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out tls.pem";
        let made = Command::new("sh")
            .args(["-c", script])
            .current_dir(folder.path())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success(), "certificates");
        let file = |name: &str| folder.path().join(name).display().to_string();
        let tls = format!(
            ", tls: {{certificate: {}, key: {}}}",
            file("tls.pem"),
            file("tls.key")
        );
        Self::start_in(folder, "", &tls)
    }

    fn start_in(folder: TempDir, auth: &str, tls: &str) -> Option<Self> {
        if !is_installed(EXECUTABLE, "tests with a registry") {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let data = folder.path().join("data");
        let config = format!(
            "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: '127.0.0.1:{port}'{tls}}}\n{auth}\n",
            data.display()
        );
        let file = folder.path().join("registry.yml");
        fs::write(&file, config).unwrap();
        let process = Command::new(EXECUTABLE)
            .arg("serve")
            .arg(file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let registry = Self {
            process,
            port,
            folder,
        };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "the registry starts"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(registry)
    }

    /// Host and port.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A reference to this registry.
    pub(crate) fn reference(&self, path: &str) -> Reference {
        format!("oci://{}/{path}", self.host()).parse().unwrap()
    }

    /// A folder for files of the test.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces the content of a blob or a manifest on the disk of the registry.
    pub(crate) fn alter(&self, digest: &Digest, content: &[u8]) {
        let digits = digest.as_str().trim_start_matches("sha256:");
        let blobs = self.folder().join("data/docker/registry/v2/blobs/sha256");
        let path = blobs.join(&digits[..2]).join(digits).join("data");
        assert!(path.is_file(), "{}", path.display());
        fs::write(path, content).unwrap();
    }
}

impl Drop for TestRegistry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns whether a program is installed. If not, says once that tests did not run.
fn is_installed(program: &str, tests: &str) -> bool {
    static ONCE: Once = Once::new();
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_ok() {
        return true;
    }
    let missing =
        format!("NOT RUN: {tests}: `{program}` is not installed (apt-get install {program})");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{missing}");
    ONCE.call_once(|| eprintln!("{missing}"));
    false
}

/// Writes a new private key (ECDSA P-256), and returns its file.
pub(crate) fn signing_key(folder: &Path) -> PathBuf {
    use base64::Engine as _;
    let random = ring::rand::SystemRandom::new();
    let algorithm = &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = ring::signature::EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let base64 = base64::prelude::BASE64_STANDARD.encode(document);
    let file = folder.join("sign.key");
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
    fs::write(&file, pem).unwrap();
    file
}
