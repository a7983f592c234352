//! Flags for the states that an orchestrator keeps in MongoDB.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use kindsight_server::{MONGODB_POLL, MongodbSettings, MongodbUri};

use super::password::password;

/// Id of the flag of the URI.
const URI: &str = "mongodb_uri";

/// The connection to a MongoDB.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "States in MongoDB")]
pub(crate) struct MongodbArgs {
    /// URI of the MongoDB that holds states of the observed orchestrator and their history,
    /// `mongodb://HOST:27017,…/DATABASE?OPTION=VALUE`; only read. Needs --observe.
    #[arg(
        id = URI,
        long = "mongodb",
        env = "KINDSIGHT_MONGODB",
        value_name = "URI",
        hide_env_values = true
    )]
    uri: Option<MongodbUri>,
    /// Name of a MongoDB user; the role `read` suffices.
    #[arg(
        id = "mongodb_user",
        long = "mongodb-user",
        env = "KINDSIGHT_MONGODB_USER",
        value_name = "NAME",
        requires = "mongodb_password_file"
    )]
    user: Option<String>,
    /// File with the password of that user; line ends after it do not count.
    #[arg(
        id = "mongodb_password_file",
        long = "mongodb-password-file",
        env = "KINDSIGHT_MONGODB_PASSWORD_FILE",
        value_name = "FILE",
        requires = "mongodb_user"
    )]
    password_file: Option<PathBuf>,
    /// PEM file with the certificate authorities of the MongoDB; enables TLS.
    #[arg(
        id = "mongodb_ca",
        long = "mongodb-ca",
        env = "KINDSIGHT_MONGODB_CA",
        value_name = "FILE"
    )]
    ca: Option<PathBuf>,
    /// Interval at which MongoDB is polled, in seconds.
    #[arg(
        id = "mongodb_poll_seconds",
        long = "mongodb-poll-seconds",
        env = "KINDSIGHT_MONGODB_POLL_SECONDS",
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=3600),
        default_value_t = MONGODB_POLL.as_secs()
    )]
    poll_seconds: u64,
}

impl MongodbArgs {
    /// The settings of these flags. Reads the password.
    ///
    /// # Errors
    /// `observes` is false, or the password cannot be read.
    pub(crate) fn settings(&self, observes: bool) -> anyhow::Result<Option<MongodbSettings>> {
        let Some(uri) = self.uri.clone() else {
            anyhow::ensure!(
                self.user.is_none() && self.ca.is_none(),
                "--mongodb-user and --mongodb-ca need the URI of a MongoDB: --mongodb"
            );
            return Ok(None);
        };
        anyhow::ensure!(
            observes,
            "--mongodb needs --observe: the states belong to the AppContexts of an orchestrator, \
             which --observe --store etcd://HOST:2379 reads"
        );
        let password = self.password_file.as_deref().map(password);
        Ok(Some(MongodbSettings {
            uri,
            user: self.user.clone(),
            password: password.transpose().context("MongoDB")?,
            ca: self.ca.clone(),
            every: Duration::from_secs(self.poll_seconds),
        }))
    }
}

/// Refuses a password on the command line, which every user of the machine can read.
///
/// # Errors
/// There is one.
pub(crate) fn refuse_password(serve: &ArgMatches) -> anyhow::Result<()> {
    let uri = serve.get_one::<MongodbUri>(URI);
    let is_seen = serve.value_source(URI) == Some(ValueSource::CommandLine);
    anyhow::ensure!(
        !(is_seen && uri.is_some_and(MongodbUri::has_password)),
        "--mongodb has a password, which everybody on this machine can see on the command line: give \
         --mongodb-user and --mongodb-password-file, or the URI in the configuration file or as KINDSIGHT_MONGODB"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn matches(arguments: &[&str]) -> Result<ArgMatches, clap::Error> {
        let command = MongodbArgs::augment_args(Command::new("serve"));
        command.try_get_matches_from(["serve"].iter().chain(arguments))
    }

    fn parsed(arguments: &[&str]) -> MongodbArgs {
        MongodbArgs::from_arg_matches(&matches(arguments).unwrap()).unwrap()
    }

    #[test]
    fn a_password_comes_from_a_file_and_is_never_shown() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, "let me in\n").unwrap();
        let file = path.display().to_string();
        let uri = "mongodb://emco-mongo:27017/emco";
        let flags = [
            "--mongodb",
            uri,
            "--mongodb-user",
            "reader",
            "--mongodb-password-file",
            &file,
        ];
        let settings = parsed(&flags).settings(true).unwrap().unwrap();
        assert_eq!(settings.password.as_deref(), Some("let me in"));
        assert_eq!(settings.every, MONGODB_POLL);
        assert!(!format!("{settings:?}").contains("let me in"));
        for alone in ["--mongodb-user", "--mongodb-password-file"] {
            matches(&["--mongodb", uri, alone, "x"]).unwrap_err();
        }
        std::fs::remove_file(&path).unwrap();
        assert!(parsed(&flags).settings(true).is_err(), "there is no file");
    }

    #[test]
    fn a_password_on_the_command_line_is_refused_and_not_repeated() {
        for (uri, is_refused) in [
            ("mongodb://reader:s3cr3t@host/emco", true),
            ("mongodb://reader:s3/cr3t@host/emco", true),
            ("mongodb://reader@host:27017/emco", false),
            (
                "mongodb://host:27017,other:27017/emco?replicaSet=a:b",
                false,
            ),
        ] {
            let matches = matches(&["--mongodb", uri]).unwrap();
            let refused = refuse_password(&matches)
                .err()
                .map(|error| error.to_string());
            assert_eq!(refused.is_some(), is_refused, "{uri}");
            assert!(!refused.unwrap_or_default().contains("cr3t"));
            let args = MongodbArgs::from_arg_matches(&matches).unwrap();
            assert!(!format!("{args:?}").contains("cr3t"));
        }
    }

    #[test]
    fn it_needs_something_to_observe() {
        let error = parsed(&["--mongodb", "mongodb://host"])
            .settings(false)
            .unwrap_err();
        assert!(error.to_string().contains("--observe"), "{error}");
        assert!(parsed(&[]).settings(false).unwrap().is_none());
        let error = parsed(&["--mongodb-ca", "ca.crt"])
            .settings(true)
            .unwrap_err();
        assert!(error.to_string().contains("--mongodb"), "{error}");
        for seconds in ["0", "3601", "x"] {
            matches(&["--mongodb-poll-seconds", seconds]).unwrap_err();
        }
    }
}
