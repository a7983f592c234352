//! Flags for an issuer of OIDC tokens.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use kindsight_server::access::{
    CodeFlow, CodeFlowSettings, IssuerUrl, Oidc, OidcSettings, Proxies, SignatureAlgorithm,
};

use crate::config::password::password;

/// The issuer whose tokens are accepted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Access control by OpenID Connect")]
pub(crate) struct OidcArgs {
    /// URL of an OIDC issuer whose tokens are accepted, as its tokens name it.
    #[arg(
        id = "oidc_issuer",
        long = "oidc-issuer",
        env = "KINDSIGHT_OIDC_ISSUER",
        value_name = "URL",
        requires_all = ["oidc_audience", "roles"]
    )]
    issuer: Option<IssuerUrl>,
    /// Audience of the tokens, which is the client id for ID tokens.
    #[arg(
        id = "oidc_audience",
        long = "oidc-audience",
        env = "KINDSIGHT_OIDC_AUDIENCE",
        value_name = "NAME",
        requires = "oidc_issuer"
    )]
    audience: Option<String>,
    /// Claim with the name of the user. The claim `email` counts only if the issuer verified the address.
    #[arg(
        id = "oidc_username_claim",
        long = "oidc-username-claim",
        env = "KINDSIGHT_OIDC_USERNAME_CLAIM",
        value_name = "CLAIM",
        default_value = OidcSettings::USERNAME_CLAIM
    )]
    username_claim: String,
    /// Claim with the groups of the user.
    #[arg(
        id = "oidc_groups_claim",
        long = "oidc-groups-claim",
        env = "KINDSIGHT_OIDC_GROUPS_CLAIM",
        value_name = "CLAIM",
        default_value = OidcSettings::GROUPS_CLAIM
    )]
    groups_claim: String,
    /// PEM file with the only certificate authorities that are trusted for the issuer. Default: the system's.
    #[arg(
        id = "oidc_ca",
        long = "oidc-ca",
        env = "KINDSIGHT_OIDC_CA",
        value_name = "FILE",
        requires = "oidc_issuer"
    )]
    ca: Option<PathBuf>,
    /// Allowed algorithm of signatures; repeat for several.
    #[arg(
        id = "oidc_algorithm",
        long = "oidc-algorithm",
        env = "KINDSIGHT_OIDC_ALGORITHM",
        value_name = "NAME",
        value_delimiter = ',',
        default_values_t = SignatureAlgorithm::DEFAULT.to_vec()
    )]
    algorithms: Vec<SignatureAlgorithm>,
    /// URL of this server for browsers, which enables the sign-in of browsers at the issuer. Register
    /// URL/v2/session/oidc/callback as redirect URI at the issuer.
    #[arg(
        id = "oidc_public_url",
        long = "oidc-public-url",
        env = "KINDSIGHT_OIDC_PUBLIC_URL",
        value_name = "URL",
        requires = "oidc_issuer"
    )]
    public_url: Option<IssuerUrl>,
    /// File with the secret of a confidential client, for the sign-in of browsers. The client id is the audience.
    #[arg(
        id = "oidc_client_secret_file",
        long = "oidc-client-secret-file",
        env = "KINDSIGHT_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE",
        requires = "oidc_public_url"
    )]
    client_secret_file: Option<PathBuf>,
}

/// The path to which the issuer returns a browser.
const REDIRECT_PATH: &str = "/v2/session/oidc/callback";

impl OidcArgs {
    /// Returns whether tokens of an issuer are accepted.
    pub(super) fn is_enabled(&self) -> bool {
        self.issuer.is_some()
    }

    /// The verifier of the issuer's tokens, if the flags name an issuer. Reads the trusted certificates.
    ///
    /// # Errors
    /// The certificates cannot be used.
    pub(crate) fn verifier(&self) -> anyhow::Result<Option<Oidc>> {
        let settings = self.settings().map(Oidc::new).transpose();
        settings.context("cannot verify tokens of the OIDC issuer")
    }

    /// The sign-in of browsers at the issuer, if the flags enable it. Reads the secret of the client.
    ///
    /// # Errors
    /// The secret or the trusted certificates cannot be read.
    pub(super) fn code_flow(&self, oidc: &Oidc) -> anyhow::Result<Option<CodeFlow>> {
        let Some(public_url) = &self.public_url else {
            return Ok(None);
        };
        let secret = self.client_secret_file.as_deref().map(password);
        let settings = CodeFlowSettings {
            redirect_url: format!(
                "{}{REDIRECT_PATH}",
                public_url.as_str().trim_end_matches('/')
            ),
            client_secret: secret.transpose()?.map(Into::into),
        };
        let flow = oidc.code_flow(settings);
        flow.map(Some)
            .context("cannot sign browsers in at the OIDC issuer")
    }

    fn settings(&self) -> Option<OidcSettings> {
        Some(OidcSettings {
            issuer: self.issuer.clone()?,
            audience: self.audience.clone()?,
            username_claim: self.username_claim.clone(),
            groups_claim: self.groups_claim.clone(),
            ca: self.ca.clone(),
            proxies: Proxies::of_environment(),
            algorithms: self.algorithms.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::config::access::AccessArgs;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        access: AccessArgs,
    }

    const ISSUER: [&str; 6] = [
        "--roles",
        "roles.toml",
        "--oidc-issuer",
        "https://login.example",
        "--oidc-audience",
        "kindsight-cli",
    ];

    fn parsed(arguments: &[&str]) -> Result<Option<OidcSettings>, clap::Error> {
        let arguments = ["kindsight"].iter().chain(arguments);
        Command::try_parse_from(arguments).map(|command| command.access.oidc.settings())
    }

    #[test]
    fn an_issuer_has_defaults() {
        assert!(parsed(&[]).unwrap().is_none());
        let settings = parsed(&ISSUER).unwrap().unwrap();
        assert_eq!(settings.issuer.as_str(), "https://login.example");
        assert_eq!(settings.audience, "kindsight-cli");
        assert_eq!(settings.username_claim, "sub");
        assert_eq!(settings.groups_claim, "groups");
        assert_eq!(settings.algorithms, SignatureAlgorithm::DEFAULT);
    }

    #[test]
    fn algorithms_replace_the_defaults() {
        let arguments = [ISSUER.as_slice(), &["--oidc-algorithm", "ES256,ES384"]].concat();
        let settings = parsed(&arguments).unwrap().unwrap();
        let names: Vec<String> = settings
            .algorithms
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(names, ["ES256", "ES384"]);
    }

    #[test]
    fn an_issuer_needs_an_audience_and_roles_and_a_secure_url() {
        parsed(&ISSUER[2..]).unwrap_err();
        parsed(&ISSUER[..4]).unwrap_err();
        parsed(&["--oidc-audience", "kindsight-cli"]).unwrap_err();
        for [flag, wrong] in [
            ["--oidc-issuer", "http://login.example"],
            ["--oidc-algorithm", "HS256"],
            ["--oidc-algorithm", "none"],
        ] {
            let error = parsed(&[flag, wrong]).unwrap_err().to_string();
            assert!(error.contains("use "), "{error}");
        }
    }
}
