//! The image: packed by `deploy/image/pack`, verified, and unpacked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

use kindsight_cluster::{Client, Credentials};
use serde_json::Value;
use tempfile::TempDir;

use crate::pod::{Mount, Pod, can_start};
use crate::root;

/// Time for the start of a build without optimizations.
const PATIENCE: Duration = Duration::from_mins(3);

/// A packed and unpacked image.
#[derive(Debug)]
pub(crate) struct Image {
    /// The configuration of the image.
    pub(crate) config: Value,
    /// The folder with the files of the image.
    pub(crate) files: PathBuf,
}

impl Image {
    /// The image of `KINDSIGHT_EXECUTABLE`, or of the executable of this build. The latter is dynamic, so the image
    /// also has its libraries.
    pub(crate) fn unpacked() -> &'static Self {
        static IMAGE: OnceLock<Image> = OnceLock::new();
        IMAGE.get_or_init(|| {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("image");
            // The folder is left over from an earlier run, or does not exist.
            let _ = fs::remove_dir_all(&folder);
            let (layout, files) = (folder.join("layout"), folder.join("files"));
            fs::create_dir_all(&files).expect("a folder");
            let open = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&files, open).expect("permissions of a root folder");
            let executable = std::env::var("KINDSIGHT_EXECUTABLE");
            let layout_text = layout.to_str().expect("a UTF-8 path");
            let packed = match &executable {
                Ok(executable) => pack(&[layout_text, executable]),
                Err(_) => pack(&[
                    "--uncompressed",
                    "--with-libraries",
                    layout_text,
                    env!("CARGO_BIN_EXE_kindsight"),
                ]),
            };
            assert!(packed.status.success(), "{packed:?}");
            let index = json(&layout.join("index.json"));
            let manifest = json(&blob(&layout, &index["manifests"][0]));
            let config = json(&blob(&layout, &manifest["config"]));
            let layer = blob(&layout, &manifest["layers"][0]);
            let mut tar = Command::new("tar");
            tar.arg("--extract").arg("--file").arg(layer);
            let status = tar.arg("--directory").arg(&files).status();
            assert!(status.expect("tar").success());
            Self { config, files }
        })
    }
}

fn pack(arguments: &[&str]) -> Output {
    let mut command = Command::new(root().join("deploy/image/pack"));
    command.args(arguments).output().expect("pack")
}

fn json(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("a file of the layout");
    serde_json::from_str(&text).expect("JSON")
}

/// The file of a descriptor, with the size and the digest that the descriptor says.
fn blob(layout: &Path, descriptor: &Value) -> PathBuf {
    let digest = descriptor["digest"].as_str().expect("a digest");
    let digest = digest.strip_prefix("sha256:").expect("SHA-256");
    let file = layout.join("blobs/sha256").join(digest);
    let size = fs::metadata(&file).expect("a blob").len();
    assert_eq!(descriptor["size"], size);
    let sum = Command::new("sha256sum").arg(&file).output();
    let sum = String::from_utf8(sum.expect("sha256sum").stdout).expect("UTF-8");
    assert!(sum.starts_with(digest), "{sum}");
    file
}

#[test]
fn pack_refuses_files_that_cannot_run_in_the_image() {
    let folder = TempDir::new().expect("a folder");
    let image = folder.path().join("image");
    let image = image.to_str().expect("a UTF-8 path");
    let refused = |arguments: &[&str], reason: &str| {
        let output = pack(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(reason), "{text}");
    };
    let executable = env!("CARGO_BIN_EXE_kindsight");
    refused(&[image, executable], "is a dynamic executable");
    refused(&[image, "/etc/passwd"], "is not a 64-bit executable");
    refused(
        &[executable],
        "give either the folder IMAGE or `--layer FILE`",
    );
}

#[test]
fn the_same_executable_makes_the_same_image() {
    let folder = TempDir::new().expect("a folder");
    let digests = ["a", "b"].map(|name| {
        let image = folder.path().join(name);
        // A small executable with libraries.
        let output = pack(&[
            "--with-libraries",
            image.to_str().expect("a UTF-8 path"),
            "/bin/true",
        ]);
        assert!(output.status.success(), "{output:?}");
        fs::read(image.join("index.json")).expect("the index")
    });
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn the_image_starts_as_another_user_with_a_read_only_root() {
    if !can_start() {
        return;
    }
    let image = Image::unpacked();
    assert_eq!(image.config["config"]["User"], "65532:65532");
    let data = TempDir::new().expect("a folder");
    let pod = Pod::start(
        image,
        &[Mount::volume(data.path(), "/data")],
        &[],
        &["serve", "--listen", "127.0.0.1:0"],
    );
    let client = Client::new(&pod.url("http"), None, &Credentials::Nobody);
    client.wait_for_status("/readyz", 200, PATIENCE);
    assert_eq!(pod.users(), ["65532"; 4]);
    assert_eq!(pod.create_file("/file"), Err("Read-only file system"));
    assert_eq!(pod.create_file("/tmp/file"), Ok(()));
    let written = fs::read_dir(data.path().join("kindsight")).expect("the data of the server");
    assert!(written.count() > 0);
    assert!(pod.stop());
}
