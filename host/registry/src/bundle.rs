//! Signatures in the form of cosign 3: a Sigstore bundle that refers to the signed manifest.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kindsight_model::Digest;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::key::{PublicKey, SigningKey};
use crate::layout::json as to_json;
use crate::limits::{SIGNATURE_BYTES_MAX, SIGNATURES_MAX};
use crate::manifest::{Descriptor, Document, EMPTY, MANIFEST, Manifest};
use crate::reference::Version;
use crate::repository::Repository;
use crate::signature::{Findings, KEYLESS};

/// Media type of a bundle, and the artifact type of its manifest.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// Beginning of the media types of all versions of the bundle.
const BUNDLES: &str = "application/vnd.dev.sigstore.bundle";
/// Media type of the statement in an envelope.
const IN_TOTO: &str = "application/vnd.in-toto+json";
/// Types of the statement.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const STATEMENTS: [&str; 2] = [STATEMENT, "https://in-toto.io/Statement/v0.1"];
/// The predicate of a signature. Other predicates, such as a scan for vulnerabilities, approve
/// nothing.
const SIGN_PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";
/// Annotation of the manifest: the content of the bundle.
const CONTENT: &str = "dev.sigstore.bundle.content";
/// Annotation of the manifest: the predicate of the statement.
const PREDICATE: &str = "dev.sigstore.bundle.predicateType";

/// The members of a bundle that are checked (Protocol Buffers in JSON).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    #[serde(default)]
    verification_material: Value,
    dsse_envelope: Option<Envelope>,
    message_signature: Option<MessageSignature>,
}

/// A DSSE envelope.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Deserialize)]
struct EnvelopeSignature {
    sig: String,
}

/// A signature of the manifest itself.
#[derive(Deserialize)]
struct MessageSignature {
    signature: String,
}

/// The statement in an envelope (in-toto).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(rename = "_type")]
    version: String,
    subject: Vec<Subject>,
    predicate_type: String,
}

#[derive(Deserialize)]
struct Subject {
    digest: SubjectDigest,
}

#[derive(Deserialize)]
struct SubjectDigest {
    #[serde(default)]
    sha256: String,
}

/// Checks the bundles that refer to a manifest. Findings have the first valid one, or the problems.
pub(crate) fn verify(
    repository: &Repository,
    digest: &Digest,
    keys: &[PublicKey],
    findings: &mut Findings,
) -> Result<(), Error> {
    let referrers = repository.referrers(digest)?.into_iter();
    // Some registries do not state the type of a referrer.
    let bundles = referrers.filter(|entry| {
        let artifact_type = entry.artifact_type.as_deref();
        artifact_type.is_none_or(|artifact_type| artifact_type.starts_with(BUNDLES))
    });
    for entry in bundles.take(SIGNATURES_MAX) {
        let document = repository.document(&Version::Digest(entry.digest))?;
        let Ok(manifest) = serde_json::from_slice::<Manifest>(&document.bytes) else {
            continue;
        };
        let mut layers = manifest.layers.iter();
        let Some(layer) = layers.find(|layer| layer.media_type.starts_with(BUNDLES)) else {
            continue;
        };
        let bytes = repository.blob(layer, (SIGNATURE_BYTES_MAX, "a signature"))?;
        match checked(&bytes, repository, digest, keys)? {
            Ok(key) => {
                findings.valid(key, "bundle");
                return Ok(());
            }
            Err(problem) => findings.problem(problem),
        }
    }
    Ok(())
}

/// The key of a valid bundle, or the problem.
fn checked<'k>(
    bytes: &[u8],
    repository: &Repository,
    digest: &Digest,
    keys: &'k [PublicKey],
) -> Result<Result<&'k PublicKey, &'static str>, Error> {
    let Ok(bundle) = serde_json::from_slice::<Bundle>(bytes) else {
        return Ok(Err("it is not a Sigstore bundle"));
    };
    let material = &bundle.verification_material;
    let is_keyless = ["certificate", "x509CertificateChain"]
        .iter()
        .any(|member| material.get(member).is_some());
    if is_keyless {
        return Ok(Err(KEYLESS));
    }
    if let Some(envelope) = &bundle.dsse_envelope {
        return Ok(signer_of(envelope, digest, keys));
    }
    let Some(message) = &bundle.message_signature else {
        return Ok(Err("its bundle has no signature"));
    };
    let Ok(signature) = BASE64_STANDARD.decode(&message.signature) else {
        return Ok(Err("its signature is not Base64"));
    };
    let manifest = repository.document(&Version::Digest(digest.clone()))?;
    let mut keys = keys.iter();
    let key = keys.find(|key| key.verifies(&manifest.bytes, &signature));
    Ok(key.ok_or(OTHER_KEY))
}

