//! The named limits of this crate.

/// Maximum number of files that are read from one folder. Argo CD's tree has about 2,000.
pub const FILES_MAX: usize = 20_000;
/// Maximum depth of folders below the given one.
pub const DEPTH_MAX: usize = 8;
/// Maximum size of one file, in bytes. A `ConfigMap` has at most 1 MiB.
pub const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
