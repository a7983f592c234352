//! Pushes and pulls against a real registry: `docker-registry` of Debian, which is the registry of
//! the distribution project. Without it, one line says that these tests did not run; with `CI=true`
//! they fail.
#![expect(clippy::unwrap_used, reason = "a test fails with a panic")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kindsight_cluster::{OciRegistry, RegistryAccess};
use kindsight_model::Digest;
use kindsight_registry::{
    Annotations, Client, ClientOptions, DockerConfig, Error, Layout, PublicKey, Reference,
    Repository, SigningKey, Version, component_digest, copy, copy_manifest, keep_with_manifests,
    pull, push, sign, verify,
};

const CREATED: &str = "2026-11-27T00:00:00Z";
/// A component without imports and exports.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const BYTES_MAX: usize = 1024;

fn client() -> Client {
    Client::new(ClientOptions::default()).unwrap()
}

fn tag(tag: &str) -> Version {
    Version::Tag(tag.to_owned())
}

fn reference(registry: &OciRegistry, path: &str) -> Reference {
    registry.reference(path).parse().unwrap()
}

/// Writes a new private key (ECDSA P-256), and returns its file.
fn signing_key(folder: &Path) -> PathBuf {
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

/// A component with other content: a custom section with this name.
fn component(name: &str) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    let mut bytes = COMPONENT.to_vec();
    bytes.extend([0, length + 1, length]);
    bytes.extend(name.as_bytes());
    bytes
}

fn pushed(repository: &Repository, version: &str, component: &[u8]) -> Digest {
    let annotations = Annotations::from([(
        "org.opencontainers.image.title".to_owned(),
        "rules".to_owned(),
    )]);
    let pushed = push(repository, &tag(version), component, CREATED, annotations);
    pushed.unwrap().digest
}

#[test]
fn a_pushed_component_is_pulled_unchanged() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let repository = client()
        .open(&reference(&registry, "team/rules:1"))
        .unwrap();
    let digest = pushed(&repository, "1", &component("one"));
    for version in [tag("1"), Version::Digest(digest.clone())] {
        let pulled = pull(&repository, &version, &[], BYTES_MAX).unwrap();
        assert_eq!(pulled.component, component("one"));
        assert_eq!(pulled.digest, digest);
        assert_eq!(
            pulled.annotations["org.opencontainers.image.created"],
            CREATED
        );
    }
    assert_eq!(repository.digest(&tag("1")).unwrap(), digest);
    // The same content again has the same digest.
    assert_eq!(pushed(&repository, "1", &component("one")), digest);
    // A moved tag.
    let moved = pushed(&repository, "1", &component("two"));
    assert_ne!(moved, digest);
    assert_eq!(repository.digest(&tag("1")).unwrap(), moved);
}

#[test]
fn a_missing_version_is_named() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let reference = reference(&registry, "team/rules:1");
    let repository = client().open(&reference).unwrap();
    let error = pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    assert_eq!(error.to_string(), format!("{reference} does not exist"));
}

#[test]
fn bytes_that_are_no_component_are_not_pushed() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let repository = client()
        .open(&reference(&registry, "team/rules:1"))
        .unwrap();
    for (bytes, why) in [
        (&b"text"[..], "not a WebAssembly component"),
        (&b"\0asm\x01\0\0\0"[..], "it is a core module"),
    ] {
        let error = push(&repository, &tag("1"), bytes, CREATED, Annotations::new()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn an_artifact_of_another_sort_is_refused_with_its_media_type() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let repository = client()
        .open(&reference(&registry, "team/rules:1"))
        .unwrap();
    let digest = pushed(&repository, "1", COMPONENT);
    let key = signing_key(registry.folder());
    sign(
        &repository,
        &tag("1"),
        &SigningKey::read(&key).unwrap(),
        CREATED,
    )
    .unwrap();
    let signatures = format!("{}.sig", digest.as_str().replace(':', "-"));
    let error = pull(&repository, &tag(&signatures), &[], BYTES_MAX).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("its config is `application/vnd.oci.image.config.v1+json`; expected a manifest with the config `application/vnd.wasm.config.v0+json` and one layer `application/wasm`"), "{error}");
    let referrers = tag(&digest.as_str().replace(':', "-"));
    let error = pull(&repository, &referrers, &[], BYTES_MAX).unwrap_err();
    assert!(error.to_string().contains("it is an index"), "{error}");
}

