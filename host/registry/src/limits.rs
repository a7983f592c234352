//! Limits of answers, files and times.

use std::time::Duration;

/// Maximum size of a manifest, in bytes: the size that registries accept at least, by the OCI
/// distribution specification.
pub(crate) const MANIFEST_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Maximum size of the config of an artifact, in bytes. It names the imports and exports of a
/// component, which are a few hundred bytes.
pub(crate) const CONFIG_BYTES_MAX: usize = 1024 * 1024;

/// Maximum size of one signature, in bytes. A bundle with a timestamp and an entry of a
/// transparency log has about 10 KB.
pub(crate) const SIGNATURE_BYTES_MAX: usize = 1024 * 1024;

/// Maximum number of signatures of one artifact that are checked. Each costs one request or two.
pub(crate) const SIGNATURES_MAX: usize = 32;

/// Maximum size of the answer of a token server, in bytes. Tokens have a few KB.
pub(crate) const TOKEN_BYTES_MAX: usize = 256 * 1024;

/// Maximum size of the answer to a refused request that is read for its reason, in bytes.
pub(crate) const REFUSAL_BYTES_MAX: usize = 64 * 1024;

/// Maximum length of a text of a registry in an error, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 500;

/// Maximum number of redirects of one request. Registries redirect once, to their store of blobs.
pub(crate) const REDIRECTS_MAX: u32 = 5;

/// Maximum time until a connection is established.
pub(crate) const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Maximum time of a request for a manifest or a token, with its answer.
pub(crate) const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);

/// Maximum time to send or receive one blob. A component of 32 MiB needs 270 KB/s.
pub(crate) const BLOB_TIME_MAX: Duration = Duration::from_mins(2);

/// Maximum size of a file with a key or certificates, in bytes.
pub(crate) const PEM_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum size of docker's configuration file, in bytes.
pub(crate) const DOCKER_CONFIG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum time of one credential helper. Helpers of cloud providers request a token.
pub(crate) const HELPER_TIME_MAX: Duration = Duration::from_secs(20);

/// Maximum output of a credential helper, in bytes.
pub(crate) const HELPER_BYTES_MAX: u64 = 256 * 1024;

/// Maximum number of files and entries of a layout folder that are read.
pub(crate) const LAYOUT_ENTRIES_MAX: usize = 10_000;
