//! Artifacts with required signatures: at a restart, after a rollback, and on another host over the same store. Tags that
//! move during a pull. A folder in OCI layout is the registry, and is moved away for an outage.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kindsight_catalog::{ArtifactSource, IncomingComponent, follow_artifact, forget_artifacts};
use kindsight_model::{CatalogAction, Source};
use kindsight_server::oci::{
    Annotations, Client, ClientOptions, Reference, Repository, SigningKey, Version, push, sign,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use tokio_util::sync::CancellationToken;

use crate::directory::wait_until;
use crate::{Host, component, digest, file, name, outcome_text};

/// The time of all artifacts and signatures.
const CREATED: &str = "2026-11-27T00:00:00Z";

/// A registry with the component `a` under the tag `1`, and the folders of its hosts.
struct Site {
    folder: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for key in ["ours", "other"] {
            let random = SystemRandom::new();
            let key_pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random);
            let base64 = BASE64_STANDARD.encode(key_pair.expect("a key"));
            let pem = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
            fs::write(folder.path().join(key), pem).expect("it is written");
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn key(&self, name: &str) -> SigningKey {
        SigningKey::read(&self.path(name)).expect("a key")
    }

    fn reference(&self) -> Reference {
        Reference {
            tag: Some("1".to_owned()),
            ..Reference::of_layout(&self.path("registry"))
        }
    }

    fn repository(&self) -> Repository {
        let repository = client().create(&self.reference());
        repository.expect("a folder in OCI layout")
    }

    /// Gives a version of the component the tag.
    fn push(&self, version: &str) {
        let (component, annotations) = (component("a", version), Annotations::new());
        let pushed = push(&self.repository(), &tag(), &component, CREATED, annotations);
        pushed.expect("it is pushed");
    }

    fn push_signed(&self, version: &str) {
        self.push(version);
        self.sign();
    }

    fn sign(&self) {
        let signed = sign(&self.repository(), &tag(), &self.key("ours"), CREATED);
        signed.expect("it is signed");
    }

    fn go_away(&self) {
        fs::rename(self.path("registry"), self.path("away")).expect("it is renamed");
    }

    fn come_back(&self) {
        fs::rename(self.path("away"), self.path("registry")).expect("it is renamed");
    }

    /// The artifact for a host with this data folder, which requires a signature of one of these keys.
    fn artifact(&self, data: &str, keys: &[&str]) -> ArtifactSource {
        ArtifactSource {
            rank: Source::Registry,
            client: client(),
            references: vec![self.reference()],
            keys: keys.iter().map(|key| self.key(key).public()).collect(),
            follow_every: None,
            cache: Some(self.path(data)),
            component_bytes_max: 32 * 1024 * 1024,
            replaces_built_in: false,
        }
    }
}

fn client() -> Client {
    Client::new(ClientOptions::default()).expect("a client")
}

fn tag() -> Version {
    Version::Tag("1".to_owned())
}

/// Follows the artifact until the condition holds, and finishes the look that has begun.
fn follow(host: &Host, artifact: &ArtifactSource, what: &str, is_done: impl Fn() -> bool) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let shutdown = CancellationToken::new();
    let (catalog, source) = (Arc::clone(&host.catalog), artifact.clone());
    let reference = artifact.references[0].clone();
    let following = runtime.spawn(follow_artifact(
        catalog,
        source,
        reference,
        shutdown.clone(),
    ));
    wait_until(what, is_done);
    shutdown.cancel();
    let ended = runtime.block_on(following).expect("no panic");
    ended.expect("it was followed to the end");
    // Waits for the look.
    drop(runtime);
}

/// The manifest of a version that the catalog has admitted.
fn manifest(host: &Host, version: &str) -> Version {
    let entry = host.catalog.entry(&name("a")).expect("an entry");
    let mut versions = entry.sources[&Source::Registry].versions.iter();
    let known = versions.find(|known| known.version == version);
    let manifest = known.and_then(|known| known.manifest.clone());
    Version::Digest(manifest.expect("it is recorded"))
}

/// Promotes a version of the component by its digest.
fn promote(host: &Host, version: &str) -> String {
    let component = digest(&component("a", version));
    outcome_text(&host.catalog.promote(&name("a"), Some(&component)))
}

fn is_refused(host: &Host, why: &str) -> bool {
    let refused = host.catalog.refused();
    refused.iter().any(|refused| refused.why.contains(why))
}

