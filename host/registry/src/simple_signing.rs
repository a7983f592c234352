//! Signatures in the form of cosign up to version 2: an artifact under the tag
//! `sha256-<digest>.sig` with one layer for each signature.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kindsight_model::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::Error;
use crate::key::{PublicKey, SigningKey};
use crate::layout::json as to_json;
use crate::limits::{SIGNATURE_BYTES_MAX, SIGNATURES_MAX};
use crate::manifest::{Descriptor, Document, MANIFEST, Manifest};
use crate::reference::Version;
use crate::repository::Repository;
use crate::signature::{Findings, KEYLESS};

/// Media type of the layer with the signed text.
const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// Media type of the config.
const IMAGE_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// Annotation of a layer: the signature in Base64.
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
/// Annotation of a layer: the certificate of a keyless signature.
const CERTIFICATE: &str = "dev.sigstore.cosign/certificate";
/// The type that cosign writes into the signed text.
const SIGNED_TYPE: &str = "cosign container image signature";

/// The signed text ("simple signing" of containers/image).
#[derive(Serialize, Deserialize)]
struct Payload {
    critical: Critical,
    #[serde(default)]
    optional: serde_json::Value,
}

#[derive(Serialize, Deserialize)]
struct Critical {
    identity: Identity,
    image: Image,
    r#type: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Identity {
    docker_reference: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Image {
    docker_manifest_digest: Digest,
}

/// The tag of the signatures of a manifest.
pub(crate) fn signature_tag(of: &Digest) -> String {
    format!("{}.sig", of.as_str().replace(':', "-"))
}

/// Checks the signatures of a manifest. Findings have the first valid one, or the problems.
pub(crate) fn verify(
    repository: &Repository,
    digest: &Digest,
    keys: &[PublicKey],
    findings: &mut Findings,
) -> Result<(), Error> {
    let Some(manifest) = manifest(repository, digest)? else {
        return Ok(());
    };
    let layers = manifest.layers.iter();
    let layers = layers.filter(|layer| layer.media_type == SIMPLE_SIGNING);
    for layer in layers.take(SIGNATURES_MAX) {
        if layer.annotations.contains_key(CERTIFICATE) {
            findings.problem(KEYLESS);
            continue;
        }
        let payload = repository.blob(layer, (SIGNATURE_BYTES_MAX, "a signature"))?;
        let signature = layer.annotations.get(SIGNATURE);
        match checked(&payload, signature, digest, keys) {
            Ok(key) => {
                findings.valid(key, "`.sig` tag");
                return Ok(());
            }
            Err(problem) => findings.problem(problem),
        }
    }
    Ok(())
}

/// The key of a valid signature, or the problem.
fn checked<'k>(
    payload: &[u8],
    signature: Option<&String>,
    digest: &Digest,
    keys: &'k [PublicKey],
) -> Result<&'k PublicKey, &'static str> {
    let signature = signature.ok_or("it has no annotation with a signature")?;
    let signature = BASE64_STANDARD.decode(signature);
    let signature = signature.map_err(|_| "its signature is not Base64")?;
    let key = keys.iter().find(|key| key.verifies(payload, &signature));
    let key = key.ok_or("it was not made with this key, or it was altered")?;
    let payload: Payload =
        serde_json::from_slice(payload).map_err(|_| "the signed text is not simple signing")?;
    if payload.critical.r#type != SIGNED_TYPE {
        return Err("the signed text has another type");
    }
    if payload.critical.image.docker_manifest_digest != *digest {
        return Err("it signs another artifact");
    }
    Ok(key)
}

/// Adds a signature to the signatures of a manifest. `name` is the repository, for people.
pub(crate) fn sign(
    repository: &Repository,
    digest: &Digest,
    name: &str,
    key: &SigningKey,
) -> Result<(), Error> {
    let payload = to_json(&Payload {
        critical: Critical {
            identity: Identity {
                docker_reference: name.to_owned(),
            },
            image: Image {
                docker_manifest_digest: digest.clone(),
            },
            r#type: SIGNED_TYPE.to_owned(),
        },
        optional: serde_json::Value::Null,
    });
    let signature = BASE64_STANDARD.encode(key.sign(&payload)?);
    repository.put_blob(&payload)?;
    let layer = Descriptor::of(SIMPLE_SIGNING, &payload).with(SIGNATURE, &signature);
    let known = manifest(repository, digest)?;
    let mut layers = known.map_or_else(Vec::new, |manifest| manifest.layers);
    layers.push(layer);
    // cosign expects the config of an image, with the digests of its layers.
    let digests: Vec<&Digest> = layers.iter().map(|layer| &layer.digest).collect();
    let config = to_json(&json!({
        "architecture": "",
        "os": "",
        "created": "0001-01-01T00:00:00Z",
        "config": {},
        "rootfs": { "type": "layers", "diff_ids": digests },
    }));
    repository.put_blob(&config)?;
    let manifest = Manifest::new(Descriptor::of(IMAGE_CONFIG, &config), layers);
    let document = Document::new(MANIFEST, to_json(&manifest));
    repository.put_document(&Version::Tag(signature_tag(digest)), &document)
}

/// The manifest with the signatures, or `None` if there is none.
fn manifest(repository: &Repository, digest: &Digest) -> Result<Option<Manifest>, Error> {
    let tag = Version::Tag(signature_tag(digest));
    let document = match repository.document(&tag) {
        Err(Error::NotFound { .. }) => return Ok(None),
        document => document?,
    };
    let manifest = serde_json::from_slice(&document.bytes);
    manifest.map(Some).map_err(|error| Error::NotSigned {
        reference: repository.named(&Version::Digest(digest.clone())),
        why: format!("the tag {tag} is not a manifest with signatures: {error}"),
    })
}
