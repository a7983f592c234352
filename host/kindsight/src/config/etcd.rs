//! Flags for the way into an etcd, of every command that opens a store.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kindsight_server::store::EtcdOptions;

/// Most bytes of a file with a password.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// The way into an etcd. It has no meaning for other stores.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Stores in an etcd")]
pub(crate) struct EtcdArgs {
    /// PEM file with the authorities of the certificates of an etcd; TLS is spoken where it is given.
    #[arg(
        id = "etcd_ca",
        long = "etcd-ca",
        env = "KINDSIGHT_ETCD_CA",
        value_name = "FILE"
    )]
    pub(crate) ca: Option<PathBuf>,
    /// PEM file with the certificate to show to an etcd.
    #[arg(
        id = "etcd_cert",
        long = "etcd-cert",
        env = "KINDSIGHT_ETCD_CERT",
        value_name = "FILE",
        requires_all = ["etcd_key", "etcd_ca"]
    )]
    pub(crate) cert: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    #[arg(
        id = "etcd_key",
        long = "etcd-key",
        env = "KINDSIGHT_ETCD_KEY",
        value_name = "FILE",
        requires = "etcd_cert"
    )]
    pub(crate) key: Option<PathBuf>,
    /// Name of an etcd user.
    #[arg(
        id = "etcd_user",
        long = "etcd-user",
        env = "KINDSIGHT_ETCD_USER",
        value_name = "NAME",
        requires = "etcd_password_file"
    )]
    pub(crate) user: Option<String>,
    /// File with the password of that user; line ends after it do not count.
    #[arg(
        id = "etcd_password_file",
        long = "etcd-password-file",
        env = "KINDSIGHT_ETCD_PASSWORD_FILE",
        value_name = "FILE",
        requires = "etcd_user"
    )]
    pub(crate) password_file: Option<PathBuf>,
}

impl EtcdArgs {
    /// The options that they stand for. Reads the password.
    ///
    /// # Errors
    /// The file with the password cannot be read, or holds none.
    pub(crate) fn options(&self) -> anyhow::Result<EtcdOptions> {
        let password = self.password_file.as_deref().map(password);
        Ok(EtcdOptions {
            ca: self.ca.clone(),
            cert: self.cert.clone(),
            key: self.key.clone(),
            user: self.user.clone(),
            password: password.transpose()?,
            ..EtcdOptions::default()
        })
    }
}

fn password(path: &Path) -> anyhow::Result<String> {
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        etcd: EtcdArgs,
    }

    fn parsed(arguments: &[&str]) -> Result<EtcdArgs, clap::Error> {
        let arguments = ["kindsight"].iter().chain(arguments);
        Command::try_parse_from(arguments).map(|it| it.etcd)
    }

    #[test]
    fn a_password_is_what_its_file_holds_without_the_line_end() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("password");
        let file = path.display().to_string();
        let args = parsed(&["--etcd-user", "reader", "--etcd-password-file", &file]).unwrap();
        assert!(args.options().is_err(), "there is no file");
        std::fs::write(&path, "let me in \r\n\n").unwrap();
        let options = args.options().unwrap();
        assert_eq!(options.password.as_deref(), Some("let me in "));
        assert_eq!(options.user.as_deref(), Some("reader"));
        assert!(!format!("{options:?}").contains("let me in"));
        for nothing in ["", "\n", &"x".repeat(4097)] {
            std::fs::write(&path, nothing).unwrap();
            assert!(args.options().is_err());
        }
    }

    #[test]
    fn a_certificate_needs_its_key_and_a_user_a_password() {
        for alone in [
            "--etcd-cert",
            "--etcd-key",
            "--etcd-user",
            "--etcd-password-file",
        ] {
            parsed(&[alone, "x"]).unwrap_err();
        }
        let args = parsed(&["--etcd-cert", "c", "--etcd-key", "k", "--etcd-ca", "a"]).unwrap();
        let options = args.options().unwrap();
        assert_eq!(options.ca.as_deref(), Some(Path::new("a")));
        assert_eq!(options.cert.as_deref(), Some(Path::new("c")));
        assert_eq!(options.key.as_deref(), Some(Path::new("k")));
    }
}