/// A host that has admitted two signed versions, and was rolled back to the first one.
fn rolled_back(site: &Site, artifact: &ArtifactSource) -> Host {
    let host = Host::new();
    for version in ["1.0.0", "2.0.0"] {
        site.push_signed(version);
        let expected = format!("a {version}");
        follow(&host, artifact, &expected, || host.judges("a") == expected);
    }
    let rolled_back = host.catalog.rollback(&name("a"));
    rolled_back.expect("the first version is kept");
    host
}

#[test]
fn a_rollback_remains_after_a_restart() {
    let site = Site::new();
    let artifact = site.artifact("data", &["ours"]);
    let host = rolled_back(&site, &artifact).again();
    site.go_away();
    forget_artifacts(&host.catalog, &artifact);
    assert_eq!(host.live(), ["a 1.0.0 Registry"]);
    site.come_back();
    follow(&host, &artifact, "the tag is refused", || {
        is_refused(&host, "were rolled back")
    });
    assert_eq!(host.live(), ["a 1.0.0 Registry"]);

    // The signatures of the first version are still stored, and are not of the other key.
    let host = host.again();
    forget_artifacts(&host.catalog, &artifact);
    assert_eq!(host.live(), ["a 1.0.0 Registry"]);
    let host = host.again();
    forget_artifacts(&host.catalog, &site.artifact("data", &["other"]));
    assert!(host.live().is_empty());

    // A start with the correct key uses the version again.
    let host = host.again();
    forget_artifacts(&host.catalog, &artifact);
    assert_eq!(host.live(), ["a 1.0.0 Registry"]);
}

/// The first version was admitted before the keys were configured.
#[test]
fn no_command_makes_an_unsigned_version_live() {
    let site = Site::new();
    let host = Host::new();
    let artifact = site.artifact("data", &[]);
    site.push("1.0.0");
    follow(&host, &artifact, "unsigned", || {
        host.judges("a") == "a 1.0.0"
    });
    site.push_signed("2.0.0");
    follow(&host, &artifact, "signed", || host.judges("a") == "a 2.0.0");

    let host = host.again();
    let artifact = site.artifact("data", &["ours"]);
    forget_artifacts(&host.catalog, &artifact);
    let second = digest(&component("a", "2.0.0"));
    for refused in [
        host.catalog.rollback(&name("a")),
        host.catalog.trip_breaker(&name("a"), &second, "faults"),
    ] {
        let refused = outcome_text(&refused);
        assert!(refused.contains("to roll back to"), "{refused}");
    }
    assert_eq!(
        promote(&host, "1.0.0"),
        "refused: a 1.0.0 from registry cannot be live: `--require-signature` is set, and it has no valid signature"
    );
    assert_eq!(host.live(), ["a 2.0.0 Registry"]);

    // A signature that was added later counts after the next look at the registry.
    let first = manifest(&host, "1.0.0");
    let signed = sign(&site.repository(), &first, &site.key("ours"), CREATED);
    signed.expect("it is signed");
    follow(&host, &artifact, "the first version is verified", || {
        promote(&host, "1.0.0").starts_with("Live: a 1.0.0 is live")
    });
    assert_eq!(host.live(), ["a 1.0.0 Registry"]);
}

/// The reference was not configured for a time, so the version that was promoted then belongs to no reference.
#[test]
fn a_version_without_a_reference_is_verified_at_each_start() {
    let site = Site::new();
    let host = Host::new();
    let artifact = site.artifact("data", &["ours"]);
    site.push_signed("1.0.0");
    follow(&host, &artifact, "live", || host.judges("a") == "a 1.0.0");

    let host = host.again();
    let without = ArtifactSource {
        references: Vec::new(),
        ..artifact.clone()
    };
    forget_artifacts(&host.catalog, &without);
    assert!(host.live().is_empty());
    assert_eq!(
        promote(&host, "1.0.0"),
        "refused: a 1.0.0 from registry cannot be live: `--require-signature` is set, and this server has not verified a signature of it"
    );

    let host = host.again();
    forget_artifacts(&host.catalog, &artifact);
    assert_eq!(promote(&host, "1.0.0"), "Live: a 1.0.0 is live");
    let host = host.again();
    forget_artifacts(&host.catalog, &artifact);
    assert_eq!(host.live(), ["a 1.0.0 Registry"]);
    let host = host.again();
    forget_artifacts(&host.catalog, &site.artifact("data", &["other"]));
    assert!(host.live().is_empty());
}

