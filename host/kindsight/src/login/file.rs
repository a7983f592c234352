//! The file with the tokens of a login, which only its user can read.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use anyhow::Context as _;
use tempfile::NamedTempFile;

use super::LoginTokens;
use crate::client_config::xdg_folder;

/// Most bytes of the file of a login.
const LOGIN_BYTES_MAX: u64 = 64 * 1024;

/// `$XDG_STATE_HOME/kindsight/logins/SERVER.json`, by default below `~/.local/state`.
pub(super) struct LoginFile {
    path: PathBuf,
}

impl LoginFile {
    /// The file for a server of the client configuration, which checks its names.
    pub(super) fn of(server: &str) -> anyhow::Result<Self> {
        let folder = xdg_folder("XDG_STATE_HOME", ".local/state");
        let folder = folder
            .context("there is no home directory; XDG_STATE_HOME sets a folder for logins")?;
        let path = folder.join("logins").join(format!("{server}.json"));
        Ok(Self { path })
    }

    fn failed(&self, action: &str) -> String {
        format!("{action} the login {}", self.path.display())
    }

    /// Reads the tokens; `None` without a file.
    pub(super) fn read(&self) -> anyhow::Result<Option<LoginTokens>> {
        let failed = || self.failed("read");
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.with_context(failed)?,
        };
        let mut text = String::new();
        let mut limited = file.take(LOGIN_BYTES_MAX);
        limited.read_to_string(&mut text).with_context(failed)?;
        // An error of the parser could quote a token.
        let tokens = serde_json::from_str(&text).ok();
        let tokens =
            tokens.context("the file has another format; `kindsight login` writes it again");
        tokens.map(Some).with_context(failed)
    }

    /// Replaces the file in one step. Only the user can read it.
    pub(super) fn write(&self, tokens: &LoginTokens) -> anyhow::Result<()> {
        let failed = || self.failed("store");
        // A temporary file has the mode 0600.
        let mut file = NamedTempFile::new_in(self.folder()?).with_context(failed)?;
        serde_json::to_writer_pretty(&mut file, tokens).with_context(failed)?;
        file.flush().with_context(failed)?;
        file.as_file().sync_all().with_context(failed)?;
        file.persist(&self.path).with_context(failed)?;
        Ok(())
    }

    /// Removes the file; returns whether there was one.
    pub(super) fn remove(&self) -> anyhow::Result<bool> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed
                .map(|()| true)
                .with_context(|| self.failed("remove")),
        }
    }

    /// Waits until no other command changes the login. The lock ends when the returned file is dropped.
    pub(super) fn lock(&self) -> anyhow::Result<File> {
        let lock = File::create(self.folder()?.join(".lock"));
        let locked = lock.and_then(|lock| lock.lock().map(|()| lock));
        locked.with_context(|| self.failed("lock"))
    }

    /// The folder of all logins, made if it does not exist.
    fn folder(&self) -> anyhow::Result<PathBuf> {
        let folder = self.path.parent().context("the file is in a folder")?;
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.with_context(|| self.failed("store"))?;
        Ok(folder.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn tokens_are_stored_for_their_user_alone_and_removed() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("logins/prod.json");
        let file = LoginFile { path: path.clone() };
        assert!(file.read().unwrap().is_none());
        let tokens: LoginTokens = serde_json::from_value(serde_json::json!({
            "issuer": "https://login.example", "client-id": "cli", "subject": "a", "user": "ann",
            "id-token": "s3cret", "refresh-token": null, "expires": "2026-01-01T00:00:00Z",
        }))
        .unwrap();
        assert!(!format!("{tokens:?}").contains("s3cret"));
        let lock = file.lock().unwrap();
        file.write(&tokens).unwrap();
        file.write(&tokens).unwrap();
        drop(lock);
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(file.read().unwrap().unwrap().id_token.reveal(), "s3cret");
        fs::write(&path, "{\"id-token\": \"s3cret and more\"}").unwrap();
        let error = format!("{:#}", file.read().unwrap_err());
        assert!(
            error.contains("prod.json: the file has another format"),
            "{error}"
        );
        assert!(!error.contains("s3cret"), "{error}");
        assert!(file.remove().unwrap());
        assert!(!file.remove().unwrap());
    }
}