#[test]
fn a_component_over_the_limit_is_refused_before_it_is_downloaded() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let repository = client()
        .open(&reference(&registry, "team/rules:1"))
        .unwrap();
    pushed(&repository, "1", COMPONENT);
    let error = pull(&repository, &tag("1"), &[], 7)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("more than 7 bytes, the limit of --component-bytes-max"),
        "{error}"
    );
}

#[test]
fn an_altered_blob_is_refused() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let repository = client()
        .open(&reference(&registry, "team/rules:1"))
        .unwrap();
    let digest = pushed(&repository, "1", COMPONENT);
    let altered: Vec<u8> = COMPONENT.iter().rev().copied().collect();
    registry.alter(Digest::of(COMPONENT).as_str(), &altered);
    let error = pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::DigestMismatch { .. }), "{error}");
    // A manifest that is requested by its digest.
    registry.alter(digest.as_str(), b"{\"schemaVersion\":2}");
    let pinned = Version::Digest(digest);
    let error = pull(&repository, &pinned, &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::DigestMismatch { .. }), "{error}");
}

#[test]
fn a_registry_that_is_away_is_a_transient_failure() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let reference = format!("oci://127.0.0.1:{port}/team/rules:1");
    let repository = client().open(&reference.parse().unwrap()).unwrap();
    let error = pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(error.is_transient());
}

#[test]
fn a_registry_that_does_not_answer_is_left_after_the_time_limit() {
    let Some(mut registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let options = ClientOptions {
        request_time_max: Duration::from_secs(1),
        ..ClientOptions::default()
    };
    let reference = reference(&registry, "team/rules:1");
    let repository = Client::new(options).unwrap().open(&reference).unwrap();
    pushed(&repository, "1", COMPONENT);
    registry.pause();
    let began = Instant::now();
    let error = pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    assert!(
        error.to_string().contains("did not answer within 1 s"),
        "{error}"
    );
    assert!(error.is_transient());
    assert!(began.elapsed() < Duration::from_secs(10));
    registry.resume();
    pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap();
}

#[test]
fn a_registry_with_a_login_needs_the_credentials_of_docker() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Login) else {
        return;
    };
    let reference = reference(&registry, "team/rules:1");
    let with = |config: &str| {
        let path = registry.folder().join("config.json");
        fs::write(&path, config).unwrap();
        let options = ClientOptions {
            docker: DockerConfig::at(&path),
            ..ClientOptions::default()
        };
        Client::new(options).unwrap().open(&reference).unwrap()
    };
    let host = registry.host();
    let error = pull(&with("{}"), &tag("1"), &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::NoCredentials { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains(&format!("`docker login {host}`")),
        "{error}"
    );

    let wrong = format!(r#"{{"auths":{{"{host}":{{"username":"me","password":"wrong"}}}}}}"#);
    let error = pull(&with(&wrong), &tag("1"), &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("refused the credentials of `me`"),
        "{error}"
    );
    assert!(!error.to_string().contains("wrong"), "{error}");

    // `me:secret`
    let right = format!(r#"{{"auths":{{"{host}":{{"auth":"bWU6c2VjcmV0"}}}}}}"#);
    let repository = with(&right);
    pushed(&repository, "1", COMPONENT);
    let pulled = pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap();
    assert_eq!(pulled.component, COMPONENT);
}

#[test]
fn a_certificate_that_is_not_trusted_is_named() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Tls) else {
        return;
    };
    let reference = reference(&registry, "team/rules:1");
    let repository = client().open(&reference).unwrap();
    let error = pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::Tls { .. }), "{error}");
    assert!(
        error.to_string().contains("`--registry-ca FILE`"),
        "{error}"
    );

    let options = ClientOptions {
        ca: Some(registry.folder().join("ca.pem")),
        ..ClientOptions::default()
    };
    let repository = Client::new(options).unwrap().open(&reference).unwrap();
    pushed(&repository, "1", COMPONENT);
    pull(&repository, &tag("1"), &[], BYTES_MAX).unwrap();
}

