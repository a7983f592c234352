//! Flags for the connection to etcd, used by every command that opens a store.

use std::path::PathBuf;

use clap::Args;
use kindsight_server::store::EtcdOptions;

use super::password::password;

/// The connection to etcd. Other stores ignore these flags.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Stores in an etcd")]
pub(crate) struct EtcdArgs {
    /// PEM file with the certificate authorities of an etcd; enables TLS.
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
    /// The options that these flags set. Reads the password.
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        etcd: EtcdArgs,
    }

    fn parsed(arguments: &[&str]) -> Result<EtcdArgs, clap::Error> {
        let arguments = ["kindsight"].iter().chain(arguments);
        Command::try_parse_from(arguments).map(|command| command.etcd)
    }

    #[test]
    fn a_password_is_read_without_line_ends() {
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
