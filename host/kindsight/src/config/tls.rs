//! Flags for TLS.

use std::path::PathBuf;

use clap::Args;
use kindsight_server::access::TlsSettings;

/// TLS of the listener. The files are read again when they change.
#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub(crate) struct TlsArgs {
    /// PEM file with the server's certificate; enables TLS.
    ///
    /// The intermediate certificates follow it in the file.
    #[arg(
        id = "tls_cert",
        long = "tls-cert",
        env = "KINDSIGHT_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    cert: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    #[arg(
        id = "tls_key",
        long = "tls-key",
        env = "KINDSIGHT_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    key: Option<PathBuf>,
    /// PEM file with the authorities that sign certificates of clients. A client can authenticate with such a
    /// certificate: the common name is its user, and the organizations are its groups.
    #[arg(
        id = "tls_client_ca",
        long = "tls-client-ca",
        env = "KINDSIGHT_TLS_CLIENT_CA",
        value_name = "FILE",
        requires_all = ["tls_cert", "roles"]
    )]
    client_ca: Option<PathBuf>,
    /// PEM file with the revocation lists of those authorities, one list for each. A certificate whose authority has
    /// no list is refused.
    #[arg(
        id = "tls_client_crl",
        long = "tls-client-crl",
        env = "KINDSIGHT_TLS_CLIENT_CRL",
        value_name = "FILE",
        requires = "tls_client_ca"
    )]
    client_crl: Option<PathBuf>,
}

impl TlsArgs {
    /// Returns whether clients can authenticate with certificates.
    pub(crate) fn has_client_ca(&self) -> bool {
        self.client_ca.is_some()
    }

    /// The settings of these flags; `None` if TLS is not enabled.
    pub(crate) fn settings(&self) -> Option<TlsSettings> {
        Some(TlsSettings {
            cert: self.cert.clone()?,
            key: self.key.clone()?,
            client_ca: self.client_ca.clone(),
            client_crl: self.client_crl.clone(),
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
        tls: TlsArgs,
        #[arg(long)]
        roles: Option<PathBuf>,
    }

    fn parsed(arguments: &[&str]) -> Result<Option<TlsSettings>, clap::Error> {
        let arguments = ["kindsight"].iter().chain(arguments);
        Command::try_parse_from(arguments).map(|command| command.tls.settings())
    }

    #[test]
    fn a_file_needs_the_files_that_it_belongs_to() {
        assert_eq!(parsed(&[]).unwrap(), None);
        let pair = ["--tls-cert", "c", "--tls-key", "k"];
        let settings = parsed(&pair).unwrap().unwrap();
        assert_eq!(settings.cert, Path::new("c"));
        assert_eq!(settings.key, Path::new("k"));
        for alone in [
            "--tls-cert",
            "--tls-key",
            "--tls-client-ca",
            "--tls-client-crl",
        ] {
            parsed(&[alone, "x"]).unwrap_err();
        }
        parsed(&[&pair[..], &["--tls-client-crl", "r"]].concat()).unwrap_err();
        let all = [
            "--tls-client-ca",
            "a",
            "--tls-client-crl",
            "r",
            "--roles",
            "b",
        ];
        let settings = parsed(&[&pair[..], &all].concat()).unwrap().unwrap();
        assert_eq!(settings.client_ca.as_deref(), Some(Path::new("a")));
        assert_eq!(settings.client_crl.as_deref(), Some(Path::new("r")));
    }
}