/// Both hosts stored the artifact before it was signed, and get the keys one after the other.
#[test]
fn a_host_with_an_unsigned_copy_does_not_affect_the_other_hosts() {
    let site = Site::new();
    let first = Host::new();
    site.push("1.0.0");
    follow(&first, &site.artifact("first", &[]), "live", || {
        first.judges("a") == "a 1.0.0"
    });
    let second = Host::over(Arc::clone(&first.store), &[]);
    follow(&second, &site.artifact("second", &[]), "stored", || {
        site.path("second").is_dir()
    });

    site.sign();
    let live = ["a 1.0.0 Registry"];
    let artifact = site.artifact("first", &["ours"]);
    forget_artifacts(&first.catalog, &artifact);
    assert!(first.live().is_empty(), "its copy has no signature");
    follow(&first, &artifact, "verified", || first.live() == live);
    let artifact = site.artifact("second", &["ours"]);
    forget_artifacts(&second.catalog, &artifact);
    assert!(second.live().is_empty(), "its copy has no signature");
    first.catalog.follow().expect("a state");
    assert_eq!(first.live(), live);
    follow(&second, &artifact, "verified", || second.live() == live);
}

/// The second host has never pulled the version to which the first host was rolled back.
#[test]
fn another_host_verifies_a_rollback_in_the_registry() {
    let site = Site::new();
    let first = rolled_back(&site, &site.artifact("first", &["ours"]));
    let second = Host::over(Arc::clone(&first.store), &[]);
    let artifact = site.artifact("second", &["ours"]);
    site.go_away();
    forget_artifacts(&second.catalog, &artifact);
    follow(&second, &artifact, "an outage", || {
        is_refused(&second, "is not a folder in OCI layout")
    });
    assert_eq!(second.live(), ["a 1.0.0 Registry"]);
    site.come_back();
    follow(&second, &artifact, "the tag is refused", || {
        is_refused(&second, "were rolled back")
    });
    assert_eq!(second.live(), ["a 1.0.0 Registry"]);

    // The second host has the signatures now, and needs no registry to find that another key made them.
    site.go_away();
    forget_artifacts(&second.catalog, &site.artifact("second", &["other"]));
    assert!(second.live().is_empty());
}

#[test]
fn another_host_takes_out_a_version_that_is_not_signed_in_the_registry() {
    let site = Site::new();
    let first = Host::new();
    site.push("1.0.0");
    follow(&first, &site.artifact("first", &[]), "live", || {
        first.judges("a") == "a 1.0.0"
    });
    let second = Host::over(Arc::clone(&first.store), &[]);
    let artifact = site.artifact("second", &["ours"]);
    forget_artifacts(&second.catalog, &artifact);
    assert_eq!(
        second.live(),
        ["a 1.0.0 Registry"],
        "it is not verified yet"
    );
    follow(&second, &artifact, "taken out", || second.live().is_empty());

    // It is live again once it is signed.
    site.push_signed("1.0.0");
    follow(&second, &artifact, "live again", || {
        second.judges("a") == "a 1.0.0"
    });
}

/// The second host has no keys. The follower of the first host does not look up the tag again, and finds the version
/// of the second host within ten seconds.
#[test]
fn a_version_of_another_host_is_not_used_before_it_is_verified() {
    let site = Site::new();
    let first = Host::new();
    let second = Host::over(Arc::clone(&first.store), &[]);
    let artifact = site.artifact("first", &["ours"]);
    forget_artifacts(&first.catalog, &artifact);
    site.push_signed("1.0.0");
    let is_pushed = Cell::new(false);
    follow(&first, &artifact, "looked up in the registry", || {
        let known = first.catalog.entry(&name("a"));
        let known = known.and_then(|entry| {
            entry.sources[&Source::Registry].versions[0]
                .manifest
                .clone()
        });
        // The follower records the manifest last.
        if !is_pushed.get() && known.is_some() {
            is_pushed.set(true);
            site.push("2.0.0");
            follow(&second, &site.artifact("second", &[]), "unsigned", || {
                second.judges("a") == "a 2.0.0"
            });
            first.catalog.follow().expect("a state");
            assert_eq!(first.live(), ["a 1.0.0 Registry"], "it is not verified");
        }
        is_refused(&first, "a 2.0.0 is not used on this server: ")
    });
    assert_eq!(first.live(), ["a 1.0.0 Registry"]);
    assert_eq!(second.live(), ["a 2.0.0 Registry"]);
}

