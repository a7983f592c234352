//! The image: packed by `deploy/image/pack`, verified, and unpacked.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use kindsight_cluster::{Client, Container, Credentials, Image, Mount};
use tempfile::TempDir;

/// Time for the start of a build without optimizations.
const PATIENCE: Duration = Duration::from_mins(3);

/// The image of `KINDSIGHT_EXECUTABLE`, or of the executable of this build. The latter is dynamic, so the image also has
/// its libraries.
pub(crate) fn unpacked() -> &'static Image {
    static IMAGE: OnceLock<Image> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("image");
        let executable = Path::new(env!("CARGO_BIN_EXE_kindsight"));
        let image = Image::of_environment(&folder);
        image.unwrap_or_else(|| Image::with_libraries(&folder, executable))
    })
}

#[test]
fn pack_refuses_files_that_cannot_run_in_the_image() {
    let folder = TempDir::new().expect("a folder");
    let image = folder.path().join("image");
    let image = image.to_str().expect("a UTF-8 path");
    let refused = |arguments: &[&str], reason: &str| {
        let output = Image::pack(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(reason), "{text}");
    };
    let executable = env!("CARGO_BIN_EXE_kindsight");
    refused(&[image, executable], "is a dynamic executable");
    refused(&[image, "/etc/passwd"], "is not a 64-bit executable");
    refused(
        &[
            "--with-libraries",
            "--catalogue",
            "/etc",
            image,
            "/bin/true",
        ],
        "/etc is not a catalogue",
    );
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
        let output = Image::pack(&[
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
    if !Container::can_start() {
        return;
    }
    let image = unpacked();
    assert_eq!(image.config["config"]["User"], "65532:65532");
    let own = ["data/", "kindsight", "tmp/"];
    let is_own = |path: &String| own.contains(&path.as_str());
    // A static executable needs no other file.
    let others = image.paths.iter().filter(|path| !is_own(path)).count();
    assert_eq!(image.paths.len() - others, own.len(), "{:?}", image.paths);
    assert_eq!(others == 0, image.is_static, "{:?}", image.paths);
    let data = TempDir::new().expect("a folder");
    let container = Container::start(
        image,
        &[Mount::volume(data.path(), "/data")],
        &[],
        &["serve", "--listen", "127.0.0.1:0"],
    );
    let url = format!("http://{}", container.address());
    let client = Client::new(&url, None, &Credentials::Nobody);
    client.wait_for_status("/readyz", 200, PATIENCE);
    assert_eq!(container.users(), ["65532"; 4]);
    assert_eq!(container.create_file("/file"), Err("Read-only file system"));
    assert_eq!(container.create_file("/tmp/file"), Ok(()));
    let written = fs::read_dir(data.path().join("kindsight")).expect("the data of the server");
    assert!(written.count() > 0);
    assert!(container.stop());
}