#[test]
fn signatures_of_a_registry_are_verified() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let repository = client()
        .open(&reference(&registry, "team/rules:1"))
        .unwrap();
    pushed(&repository, "1", COMPONENT);
    let key = SigningKey::read(&signing_key(registry.folder())).unwrap();
    let keys = [key.public()];
    let error = pull(&repository, &tag("1"), &keys, BYTES_MAX).unwrap_err();
    assert!(
        error.to_string().contains("no signature was found"),
        "{error}"
    );
    sign(&repository, &tag("1"), &key, CREATED).unwrap();
    // A second signature, also by fallback tag.
    sign(&repository, &tag("1"), &key, CREATED).unwrap();
    let pulled = pull(&repository, &tag("1"), &keys, BYTES_MAX).unwrap();
    assert_eq!(pulled.signed.unwrap().form, "`.sig` tag");
}

#[test]
fn an_artifact_crosses_an_air_gap_with_its_signatures() {
    let Some(registry) = OciRegistry::or_skip(RegistryAccess::Open) else {
        return;
    };
    let repository = client()
        .open(&reference(&registry, "team/rules:1"))
        .unwrap();
    let digest = pushed(&repository, "1", COMPONENT);
    let key = SigningKey::read(&signing_key(registry.folder())).unwrap();
    sign(&repository, &tag("1"), &key, CREATED).unwrap();
    let keys: [PublicKey; 1] = [key.public()];

    let folder = registry.folder().join("carried");
    let layout = Reference::of_layout(&folder);
    let carried = client().create(&layout).unwrap();
    let copied = copy(&repository, &tag("1"), &carried, &tag("1"), BYTES_MAX).unwrap();
    assert_eq!(copied, digest);
    assert_eq!(Layout::open(&folder).unwrap().tags().unwrap(), ["1"]);
    let version = carried.version(&layout).unwrap();
    let pulled = pull(&carried, &version, &keys, BYTES_MAX).unwrap();
    assert_eq!(pulled.component, COMPONENT);

    let other = client()
        .open(&reference(&registry, "site/rules:2"))
        .unwrap();
    copy(&carried, &version, &other, &tag("2"), BYTES_MAX).unwrap();
    pull(&other, &tag("2"), &keys, BYTES_MAX).unwrap();

    // An altered component is found at the site.
    let blobs = folder.join("blobs/sha256");
    let digits = Digest::of(COMPONENT);
    let path = blobs.join(digits.as_str().trim_start_matches("sha256:"));
    fs::write(path, b"\0asm\x0d\0\x01\x01").unwrap();
    let error = pull(&carried, &version, &keys, BYTES_MAX).unwrap_err();
    assert!(matches!(error, Error::DigestMismatch { .. }), "{error}");
}

#[test]
fn a_manifest_is_verified_without_its_component() {
    let folder = tempfile::tempdir().unwrap();
    let layout = |name: &str| Reference::of_layout(&folder.path().join(name));
    let from = client().create(&layout("from")).unwrap();
    let to = client().create(&layout("to")).unwrap();
    let key = SigningKey::read(&signing_key(folder.path())).unwrap();
    for name in ["one", "two", "three", "four"] {
        pushed(&from, name, &component(name));
        sign(&from, &tag(name), &key, CREATED).unwrap();
    }
    for name in ["one", "two", "three"] {
        copy(&from, &tag(name), &to, &tag(name), BYTES_MAX).unwrap();
    }
    copy_manifest(&from, &tag("four"), &to, &tag("four")).unwrap();
    let manifests = ["two".to_owned(), "four".to_owned()];
    keep_with_manifests(&to, &["one"], &manifests).unwrap();
    let tags = Layout::open(&folder.path().join("to")).unwrap().tags();
    assert_eq!(tags.unwrap(), ["one", "two", "four"]);

    let keys = [key.public()];
    let pulled = pull(&to, &tag("one"), &keys, BYTES_MAX).unwrap();
    assert_eq!(pulled.component, component("one"));
    for name in manifests {
        let digest = to.digest(&tag(&name)).unwrap();
        verify(&to, &digest, &keys).unwrap();
        let of_component = component_digest(&to, &tag(&name)).unwrap();
        assert_eq!(of_component, Digest::of(&component(&name)));
        let error = pull(&to, &tag(&name), &keys, BYTES_MAX).unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
    }
}

#[test]
fn a_folder_with_other_files_is_not_made_a_layout() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let error = Layout::create(folder.path()).unwrap_err().to_string();
    assert!(error.contains("name an empty or a new folder"), "{error}");
    let error = Layout::open(Path::new("/no/such/folder")).unwrap_err();
    assert!(
        error.to_string().contains("no file `oci-layout`"),
        "{error}"
    );
}
