//! Artifacts with one component: made, and read.

use std::collections::BTreeMap;

use kindsight_model::{Digest, clean};

use crate::config::{WASM_CONFIG, WASM_LAYER, WasmConfig};
use crate::error::Error;
use crate::key::PublicKey;
use crate::layout::json;
use crate::limits::{CONFIG_BYTES_MAX, TEXT_BYTES_MAX};
use crate::manifest::{Descriptor, Document, MANIFEST, Manifest};
use crate::reference::Version;
use crate::repository::Repository;
use crate::signature::{Signed, verify};

/// Annotations of an artifact, such as `org.opencontainers.image.version`.
pub type Annotations = BTreeMap<String, String>;

/// Annotation with the name of a file, under which other clients store a layer.
const TITLE: &str = "org.opencontainers.image.title";
/// Annotation with the time at which an artifact was made.
const CREATED: &str = "org.opencontainers.image.created";

/// An artifact that was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The digest of the manifest. A reference with it is pinned.
    pub digest: Digest,
    /// The digest of the component.
    pub component: Digest,
}

/// An artifact that was pulled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The digest of the manifest.
    pub digest: Digest,
    /// The bytes of the component, which have the digest that the manifest names.
    pub component: Vec<u8>,
    /// The annotations of the manifest.
    pub annotations: Annotations,
    /// The signature that was required.
    pub signed: Option<Signed>,
}

/// Pushes a component as an artifact. `created` is the time in RFC 3339.
///
/// # Errors
/// [`Error::NotAComponent`], or the repository cannot be written.
pub fn push(
    repository: &Repository,
    version: &Version,
    component: &[u8],
    created: &str,
    annotations: Annotations,
) -> Result<Pushed, Error> {
    let config = WasmConfig::of(component, created).map_err(|why| Error::NotAComponent {
        reference: repository.named(version),
        why,
    })?;
    let config = json(&config);
    let mut layer = Descriptor::of(WASM_LAYER, component);
    if let Some(title) = annotations.get(TITLE) {
        layer = layer.with(TITLE, &format!("{title}.wasm"));
    }
    let digest = layer.digest.clone();
    let mut manifest = Manifest::new(Descriptor::of(WASM_CONFIG, &config), vec![layer]);
    manifest.annotations = annotations;
    manifest
        .annotations
        .entry(CREATED.to_owned())
        .or_insert_with(|| created.to_owned());
    let document = Document::new(MANIFEST, json(&manifest));
    repository.put_blob(component)?;
    repository.put_blob(&config)?;
    repository.put_document(version, &document)?;
    Ok(Pushed {
        digest: document.digest,
        component: digest,
    })
}

/// Pulls the component of an artifact. With `keys`, one of the keys must have signed the artifact. The
/// signature is verified before the component is downloaded.
///
/// # Errors
/// The version does not exist, is not an artifact with one component, is not signed, is too large,
/// or does not have its digest; or the repository cannot be read.
pub fn pull(
    repository: &Repository,
    version: &Version,
    keys: &[PublicKey],
    component_bytes_max: usize,
) -> Result<Pulled, Error> {
    let document = repository.document(version)?;
    let (manifest, layer) = component_in(repository, version, &document)?;
    let signed = match keys {
        [] => None,
        keys => Some(verify(repository, &document.digest, keys)?),
    };
    let config = repository.blob(&manifest.config, (CONFIG_BYTES_MAX, "a config"))?;
    let config: WasmConfig =
        serde_json::from_slice(&config).map_err(|error| Error::NotAComponent {
            reference: repository.named(version),
            why: format!("its config is not valid: {error}"),
        })?;
    if config.layer_digests != [layer.digest.clone()] {
        return Err(Error::NotAComponent {
            reference: repository.named(version),
            why: "its config names other layers than its manifest".to_owned(),
        });
    }
    let component = repository.blob(&layer, (component_bytes_max, "--component-bytes-max"))?;
    Ok(Pulled {
        digest: document.digest,
        component,
        annotations: manifest.annotations,
        signed,
    })
}

/// The digest of the component of an artifact. The component is not downloaded.
///
/// # Errors
/// The version does not exist, or is not an artifact with one component; or the repository cannot
/// be read.
pub fn component_digest(repository: &Repository, version: &Version) -> Result<Digest, Error> {
    let document = repository.document(version)?;
    let (_, layer) = component_in(repository, version, &document)?;
    Ok(layer.digest)
}

/// The manifest of an artifact and its one layer.
fn component_in(
    repository: &Repository,
    version: &Version,
    document: &Document,
) -> Result<(Manifest, Descriptor), Error> {
    component_of(document).map_err(|why| Error::NotAComponent {
        reference: repository.named(version),
        why,
    })
}

/// The manifest of an artifact and its one layer, or the difference to such an artifact.
fn component_of(document: &Document) -> Result<(Manifest, Descriptor), String> {
    let expected =
        format!("expected a manifest with the config `{WASM_CONFIG}` and one layer `{WASM_LAYER}`");
    let quoted = |text: &str| clean(text, TEXT_BYTES_MAX).into_owned();
    if document.is_index() {
        return Err(format!(
            "it is an index of several manifests; {expected}: name one of them by its digest"
        ));
    }
    if !document.is_manifest() {
        let media_type = quoted(&document.media_type);
        return Err(format!("its media type is `{media_type}`; {expected}"));
    }
    let manifest: Manifest = serde_json::from_slice(&document.bytes)
        .map_err(|error| format!("its manifest is not valid: {error}"))?;
    if manifest.config.media_type != WASM_CONFIG {
        let media_type = quoted(&manifest.config.media_type);
        return Err(format!("its config is `{media_type}`; {expected}"));
    }
    match manifest.layers.as_slice() {
        [layer] if layer.media_type == WASM_LAYER => {
            let layer = layer.clone();
            Ok((manifest, layer))
        }
        [layer] => {
            let media_type = quoted(&layer.media_type);
            Err(format!("its layer is `{media_type}`; {expected}"))
        }
        layers => Err(format!("it has {} layers; {expected}", layers.len())),
    }
}
