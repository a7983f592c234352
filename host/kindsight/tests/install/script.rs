//! `install.sh`: installs the files of a release from a folder or over HTTPS, and refuses a file with another digest.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use kindsight_cluster::Authority;
use tempfile::TempDir;

use crate::root;

/// The executable in the archive of the tests.
const EXECUTABLE: &str = "#!/bin/sh\necho \"kindsight of a test\"\n";

/// Serves a folder over HTTPS on a free port, which it prints. Arguments: folder, certificate, key.
const HTTPS_SERVER: &str = r#"
import functools, http.server, ssl, sys
folder, certificate, key = sys.argv[1:]
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A release for this machine in a folder, and a folder to install to.
struct Release {
    folder: TempDir,
    prefix: TempDir,
    archive: PathBuf,
}

impl Release {
    /// Makes the archive and `SHA256SUMS`, like `deploy/release/build`.
    fn new() -> Self {
        let (folder, prefix) = (TempDir::new(), TempDir::new());
        let (folder, prefix) = (folder.expect("a folder"), prefix.expect("a folder"));
        let executable = folder.path().join("kindsight");
        fs::write(&executable, EXECUTABLE).expect("a file");
        let name = format!("kindsight-{}-linux.tar.gz", std::env::consts::ARCH);
        let archive = folder.path().join(&name);
        let mut pack = Command::new(root().join("deploy/release/pack"));
        let pack = pack.arg(&executable).arg(env!("CARGO_BIN_EXE_kindsight"));
        let packed = pack.arg(&archive).arg(catalogue(folder.path()));
        let packed = packed.output().expect("bash");
        assert!(packed.status.success(), "{packed:?}");
        let mut sum = Command::new("sha256sum");
        let sum = sum.arg(&name).current_dir(&folder).output();
        let sums = folder.path().join("SHA256SUMS");
        fs::write(sums, sum.expect("sha256sum").stdout).expect("a file");
        Self {
            folder,
            prefix,
            archive,
        }
    }

    /// Runs `install.sh --from FROM` with the other folder as the prefix. `authority` is the file with the only trusted
    /// certificate.
    fn install(&self, from: &str, authority: Option<&Path>) -> Output {
        let mut command = Command::new(root().join("deploy/release/install.sh"));
        command.args(["--from", from, "--prefix"]);
        command.arg(self.prefix.path());
        if let Some(authority) = authority {
            command.env("CURL_CA_BUNDLE", authority);
        }
        command.output().expect("sh")
    }

    fn install_from_folder(&self) -> Output {
        self.install(self.folder.path().to_str().expect("UTF-8"), None)
    }

    /// The installation succeeds, and the installed executable runs.
    fn assert_installed(&self, output: &Output) {
        assert!(output.status.success(), "{output:?}");
        let executable = self.prefix.path().join("bin/kindsight");
        let run = Command::new(executable).output().expect("an executable");
        assert_eq!(run.stdout, b"kindsight of a test\n");
        for (file, part) in [
            ("man/man1/kindsight.1", ".TH kindsight 1"),
            ("man/man1/kindsight-status.1", ".TH kindsight-status 1"),
            ("bash-completion/completions/kindsight", "complete -F"),
            ("zsh/site-functions/_kindsight", "#compdef kindsight"),
            (
                "fish/vendor_completions.d/kindsight.fish",
                "complete -c kindsight",
            ),
        ] {
            let file = self.prefix.path().join("share").join(file);
            let text = fs::read_to_string(&file).expect("an installed file");
            assert!(text.contains(part), "{}: {text}", file.display());
        }
        for (folder, count) in [
            ("bin", 1),
            ("share/kindsight", 1),
            ("share/kindsight/catalogue", 1),
        ] {
            let files = fs::read_dir(self.prefix.path().join(folder)).expect("a folder");
            assert_eq!(files.count(), count, "{folder} has other files");
        }
    }

    /// The installation fails with this reason, and installs no file.
    fn assert_refused(&self, output: &Output, reason: &str) {
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(reason), "{text}");
        let installed = fs::read_dir(self.prefix.path()).expect("a folder");
        assert_eq!(installed.count(), 0);
    }
}

/// A folder in place of a catalogue. `install.sh` does not read its files.
fn catalogue(folder: &Path) -> PathBuf {
    let catalogue = folder.join("catalogue");
    fs::create_dir(&catalogue).expect("a folder");
    fs::write(catalogue.join("index.json"), "{}").expect("a file");
    catalogue
}

/// A server of a release on loopback, killed when it is dropped.
struct HttpsServer {
    child: Child,
    url: String,
    /// The file of the authority that signed its certificate.
    authority: PathBuf,
    _files: TempDir,
}

impl HttpsServer {
    fn start(folder: &Path) -> Self {
        let authority = Authority::new("release");
        let identity = authority.server(None);
        let files = TempDir::new().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = files.path().join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        let mut command = Command::new("python3");
        command.args(["-c", HTTPS_SERVER]).arg(folder);
        command.arg(file("server.crt", &identity.certificate));
        command.arg(file("server.key", &identity.key));
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("python3");
        let mut port = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut port).expect("a port");
        Self {
            child,
            url: format!("https://127.0.0.1:{}", port.trim()),
            authority: file("authority.crt", authority.certificate()),
            _files: files,
        }
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        // Both fail if it ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether `curl` is installed. If not, one line says so, and with `CI=true` the test fails.
fn has_curl() -> bool {
    if Command::new("curl").arg("--version").output().is_ok() {
        return true;
    }
    let line = "the tests of install.sh over HTTPS did not run: they need curl";
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{line}");
    let _ = writeln!(stderr(), "{line}");
    false
}

#[test]
fn install_sh_installs_from_a_folder_also_over_an_earlier_version() {
    let release = Release::new();
    release.assert_installed(&release.install_from_folder());
    let installed = release.prefix.path().join("bin/kindsight");
    fs::write(installed, "an earlier version").expect("a file");
    release.assert_installed(&release.install_from_folder());
}

#[test]
fn install_sh_refuses_an_archive_with_another_digest() {
    let release = Release::new();
    let mut archive = fs::OpenOptions::new();
    let archive = archive.append(true).open(&release.archive);
    archive
        .expect("the archive")
        .write_all(b"x")
        .expect("a byte");
    let output = release.install_from_folder();
    release.assert_refused(&output, "nothing was installed");
}

#[test]
fn install_sh_refuses_an_archive_without_a_digest() {
    let release = Release::new();
    let sums = release.folder.path().join("SHA256SUMS");
    fs::write(&sums, "").expect("a file");
    let output = release.install_from_folder();
    release.assert_refused(&output, "SHA256SUMS has no line for");
    fs::remove_file(sums).expect("a file");
    let output = release.install_from_folder();
    release.assert_refused(&output, "has no file SHA256SUMS");
}

#[test]
fn install_sh_installs_over_https_from_a_trusted_server_alone() {
    if !has_curl() {
        return;
    }
    let release = Release::new();
    let server = HttpsServer::start(release.folder.path());
    let other = HttpsServer::start(release.folder.path());
    let untrusted = release.install(&server.url, Some(&other.authority));
    release.assert_refused(&untrusted, "cannot be downloaded");
    let plain = release.install(&server.url.replace("https:", "http:"), None);
    release.assert_refused(&plain, "it must be a folder or an https URL");
    let output = release.install(&server.url, Some(&server.authority));
    release.assert_installed(&output);
}
