//! The client configuration: a file with named servers.
//!
//! The file is separate from the configuration file of `serve`, because it belongs to a user and not to a server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use crate::config_file;

/// The variable that names another file.
const FILE: &str = "KINDSIGHT_CLIENT_CONFIG";

/// The client configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ClientConfig {
    default_server: Option<String>,
    #[serde(default)]
    servers: BTreeMap<String, NamedServer>,
    /// The file, for errors.
    #[serde(skip)]
    file: PathBuf,
}

/// A named server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct NamedServer {
    pub(crate) url: String,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) client_cert: Option<PathBuf>,
    pub(crate) client_key: Option<PathBuf>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) oidc: Option<OidcClient>,
}

/// The client of an issuer, for `kindsight login`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct OidcClient {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    /// Scopes to request; without a list, see `Issuer::scopes`.
    pub(crate) scopes: Option<Vec<String>>,
    /// Authorities that alone may sign the certificate of the issuer.
    pub(crate) ca: Option<PathBuf>,
}

impl NamedServer {
    /// A server with only a URL.
    pub(crate) fn at(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            ..Self::default()
        }
    }

    fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let of_oidc = self.oidc.as_mut().and_then(|oidc| oidc.ca.as_mut());
        let own = [
            &mut self.ca,
            &mut self.client_cert,
            &mut self.client_key,
            &mut self.token_file,
        ];
        own.into_iter().flatten().chain(of_oidc)
    }
}

impl ClientConfig {
    /// Reads the file. Without a file at the default path, the configuration is empty.
    ///
    /// # Errors
    /// The file cannot be read, has an unknown key or an invalid name, or the file of the environment does not exist.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let set = std::env::var_os(FILE).filter(|file| !file.is_empty());
        let is_set = set.is_some();
        let Some(file) = set.map(PathBuf::from).or_else(default_file) else {
            return Ok(Self::default());
        };
        if !is_set && !file.exists() {
            return Ok(Self {
                file,
                ..Self::default()
            });
        }
        Self::of_file(&file).with_context(|| format!("client configuration {}", file.display()))
    }

    fn of_file(file: &Path) -> anyhow::Result<Self> {
        let mut config: Self = config_file::table(file)?.try_into()?;
        let home = std::env::home_dir();
        let folder = file.parent().unwrap_or(Path::new("."));
        for (name, server) in &mut config.servers {
            check_name(name)?;
            for path in server.paths() {
                *path = resolved(path, folder, home.as_deref());
            }
        }
        file.clone_into(&mut config.file);
        if let Some(name) = &config.default_server {
            config.server(name).context("`default-server`")?;
        }
        Ok(config)
    }

    /// The name of the server for commands without `--server`.
    pub(crate) fn default_server(&self) -> Option<&str> {
        self.default_server.as_deref()
    }

    /// Returns whether a server has this name.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.servers.contains_key(name)
    }

    /// The server of this name.
    ///
    /// # Errors
    /// No server has the name; the error lists the known names.
    pub(crate) fn server(&self, name: &str) -> anyhow::Result<&NamedServer> {
        self.servers.get(name).with_context(|| {
            let known: Vec<&str> = self.servers.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "which names no servers".to_owned()
            } else {
                format!("which names {}", known.join(", "))
            };
            format!(
                "there is no server `{name}` in {}, {known}; expected one of its names, or a URL: `https://HOST:PORT`",
                self.file.display()
            )
        })
    }
}

/// `$XDG_CONFIG_HOME/kindsight/config.toml`, by default below `~/.config`.
fn default_file() -> Option<PathBuf> {
    let folder = xdg_folder("XDG_CONFIG_HOME", ".config")?;
    Some(folder.join("config.toml"))
}

/// The folder of kindsight below a base directory of the user.
pub(crate) fn xdg_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    // The specification has relative paths ignored.
    let base = std::env::var_os(variable).map(PathBuf::from);
    let base = base.filter(|base| base.is_absolute());
    let base = base.or_else(|| Some(std::env::home_dir()?.join(below_home)))?;
    Some(base.join("kindsight"))
}

/// A path of the file: relative to the folder of the file, or to the home directory after `~/`.
fn resolved(path: &Path, folder: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => folder.join(path),
    }
}

/// Checks the name of a server, which is also the name of the file of its login.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    anyhow::ensure!(
        name.bytes().all(is_plain) && name.starts_with(|first: char| first.is_ascii_alphanumeric()),
        "`{name}` is not the name of a server; expected letters, digits, `-`, `_` and `.`, beginning with a letter or a digit"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn config(text: &str) -> anyhow::Result<(TempDir, ClientConfig)> {
        let folder = TempDir::new()?;
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text)?;
        let config = ClientConfig::of_file(&file)?;
        Ok((folder, config))
    }

    fn error(text: &str) -> String {
        format!("{:#}", config(text).unwrap_err())
    }

    #[test]
    fn a_named_server_has_its_settings_with_paths_from_the_folder_of_the_file() {
        let (folder, config) = config(
            r#"
default-server = "prod"
[servers.prod]
url = "https://kindsight.example:9015"
ca = "/etc/ssl/company.pem"
token-file = "prod.token"
[servers.prod.oidc]
issuer = "https://login.example"
client-id = "kindsight-cli"
ca = "login.pem"
"#,
        )
        .unwrap();
        assert_eq!(config.default_server(), Some("prod"));
        let oidc = OidcClient {
            issuer: "https://login.example".to_owned(),
            client_id: "kindsight-cli".to_owned(),
            scopes: None,
            ca: Some(folder.path().join("login.pem")),
        };
        let expected = NamedServer {
            ca: Some("/etc/ssl/company.pem".into()),
            token_file: Some(folder.path().join("prod.token")),
            oidc: Some(oidc),
            ..NamedServer::at("https://kindsight.example:9015")
        };
        assert_eq!(config.server("prod").unwrap(), &expected);
    }

    #[test]
    fn a_path_may_begin_in_the_home_directory() {
        let (folder, home) = (Path::new("/etc/k"), Some(Path::new("/home/ann")));
        for (path, expected) in [
            ("~/x/y", "/home/ann/x/y"),
            ("x/y", "/etc/k/x/y"),
            ("/x/y", "/x/y"),
            ("~x/y", "/etc/k/~x/y"),
        ] {
            assert_eq!(resolved(Path::new(path), folder, home), Path::new(expected));
        }
    }

    #[test]
    fn unknown_keys_and_names_are_refused_with_the_known_ones() {
        let text = error("[servers.a]\nurl = \"http://h\"\ntoken = \"s3cret\"");
        assert!(text.contains("unknown field `token`"), "{text}");
        assert!(text.contains("`token-file`"), "{text}");
        let text = error("default = \"a\"");
        assert!(
            text.contains("expected `default-server` or `servers`"),
            "{text}"
        );
        let text =
            error("default-server = \"c\"\n[servers.a]\nurl = \"x\"\n[servers.b]\nurl = \"y\"");
        assert!(text.contains("no server `c`"), "{text}");
        assert!(text.contains("which names a, b;"), "{text}");
        let text = error("[servers.\"../a\"]\nurl = \"x\"");
        assert!(
            text.contains("`../a` is not the name of a server"),
            "{text}"
        );
        let text = error("[servers.a]\nca = \"x\"");
        assert!(text.contains("missing field `url`"), "{text}");
    }
}
