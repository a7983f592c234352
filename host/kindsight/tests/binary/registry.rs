//! Interpreters from an OCI registry and from layout folders: `plugin push`, `pull`, `sign` and `verify`, and `serve`
//! with a real registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kindsight_cluster::{OciRegistry, RegistryAccess};
use serde_json::Value;

use crate::interpreters::stage::{
    Stage, crane, judged, version, wait_for, wait_for_generic, wait_until,
};
use crate::process::{Server, run, text};

/// A stage, a registry, and the files of this test.
struct Port {
    stage: Stage,
    registry: OciRegistry,
}

impl Port {
    fn new() -> Option<Self> {
        let registry = OciRegistry::or_skip(RegistryAccess::Open)?;
        Some(Self {
            stage: Stage::new(1),
            registry,
        })
    }

    fn reference(&self) -> String {
        self.registry.reference("port/crane:1")
    }

    /// Starts a server that follows the artifact.
    fn serve(&self, more: &[&str]) -> Server {
        let reference = self.reference();
        let mut arguments = vec!["--interpreters", &reference, "--interpreters-follow", "1s"];
        arguments.extend(more);
        self.stage.serve_with(&arguments)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let file = self.registry.folder().join(name);
        fs::write(&file, bytes).unwrap();
        file.to_str().unwrap().to_owned()
    }

    fn push(&self, bytes: &[u8]) -> String {
        let output = succeed(&[
            "plugin",
            "push",
            &self.file("push.wasm", bytes),
            &self.reference(),
        ]);
        output.lines().last().unwrap().to_owned()
    }

    /// Private and public key, made by openssl.
    fn keys(&self, name: &str) -> (String, String) {
        let folder = self.registry.folder();
        let (private, public) = (format!("{name}.key"), format!("{name}.pub"));
        openssl(
            folder,
            &[
                "genpkey",
                "-algorithm",
                "EC",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-out",
                &private,
            ],
        );
        openssl(
            folder,
            &["pkey", "-in", &private, "-pubout", "-out", &public],
        );
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        (path(&private), path(&public))
    }

    fn sign(&self, key: &str) {
        succeed(&["plugin", "sign", &self.reference(), "--key", key]);
    }
}