/// An earlier release admitted the live version, and did not record its manifest.
#[test]
fn a_version_without_a_known_manifest_is_taken_out_if_the_tag_names_another_one() {
    let site = Site::new();
    let host = Host::new();
    let artifact = site.artifact("data", &["ours"]);
    for version in ["1.0.0", "2.0.0"] {
        host.load(&IncomingComponent {
            source: Source::Registry,
            file: Some(artifact.references[0].to_string()),
            ..file("a", component("a", version))
        });
    }
    let rolled_back = host.catalog.rollback(&name("a"));
    rolled_back.expect("the first version is kept");
    site.push_signed("2.0.0");
    forget_artifacts(&host.catalog, &artifact);
    assert_eq!(host.live(), ["a 1.0.0 Registry"]);
    follow(&host, &artifact, "taken out", || host.live().is_empty());
    assert!(is_refused(
        &host,
        "a 1.0.0 is not used on this server: oci-layout:"
    ));
}

/// A kill or a fault of the disk leaves a folder that is not in OCI layout.
#[test]
fn a_damaged_folder_of_stored_artifacts_is_made_again() {
    let site = Site::new();
    let artifact = site.artifact("data", &["ours"]);
    let host = Host::new();
    let reference = digest(artifact.references[0].to_string().as_bytes());
    let stored = reference.as_str().trim_start_matches("sha256:");
    let stored = site.path("data").join(stored);
    fs::create_dir_all(stored.join("blobs/sha256")).expect("it is made");
    site.push_signed("1.0.0");
    follow(&host, &artifact, "an incomplete folder", || {
        host.judges("a") == "a 1.0.0"
    });
    fs::write(stored.join("index.json"), "{").expect("it is written");
    site.push_signed("2.0.0");
    follow(&host, &artifact, "a damaged index", || {
        host.judges("a") == "a 2.0.0"
    });
}

/// During a slow download, the tag moves and another host admits the later version.
#[test]
fn a_late_download_replaces_no_later_version() {
    let site = Site::new();
    let first = Host::new();
    let second = Host::over(Arc::clone(&first.store), &[]);
    site.push("1.0.0");
    let old = component("a", "1.0.0");
    let blob = digest(&old);
    let blob = blob.as_str().trim_start_matches("sha256:");
    let blob = site.path("registry").join("blobs/sha256").join(blob);
    // Whoever reads the component waits for the writer of the pipe.
    fs::remove_file(&blob).expect("a blob");
    let made = Command::new("mkfifo").arg(&blob).status();
    assert!(made.expect("mkfifo").success());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = File::options().write(true).open(&blob).expect("a reader");
            site.push("2.0.0");
            follow(&first, &site.artifact("first", &[]), "later", || {
                first.judges("a") == "a 2.0.0"
            });
            pipe.write_all(&old).expect("it is read");
        });
        follow(&second, &site.artifact("second", &[]), "later", || {
            second.judges("a") == "a 2.0.0"
        });
    });
    first.catalog.follow().expect("a state");
    assert_eq!(first.versions("a", Source::Registry), ["2.0.0 Live"]);
}

/// The tag moves after the component was pulled. The artifact is not followed at an interval.
#[test]
fn a_tag_that_moves_during_an_admission_is_pulled_again() {
    let site = Arc::new(Site::new());
    let host = Host::new();
    site.push("1.0.0");
    let moved = Arc::clone(&site);
    let hook = move || moved.push("2.0.0");
    host.store.after_component(Box::new(hook));
    follow(
        &host,
        &site.artifact("data", &[]),
        "the later version",
        || host.judges("a") == "a 2.0.0",
    );
    assert_eq!(
        host.versions("a", Source::Registry),
        ["2.0.0 Live", "1.0.0 Previous"]
    );
}

/// The second host starts with a configuration that does not name the artifact.
#[test]
fn an_artifact_that_another_host_removed_is_admitted_again() {
    let site = Site::new();
    let first = Host::new();
    let second = Host::over(Arc::clone(&first.store), &[]);
    site.push("1.0.0");
    let artifact = ArtifactSource {
        follow_every: Some(Duration::from_millis(10)),
        ..site.artifact("first", &[])
    };
    let without = ArtifactSource {
        references: Vec::new(),
        ..site.artifact("second", &[])
    };
    let expected = [
        CatalogAction::Load,
        CatalogAction::Remove,
        CatalogAction::Load,
    ];
    follow(&first, &artifact, "admitted again", || {
        let Some(entry) = first.catalog.entry(&name("a")) else {
            return false;
        };
        let actions: Vec<_> = entry.history.iter().map(|event| event.action).collect();
        let versions = &entry.sources[&Source::Registry].versions;
        // The follower records the manifest last.
        if actions == [CatalogAction::Load] && versions[0].manifest.is_some() {
            second.catalog.follow().expect("a state");
            forget_artifacts(&second.catalog, &without);
            first.catalog.follow().expect("a state");
        }
        actions == expected
    });
    assert_eq!(first.live(), ["a 1.0.0 Registry"]);
}
