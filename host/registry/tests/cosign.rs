//! Signatures that cosign 2 and cosign 3 made, and altered copies of them.
#![expect(clippy::unwrap_used, reason = "a test fails with a panic")]

use std::fs;
use std::path::{Path, PathBuf};

use kindsight_model::Digest;
use kindsight_registry::{
    Client, ClientOptions, Error, PublicKey, Reference, SigningKey, Version, pull, sign, verify,
};
use tempfile::TempDir;

const CREATED: &str = "2026-11-27T00:00:00Z";
const BYTES_MAX: usize = 1024;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn cosign_key() -> PublicKey {
    PublicKey::read(&fixtures().join("cosign.pub")).unwrap()
}

fn client() -> Client {
    Client::new(ClientOptions::default()).unwrap()
}

fn tag(tag: &str) -> Version {
    Version::Tag(tag.to_owned())
}

/// A copy of a fixture that a test may alter.
fn copied(name: &str) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(&fixtures().join(name), copy.path());
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The digest of the artifact in every fixture.
fn artifact(layout: &Path) -> Digest {
    let repository = client().open(&Reference::of_layout(layout)).unwrap();
    repository.digest(&tag("1")).unwrap()
}

fn verified(layout: &Path, keys: &[PublicKey]) -> Result<String, String> {
    let repository = client().open(&Reference::of_layout(layout)).unwrap();
    let signed = verify(&repository, &artifact(layout), keys);
    signed
        .map(|signed| signed.form.to_owned())
        .map_err(|error| {
            assert!(matches!(error, Error::NotSigned { .. }), "{error}");
            error.to_string()
        })
}

/// Writes a new key, and returns its file.
fn new_key(folder: &Path, is_ed25519: bool) -> PathBuf {
    use base64::Engine as _;
    let random = ring::rand::SystemRandom::new();
    let algorithm = &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = if is_ed25519 {
        ring::signature::Ed25519KeyPair::generate_pkcs8(&random)
    } else {
        ring::signature::EcdsaKeyPair::generate_pkcs8(algorithm, &random)
    };
    let base64 = base64::prelude::BASE64_STANDARD.encode(document.unwrap());
    let file = folder.join("test.key");
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
    fs::write(&file, pem).unwrap();
    file
}

/// Replaces a blob that contains a text by a changed one, and every digest of it by the new one.
fn alter(layout: &Path, contains: &str, change: &dyn Fn(&str) -> String) {
    let blobs = layout.join("blobs/sha256");
    let texts = fs::read_dir(&blobs).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        Some((path.clone(), fs::read_to_string(path).ok()?))
    });
    let (path, text) = texts
        .into_iter()
        .find(|(_, text)| text.contains(contains))
        .expect("a blob with this text");
    let changed = change(&text);
    assert_ne!(changed, text);
    let old = path.file_name().unwrap().to_str().unwrap().to_owned();
    let new = Digest::of(changed.as_bytes());
    let new = new.as_str().trim_start_matches("sha256:").to_owned();
    fs::remove_file(&path).unwrap();
    fs::write(blobs.join(&new), &changed).unwrap();
    let index = layout.join("index.json");
    let text = fs::read_to_string(&index).unwrap();
    fs::write(
        &index,
        text.replace(&format!("sha256:{old}"), &format!("sha256:{new}")),
    )
    .unwrap();
    // The documents that refer to it. A signed text keeps the digest that was signed.
    let (old, new) = (format!("\"sha256:{old}\""), format!("\"sha256:{new}\""));
    let referring = || {
        let entries = fs::read_dir(&blobs).unwrap();
        let mut texts = entries.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
        texts.find(|text| text.contains(&old) && !text.contains("\"critical\""))
    };
    while let Some(text) = referring() {
        alter(layout, &text, &|text| text.replace(&old, &new));
    }
}

#[test]
fn a_signature_of_cosign_2_is_valid() {
    let layout = fixtures().join("cosign-v2");
    assert_eq!(
        verified(&layout, &[cosign_key()]),
        Ok("`.sig` tag".to_owned())
    );
}

#[test]
fn a_bundle_of_cosign_3_is_valid() {
    let layout = fixtures().join("cosign-v3");
    assert_eq!(verified(&layout, &[cosign_key()]), Ok("bundle".to_owned()));
}

#[test]
fn a_pull_requires_a_signature_if_there_are_keys() {
    let reference = Reference::of_layout(&fixtures().join("cosign-v3"));
    let repository = client().open(&reference).unwrap();
    let version = repository.version(&reference).unwrap();
    let pulled = pull(&repository, &version, &[cosign_key()], BYTES_MAX).unwrap();
    assert_eq!(pulled.component, b"\0asm\x0d\0\x01\0");
    assert_eq!(pulled.signed.unwrap().form, "bundle");

    let folder = tempfile::tempdir().unwrap();
    let other = SigningKey::read(&new_key(folder.path(), false)).unwrap();
    let refused = pull(&repository, &version, &[other.public()], BYTES_MAX);
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("it was not made with this key"), "{error}");
}

