//! The executables of a cluster, and where they come from.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::build;

/// Folder with executables of a user's own, as controller-runtime's envtest reads it.
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
    /// Plays the kubelet of fake nodes.
    Kwok,
}

impl Binary {
    /// Those of a cluster whose Pods run.
    pub const ALL: &[Self] = &[
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Kwok,
    ];

    /// Those of an API server without controllers and nodes.
    pub const API_SERVER: &[Self] = &[Self::Etcd, Self::ApiServer];

    /// etcd alone, which is built in a minute.
    pub const ETCD: &[Self] = &[Self::Etcd];

    /// File name, in a folder of assets.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
        }
    }
}

/// Executables that were found or built.
#[derive(Debug, Clone)]
pub struct Binaries {
    paths: BTreeMap<Binary, PathBuf>,
}

/// Executables cannot be had, and why: one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub(crate) String);

impl Binaries {
    /// Finds executables: in `KUBEBUILDER_ASSETS`; etcd on the `PATH`; else in the cache, where they are
    /// built with Go if they are missing. That takes minutes the first time and is announced on
    /// standard error.
    ///
    /// # Errors
    /// Neither is there, or the build failed.
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

    /// Finds executables, or says in one line that this test does not run and why.
    ///
    /// # Panics
    /// With the same line where `CI` is `true`: a test that does not run there proves nothing.
    pub fn or_skip(needed: &[Binary]) -> Option<Self> {
        static TOLD: Once = Once::new();
        match Self::find(needed) {
            Ok(binaries) => Some(binaries),
            Err(why) => {
                let line = format!("tests on real clusters did not run: {why}");
                assert!(env::var("CI").as_deref() != Ok("true"), "{line}");
                TOLD.call_once(|| tell(&line));
                None
            }
        }
    }

    /// # Panics
    /// When it was not asked for.
    pub(crate) fn path(&self, binary: Binary) -> &Path {
        let path = self.paths.get(&binary);
        path.unwrap_or_else(|| panic!("ask `Binaries` for {binary:?} too"))
    }
}

/// Writes a line that libtest shows also where the test passes.
pub(crate) fn tell(line: &str) {
    // Nobody may read it.
    let _ = writeln!(io::stderr(), "{line}");
}

/// An executable of the user's own.
fn present(binary: Binary) -> Option<PathBuf> {
    let assets = env::var_os(ASSETS).map(PathBuf::from);
    let on_path = env::var_os("PATH").filter(|_| binary == Binary::Etcd);
    let on_path = on_path.iter().flat_map(env::split_paths);
    let mut folders = assets.into_iter().chain(on_path);
    let path = folders.find(|folder| folder.join(binary.name()).is_file())?;
    Some(path.join(binary.name()))
}