const OTHER_KEY: &str = "it was not made with this key, or it was altered";

/// The key that signed an envelope, if the envelope approves this manifest.
fn signer_of<'k>(
    envelope: &Envelope,
    digest: &Digest,
    keys: &'k [PublicKey],
) -> Result<&'k PublicKey, &'static str> {
    let payload = BASE64_STANDARD.decode(&envelope.payload);
    let payload = payload.map_err(|_| "its payload is not Base64")?;
    let signed = pre_authentication_encoding(&envelope.payload_type, &payload);
    let signatures = envelope.signatures.iter().take(SIGNATURES_MAX);
    let signatures = signatures.filter_map(|one| BASE64_STANDARD.decode(&one.sig).ok());
    let mut signatures = signatures.filter_map(|signature| {
        let mut keys = keys.iter();
        keys.find(|key| key.verifies(&signed, &signature))
    });
    let key = signatures.next().ok_or(OTHER_KEY)?;
    if envelope.payload_type != IN_TOTO {
        return Err("its payload is not a statement of in-toto");
    }
    let statement: Statement = serde_json::from_slice(&payload)
        .map_err(|_| "its payload is not a statement of in-toto")?;
    if !STATEMENTS.contains(&statement.version.as_str())
        || statement.predicate_type != SIGN_PREDICATE
    {
        return Err("it is a statement about the artifact, not a signature");
    }
    let digits = digest.as_str().trim_start_matches("sha256:");
    let mut subjects = statement.subject.iter();
    if !subjects.any(|subject| subject.digest.sha256 == digits) {
        return Err("it signs another artifact");
    }
    Ok(key)
}

/// The bytes that an envelope signs (DSSE v1).
fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!(
        "DSSEv1 {} {payload_type} {} ",
        payload_type.len(),
        payload.len()
    );
    [head.as_bytes(), payload].concat()
}

/// Adds a bundle that refers to a manifest.
pub(crate) fn sign(
    repository: &Repository,
    signed: &Document,
    created: &str,
    key: &SigningKey,
) -> Result<(), Error> {
    let digits = signed.digest.as_str().trim_start_matches("sha256:");
    let payload = to_json(&json!({
        "_type": STATEMENT,
        "subject": [{ "digest": { "sha256": digits } }],
        "predicateType": SIGN_PREDICATE,
        "predicate": {},
    }));
    let signature = key.sign(&pre_authentication_encoding(IN_TOTO, &payload))?;
    let bundle = to_json(&json!({
        "mediaType": BUNDLE,
        "verificationMaterial": { "publicKey": { "hint": key.public().hint() } },
        "dsseEnvelope": {
            "payload": BASE64_STANDARD.encode(&payload),
            "payloadType": IN_TOTO,
            "signatures": [{ "sig": BASE64_STANDARD.encode(signature) }],
        },
    }));
    let config = b"{}";
    repository.put_blob(&bundle)?;
    repository.put_blob(config)?;
    let layer = Descriptor::of(BUNDLE, &bundle);
    let mut manifest = Manifest::new(Descriptor::of(EMPTY, config), vec![layer]);
    manifest.artifact_type = Some(BUNDLE.to_owned());
    manifest.subject = Some(signed.descriptor());
    let annotations = [
        (CONTENT, "dsse-envelope"),
        (PREDICATE, SIGN_PREDICATE),
        ("org.opencontainers.image.created", created),
    ];
    let annotations = annotations.map(|(key, value)| (key.to_owned(), value.to_owned()));
    manifest.annotations = annotations.into();
    let document = Document::new(MANIFEST, to_json(&manifest));
    repository.put_referrer(&signed.digest, &document, Some(BUNDLE))
}
