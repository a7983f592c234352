//! The executables of a cluster, and where they are found.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::build;

/// The variable with a folder of the user's own executables, as controller-runtime's envtest reads
/// it.
const ASSETS: &str = "KUBEBUILDER_ASSETS";

/// One executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binary {
    /// The store of the API servers.
    Etcd,
    /// The API server.
    ApiServer,
    /// The controllers of the built-in Kinds.
    ControllerManager,
    /// Assigns Pods to nodes.
    Scheduler,
    /// Simulates the kubelet of fake nodes.
    Kwok,
    /// Renders the chart.
    Helm,
    /// Applies manifests, for comparisons.
    Kubectl,
    /// Reads reports of monitors as the programs of EMCO and ONAP do.
    BundleReader,
}

impl Binary {
    /// The executables of a cluster whose Pods run.
    pub const ALL: &[Self] = &[
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Kwok,
    ];

    /// The executables of an API server without controllers and nodes.
    pub const API_SERVER: &[Self] = &[Self::Etcd, Self::ApiServer];

    /// Only etcd, which is built in a minute.
    pub const ETCD: &[Self] = &[Self::Etcd];

    /// The file name in a folder of assets.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
            Self::Helm => "helm",
            Self::Kubectl => "kubectl",
            Self::BundleReader => "bundles",
        }
    }
}

/// Executables that were found or built.
#[derive(Debug, Clone)]
pub struct Binaries {
    paths: BTreeMap<Binary, PathBuf>,
}

/// The reason why executables are not available: one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub(crate) String);

impl Binaries {
    /// Finds executables: in `KUBEBUILDER_ASSETS`; for etcd, on the `PATH`; or else in the cache,
    /// where they are built with Go if they are missing. A build takes minutes and is announced on
    /// standard error.
    ///
    /// # Errors
    /// If they are not found, or the build failed.
    pub fn find(needed: &[Binary]) -> Result<Self, Unavailable> {
        let (mut paths, mut missing) = (BTreeMap::new(), Vec::new());
        for binary in needed {
            match present(*binary) {
                Some(path) => drop(paths.insert(*binary, path)),
                None => missing.push(*binary),
            }
        }
        paths.extend(build::find_or_build(&missing)?);
        Ok(Self { paths })
    }

    /// Finds executables, or prints one line with the reason why this test does not run.
    ///
    /// # Panics
    /// With the same line if `CI` is `true`, because a test that does not run there proves nothing.
    pub fn or_skip(needed: &[Binary]) -> Option<Self> {
        static TOLD: Once = Once::new();
        or_skip("tests on real clusters", Self::find(needed), &TOLD)
    }

    /// The path of an executable.
    ///
    /// # Panics
    /// If the binary was not requested.
    pub fn path(&self, binary: Binary) -> &Path {
        let path = self.paths.get(&binary);
        path.unwrap_or_else(|| panic!("ask `Binaries` for {binary:?} too"))
    }
}

/// Returns what was found, or prints one line with the reason why these tests do not run.
///
/// # Panics
/// With the same line if `CI` is `true`.
pub(crate) fn or_skip<T>(tests: &str, found: Result<T, Unavailable>, told: &Once) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(why) => {
            let line = format!("{tests} did not run: {why}");
            assert!(env::var("CI").as_deref() != Ok("true"), "{line}");
            told.call_once(|| tell(&line));
            None
        }
    }
}

/// Finds a program on the `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Writes a line that libtest shows even if the test passes.
pub(crate) fn tell(line: &str) {
    // Standard error may have no reader.
    let _ = writeln!(io::stderr(), "{line}");
}

/// The user's own executable, if there is one.
fn present(binary: Binary) -> Option<PathBuf> {
    let assets = env::var_os(ASSETS).map(PathBuf::from);
    let on_path = env::var_os("PATH").filter(|_| binary == Binary::Etcd);
    let on_path = on_path.iter().flat_map(env::split_paths);
    let mut folders = assets.into_iter().chain(on_path);
    let path = folders.find(|folder| folder.join(binary.name()).is_file())?;
    Some(path.join(binary.name()))
}
