//! Files with a password.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;

/// Most bytes of a file with a password.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// Reads a password; line ends after it do not count.
///
/// # Errors
/// The file cannot be read, is empty, or is larger than [`PASSWORD_BYTES_MAX`].
pub(super) fn password(path: &Path) -> anyhow::Result<String> {
    let failed = || format!("failed to read a password from {}", path.display());
    let mut text = String::new();
    let file = File::open(path).with_context(failed)?;
    let mut limited = file.take(PASSWORD_BYTES_MAX + 1);
    let read = limited.read_to_string(&mut text).with_context(failed)?;
    anyhow::ensure!(
        read as u64 <= PASSWORD_BYTES_MAX,
        "{} holds more than a password: {PASSWORD_BYTES_MAX} bytes are the limit",
        path.display()
    );
    let password = text.trim_end_matches(['\r', '\n']);
    anyhow::ensure!(!password.is_empty(), "{} holds no password", path.display());
    Ok(password.to_owned())
}