#[test]
fn another_key_verifies_neither_form() {
    let folder = tempfile::tempdir().unwrap();
    for is_ed25519 in [false, true] {
        let other = SigningKey::read(&new_key(folder.path(), is_ed25519)).unwrap();
        for fixture in ["cosign-v2", "cosign-v3"] {
            let error = verified(&fixtures().join(fixture), &[other.public()]).unwrap_err();
            assert!(
                error.contains("of its one signature: it was not made with this key"),
                "{error}"
            );
            let keys = [other.public(), cosign_key()];
            verified(&fixtures().join(fixture), &keys).expect("one of the keys suffices");
        }
    }
}

#[test]
fn an_attestation_approves_nothing() {
    let error = verified(&fixtures().join("cosign-v3-attestation"), &[cosign_key()]).unwrap_err();
    assert!(
        error.contains("it is a statement about the artifact, not a signature"),
        "{error}"
    );
}

#[test]
fn an_artifact_without_a_signature_is_refused() {
    let layout = copied("cosign-v2");
    let index = layout.path().join("index.json");
    let text = fs::read_to_string(&index).unwrap();
    fs::write(&index, text.replace(".sig", ".other")).unwrap();
    let error = verified(layout.path(), &[cosign_key()]).unwrap_err();
    assert!(error.contains("no signature was found"), "{error}");
}

#[test]
fn an_altered_text_of_cosign_2_is_refused() {
    let layout = copied("cosign-v2");
    alter(layout.path(), "container image signature\"}", &|text| {
        text.replace("localhost:5077", "registry.io")
    });
    let error = verified(layout.path(), &[cosign_key()]).unwrap_err();
    assert!(error.contains("or it was altered"), "{error}");
}

#[test]
fn an_altered_envelope_of_cosign_3_is_refused() {
    let layout = copied("cosign-v3");
    // Base64 of `"annotations":{}` in the statement.
    alter(layout.path(), "dsseEnvelope", &|text| {
        text.replace("\"payload\":\"eyJf", "\"payload\":\"eyBf")
    });
    let error = verified(layout.path(), &[cosign_key()]).unwrap_err();
    assert!(error.contains("or it was altered"), "{error}");
}

#[test]
fn a_keyless_signature_is_refused_with_advice() {
    let layout = copied("cosign-v3");
    alter(layout.path(), "dsseEnvelope", &|text| {
        text.replace("\"publicKey\":", "\"certificate\":{},\"publicKey\":")
    });
    let error = verified(layout.path(), &[cosign_key()]).unwrap_err();
    assert!(error.contains("it is keyless"), "{error}");
}

#[test]
fn a_signature_of_another_artifact_is_refused() {
    for fixture in ["cosign-v2", "cosign-v3"] {
        let layout = copied(fixture);
        let old = artifact(layout.path());
        // Another manifest under the same tag, with the signatures of the first one.
        alter(layout.path(), "\"application/wasm\"", &|text| {
            text.replacen('{', "{ ", 1)
        });
        let new = artifact(layout.path());
        let index = layout.path().join("index.json");
        let text = fs::read_to_string(&index).unwrap();
        let tag = |digest: &Digest| digest.as_str().replace(':', "-");
        fs::write(&index, text.replace(&tag(&old), &tag(&new))).unwrap();
        let error = verified(layout.path(), &[cosign_key()]).unwrap_err();
        assert!(
            error.contains("it signs another artifact"),
            "{fixture}: {error}"
        );
    }
}

#[test]
fn kindsight_signs_in_both_forms() {
    for is_ed25519 in [false, true] {
        let layout = copied("cosign-v2");
        let key = SigningKey::read(&new_key(layout.path(), is_ed25519)).unwrap();
        let repository = client().open(&Reference::of_layout(layout.path())).unwrap();
        sign(&repository, &tag("1"), &key, CREATED).unwrap();
        // Beside the signature of cosign, which remains.
        assert_eq!(
            verified(layout.path(), &[key.public()]),
            Ok("`.sig` tag".to_owned())
        );
        verified(layout.path(), &[cosign_key()]).unwrap();

        let index = layout.path().join("index.json");
        let text = fs::read_to_string(&index).unwrap();
        fs::write(&index, text.replace(".sig", ".other")).unwrap();
        assert_eq!(
            verified(layout.path(), &[key.public()]),
            Ok("bundle".to_owned())
        );
    }
}

#[test]
fn a_file_that_is_no_usable_key_is_named_with_the_correct_form() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    for (pem, why) in [
        ("", "-----BEGIN PRIVATE KEY-----"),
        (
            "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n",
            "it is encrypted",
        ),
        (
            "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
            "openssl pkcs8 -topk8",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "ECDSA P-256 or Ed25519",
        ),
    ] {
        fs::write(&file, pem).unwrap();
        let error = SigningKey::read(&file).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    }
    let error = PublicKey::read(&new_key(folder.path(), false)).unwrap_err();
    assert!(error.to_string().contains("-----BEGIN PUBLIC KEY-----"));
    let missing = PublicKey::read(Path::new("/no/such.pub")).unwrap_err();
    assert!(missing.to_string().contains("/no/such.pub cannot be read"));
}
