//! Components that a command makes.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use kindsight_conversion::declarative::FILE_BYTES_MAX;
use kindsight_server::{ComponentFile, LogFormat, cache_folder, inspect_component, start_logging};

use crate::cli;
use crate::progress::LogLines;

/// Takes a component through the steps of a load, which include its fixtures, then writes it to
/// `out`. A component that the host refuses is not written.
///
/// # Errors
/// When the host refuses the component, or the file cannot be written.
pub(super) fn write(out: &Path, bytes: Vec<u8>) -> anyhow::Result<()> {
    start_logging("error", LogFormat::Text, || LogLines)?;
    let component = ComponentFile {
        path: out.to_owned(),
        bytes,
        settings: None,
    };
    let detail = inspect_component(cache_folder().as_deref(), &component)?;
    fs::write(out, &component.bytes).with_context(|| format!("cannot write {}", out.display()))?;
    let version = detail.version.unwrap_or_default();
    cli::hint(&format!(
        "{}: interpreter {} {version}, {} Kinds, {} bytes",
        out.display(),
        detail.name,
        detail.kinds.len(),
        component.bytes.len()
    ));
    Ok(())
}

/// Reads a file of rules.
///
/// # Errors
/// When the file cannot be read, is no text, or is over the limit.
pub(super) fn text_of(file: &Path) -> anyhow::Result<String> {
    let failed = || format!("cannot read {}", file.display());
    let most = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX) + 1;
    let mut text = String::new();
    let opened = fs::File::open(file).with_context(failed)?;
    opened
        .take(most)
        .read_to_string(&mut text)
        .with_context(failed)?;
    anyhow::ensure!(
        text.len() <= FILE_BYTES_MAX,
        "{} is larger than {FILE_BYTES_MAX} bytes",
        file.display()
    );
    Ok(text)
}
