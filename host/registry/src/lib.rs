//! Components in OCI registries and in folders with OCI layout.
//!
//! ```text
//! Reference ─▶ Client::open ─▶ Repository (a registry over HTTP, or a layout folder)
//!                                 │ push, pull, copy: one component as an artifact
//!                                 └ sign, verify: signatures with keys, in both forms of cosign
//! ```
//!
//! An artifact has the media types of the CNCF's guidance for Wasm, which `wkg` uses too: one layer
//! `application/wasm`, and a config `application/vnd.wasm.config.v0+json`.
//!
//! - Bytes count only if they have the digest that the manifest names. The registry is not trusted.
//! - Each answer has a size limit and a time limit. All functions block.
//! - Credentials go to the registry, and to the token server that the registry names. They never
//!   cross a connection without encryption, except to a registry that the operator permitted.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod artifact;
mod authorization;
mod bundle;
mod challenge;
mod client;
mod config;
mod copy;
mod credentials;
mod error;
mod key;
mod layout;
mod limits;
mod manifest;
mod reference;
mod remote;
mod repository;
mod signature;
mod simple_signing;
mod transport;

pub use artifact::{Annotations, Pulled, Pushed, component_digest, pull, push};
pub use client::{Client, ClientOptions};
pub use copy::{copy, copy_manifest, keep, keep_with_manifests, retag};
pub use credentials::{CredentialError, DockerConfig};
pub use error::Error;
pub use key::{KeyError, PublicKey, SigningKey};
pub use layout::{Layout, is_layout};
pub use reference::{Place, Reference, ReferenceError, Version};
pub use repository::Repository;
pub use signature::{Signed, sign, verify};