fn openssl(folder: &Path, arguments: &[&str]) {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output.expect("openssl");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The output of a command that succeeds.
fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments, "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The error of a command that fails.
fn fail(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = run(arguments, "");
    assert_eq!(status.code(), Some(1), "{arguments:?}");
    text(&stderr)
}

/// The reasons of refusals in the list of interpreters.
fn refusals(server: &Server) -> Vec<String> {
    let list = server.get("/v2/interpreters").1;
    let refused = list["refused"].as_array().cloned().unwrap_or_default();
    let why = |one: &Value| format!("{}: {}", one["file"], one["why"]);
    refused.iter().map(why).collect()
}

fn wait_for_refusal(server: &Server, text: &str) {
    wait_until(text, || {
        refusals(server)
            .iter()
            .any(|refusal| refusal.contains(text))
    });
    assert_eq!(server.get("/readyz").0, 200);
}

#[test]
fn a_tag_is_followed_and_the_last_good_version_is_kept() {
    let Some(mut port) = Port::new() else { return };
    let server = port.serve(&[]);
    wait_for_generic(&server);
    wait_for_refusal(&server, "does not exist");
    port.push(crane());
    wait_for(&server, crane());
    let listed = server.get("/v2/interpreters/crane").1;
    assert_eq!(listed["source"], "registry", "{listed}");

    // The tag moves.
    let second = version(2);
    port.push(&second);
    wait_for(&server, &second);

    // A broken version: its fixture promises another state. It is pushed by a client that does not check.
    let broken = kindsight_tests::hostile(
        r#"{"name":"crane","version":"3.0.0","kinds":[["example.com","*","Crane"]],"states":["Parked","Ready"],"fixtures":[["wrong","{\"apiVersion\":\"example.com/v1\",\"kind\":\"Crane\",\"spec\":{\"do\":\"undeclared-state\",\"text\":\"Parked\"}}","Ready"]]}"#,
    );
    let refused = fail(&[
        "plugin",
        "push",
        &port.file("broken.wasm", &broken),
        &port.reference(),
    ]);
    assert!(refused.contains("fixture"), "{refused}");
    push_unchecked(&port, &broken);
    wait_for_refusal(&server, "fixture");
    assert_eq!(judged(&server).version, "2.0.0");

    // The registry is away, also at the next start.
    port.registry.stop();
    wait_for_refusal(&server, "cannot be reached");
    assert_eq!(judged(&server).version, "2.0.0");
    assert!(server.stop());
    let server = port.serve(&[]);
    wait_for(&server, &second);
    assert!(server.stop());

    // A new store gets the artifact from the data folder.
    fs::remove_file(port.stage.data().join("store.redb")).unwrap();
    let server = port.serve(&[]);
    wait_until("the stored artifact", || {
        server.get("/v2/interpreters/crane").1["version"] == "2.0.0"
    });

    port.registry.start_again();
    let fourth = version(4);
    port.push(&fourth);
    wait_until("the tag is followed again", || {
        server.get("/v2/interpreters/crane").1["version"] == "4.0.0"
    });
    assert!(server.stop());
}

/// Pushes a component without the checks of `plugin push`: into a layout folder, whose blobs are replaced, and from
/// there to the registry.
fn push_unchecked(port: &Port, bytes: &[u8]) {
    use kindsight_server::oci::{Annotations, Client, ClientOptions, Version, push};
    let client = Client::new(ClientOptions::default()).unwrap();
    let repository = client.open(&port.reference().parse().unwrap()).unwrap();
    let tag = Version::Tag("1".to_owned());
    push(
        &repository,
        &tag,
        bytes,
        "2026-11-27T00:00:00Z",
        Annotations::new(),
    )
    .unwrap();
}

#[test]
fn a_required_signature_decides_what_goes_live() {
    let Some(port) = Port::new() else { return };
    let (private, public) = port.keys("ours");
    let (_, other) = port.keys("other");
    port.push(crane());

    // Live without a requirement, and not any more with one, although its store has it.
    let server = port.serve(&[]);
    wait_for(&server, crane());
    assert!(server.stop());
    let server = port.serve(&["--require-signature", &public]);
    wait_for_refusal(&server, "no signature was found");
    wait_for_generic(&server);

    port.sign(&private);
    wait_for(&server, crane());
    // An unsigned new version does not replace it.
    port.push(&version(2));
    wait_for_refusal(&server, "no signature was found");
    assert_eq!(judged(&server).version, "1.0.0");
    port.sign(&private);
    wait_for(&server, &version(2));
    assert!(server.stop());

    // Its signature is checked again at a start, also without the registry.
    let Port {
        stage,
        mut registry,
    } = port;
    registry.stop();
    let port = Port { stage, registry };
    let server = port.serve(&["--require-signature", &public]);
    assert_eq!(judged(&server).version, "2.0.0");
    assert!(server.stop());
    let server = port.serve(&["--require-signature", &other]);
    wait_for_generic(&server);
    assert!(server.stop());
}

#[test]
fn a_pinned_artifact_does_not_follow_its_tag() {
    let Some(port) = Port::new() else { return };
    let pinned = port.push(crane());
    port.push(&version(2));
    let folder = port
        .stage
        .serve_with(&["--interpreters", &pinned, "--interpreters-follow", "1s"]);
    wait_for(&folder, crane());
    assert!(folder.stop());
}

#[test]
fn a_layout_folder_is_pulled_served_and_pushed() {
    let Some(port) = Port::new() else { return };
    let (private, public) = port.keys("ours");
    port.push(crane());
    port.sign(&private);
    let folder: PathBuf = port.registry.folder().join("carried");
    let folder = folder.to_str().unwrap();
    succeed(&[
        "plugin",
        "pull",
        &port.reference(),
        "--layout",
        folder,
        "--require-signature",
        &public,
    ]);
    let verified = succeed(&["plugin", "verify", folder, "--key", &public]);
    assert!(verified.contains("is signed with the key"), "{verified}");

    let layout = format!("oci-layout://{folder}:1");
    let server =
        port.stage
            .serve_with(&["--interpreters", &layout, "--require-signature", &public]);
    wait_for(&server, crane());
    assert!(server.stop());

    let site = port.registry.reference("site/crane:1");
    succeed(&["plugin", "push", folder, &site]);
    let file = port.file("pulled.wasm", b"");
    succeed(&[
        "plugin",
        "pull",
        &site,
        "-o",
        &file,
        "--require-signature",
        &public,
    ]);
    assert_eq!(fs::read(&file).unwrap(), crane());
}

#[test]
fn wrong_references_are_explained() {
    let file = |arguments: &[&str]| text(&run(arguments, "").stderr);
    let error = file(&["serve", "--interpreters", "oci://ghcr.io/team/rules"]);
    assert!(error.contains("names no version: add `:TAG`"), "{error}");
    let error = file(&["serve", "--interpreters", "a", "--interpreters", "b"]);
    assert!(error.contains("names two directories, a and b"), "{error}");
    let error = file(&["plugin", "verify", "rules.wasm", "--key", "k"]);
    assert!(error.contains("a file alone is not an artifact"), "{error}");
    let error = fail(&["plugin", "pull", "oci-layout:/no/such:1", "-o", "x"]);
    assert!(error.contains("is not a folder in OCI layout"), "{error}");
}

#[test]
fn credentials_come_from_a_helper_of_docker() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Login) else {
        return;
    };
    let (folder, host) = (registry.folder(), registry.host());
    let helper = folder.join("docker-credential-test");
    let script = format!(
        "#!/bin/sh\nread -r server\n[ \"$1 $server\" = 'get {host}' ] && echo '{{\"Username\":\"me\",\"Secret\":\"secret\"}}'\n"
    );
    fs::write(&helper, script).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(r#"{{"credHelpers":{{"{host}":"test"}}}}"#);
    fs::write(folder.join("config.json"), config).unwrap();
    let component = folder.join("crane.wasm");
    fs::write(&component, crane()).unwrap();
    let reference = registry.reference("port/crane:1");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let arguments = ["plugin", "push", component.to_str().unwrap(), &reference];
    let pushed = crate::process::kindsight(&arguments)
        .env("DOCKER_CONFIG", folder)
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(pushed.status.success(), "{}", text(&pushed.stderr));

    fs::write(
        &helper,
        "#!/bin/sh\necho 'credentials not found in native keychain'; exit 1\n",
    )
    .unwrap();
    let refused = crate::process::kindsight(&arguments)
        .env("DOCKER_CONFIG", folder)
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .output()
        .unwrap();
    let error = text(&refused.stderr);
    assert!(
        error.contains(&format!("`docker login {host}` stores them")),
        "{error}"
    );
}
