//! The release, the image and the chart, as an operator installs them: `install.sh` installs a release, the image is
//! unpacked and started, and the output of Helm is applied to a real API server.

mod chart;
mod cluster;
mod helm;
mod image;
mod script;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
