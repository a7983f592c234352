//! `kindsight token`: creates, lists and revokes the tokens of a server, in its token file.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use kindsight_access::{StoredToken, TokenFile, TokenName};
use serde_json::{Value, json};

use crate::cli::hint;
use crate::output_format::OutputFormat;
use crate::table::Table;

/// `kindsight token`.
#[derive(Debug, Args)]
#[command(after_help = "\
The commands change the token file on this machine. A running server reads the file again. The
file holds no secrets: a token is printed once, by `new`.

Examples:
  kindsight token new ci --expires 90d --tokens /etc/kindsight/tokens.toml > ci.token
  kindsight token list --tokens /etc/kindsight/tokens.toml
  kindsight token revoke ci --tokens /etc/kindsight/tokens.toml")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    action: TokenAction,
    #[command(flatten)]
    file: TokenFileArgs,
}

#[derive(Debug, Args)]
struct TokenFileArgs {
    /// Token file of the server; `new` makes the file if it does not exist.
    #[arg(
        id = "server_tokens",
        long = "tokens",
        env = "KINDSIGHT_TOKENS",
        value_name = "FILE",
        global = true,
        required = false
    )]
    path: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Creates a token, and prints the token once.
    New(NewArgs),
    /// Lists the tokens with their expiry.
    List(ListArgs),
    /// Revokes a token: a running server refuses the token within seconds.
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
struct NewArgs {
    /// Name of the token, which is the name of its user: lower-case letters, digits and `-`.
    name: TokenName,
    /// Lifetime, such as `90d` or `12h`, or the time of the expiry in RFC 3339.
    #[arg(long, value_name = "TIME", value_parser = expiry)]
    expires: Expiry,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    output: OutputFormat,
}

#[derive(Debug, Args)]
struct RevokeArgs {
    /// Name of the token.
    name: TokenName,
}

/// The expiry of a new token.
#[derive(Debug, Clone, Copy)]
enum Expiry {
    After(Span),
    At(Timestamp),
}

impl Expiry {
    /// The time of the expiry of a token that is created now.
    ///
    /// # Errors
    /// The time is not after now.
    fn time(self, now: Timestamp) -> anyhow::Result<Timestamp> {
        let time = match self {
            Self::At(time) => Some(time),
            Self::After(span) => {
                let expiry = now.to_zoned(TimeZone::UTC).checked_add(span).ok();
                expiry.map(|expiry| expiry.timestamp())
            }
        };
        let time = time.filter(|time| *time > now);
        time.context("--expires is not a time in the future; expected a time such as `90d`")
    }
}

/// Parser of `--expires`.
fn expiry(text: &str) -> Result<Expiry, String> {
    let span = text.parse().map(Expiry::After);
    span.or_else(|_| text.parse().map(Expiry::At)).map_err(|_| {
        format!("`{text}` is no time; expected `90d`, `12h` or `2027-01-31T00:00:00Z`")
    })
}

/// Runs the command.
///
/// # Errors
/// The token file cannot be read or changed, a name is taken or unknown, or the output fails.
pub(crate) fn run(args: &TokenArgs) -> anyhow::Result<()> {
    let path = args.file.path.as_ref();
    let path = path.context("--tokens FILE must name the token file of the server")?;
    match &args.action {
        TokenAction::New(args) => {
            let expires = args.expires.time(Timestamp::now())?;
            let token = TokenFile::create(path, args.name.clone(), expires)?;
            writeln!(io::stdout().lock(), "{}", &*token.text)?;
            hint(&format!(
                "the token `{}` is valid until {}, and is not shown again",
                args.name, token.stored.expires
            ));
        }
        TokenAction::List(args) => {
            let file = TokenFile::read(path)?;
            let now = Timestamp::now();
            list(io::stdout().lock(), &file, args.output, now)?;
        }
        TokenAction::Revoke(args) => {
            TokenFile::revoke(path, &args.name)?;
            hint(&format!("revoked the token `{}`", args.name));
        }
    }
    Ok(())
}

/// Prints the tokens by name.
fn list(
    mut to: impl Write,
    file: &TokenFile,
    output: OutputFormat,
    now: Timestamp,
) -> io::Result<()> {
    match output {
        OutputFormat::Json => {
            let tokens: Vec<Value> = file.tokens().map(|token| listed(token, now)).collect();
            writeln!(to, "{}", json!({"tokens": tokens}))
        }
        OutputFormat::Table => {
            let mut table = Table::new(&mut to, &["NAME", "CREATED", "EXPIRES", "STATE"]);
            for token in file.tokens() {
                table.row(&[
                    token.name.as_str(),
                    &token.created.to_string(),
                    &token.expires.to_string(),
                    state(token, now),
                ])?;
            }
            table.flush()
        }
    }
}

fn listed(token: &StoredToken, now: Timestamp) -> Value {
    json!({
        "name": token.name,
        "created": token.created,
        "expires": token.expires,
        "state": state(token, now),
    })
}

fn state(token: &StoredToken, now: Timestamp) -> &'static str {
    if token.is_expired(now.as_millisecond()) {
        "expired"
    } else {
        "valid"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_expires_after_a_lifetime_or_at_a_time_in_the_future() {
        let now: Timestamp = "2026-11-23T12:00:00Z".parse().unwrap();
        let time = |text: &str| expiry(text).unwrap().time(now);
        for (text, expected) in [
            ("90d", "2027-02-21T12:00:00Z"),
            ("12h", "2026-11-24T00:00:00Z"),
            ("1y", "2027-11-23T12:00:00Z"),
            ("2027-01-31T00:00:00Z", "2027-01-31T00:00:00Z"),
        ] {
            assert_eq!(time(text).unwrap().to_string(), expected);
        }
        for past in ["0s", "-1d", "2026-11-23T12:00:00Z", "9999y"] {
            let error = time(past).unwrap_err().to_string();
            assert!(error.contains("not a time in the future"), "{error}");
        }
        for text in ["", "90", "never"] {
            let error = expiry(text).unwrap_err();
            assert!(error.contains("expected `90d`"), "{error}");
        }
    }

    #[test]
    fn tokens_are_listed_without_their_digests() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("tokens.toml");
        let expires: Timestamp = "2999-01-01T00:00:00Z".parse().unwrap();
        for name in ["dev", "ci"] {
            TokenFile::create(&path, name.parse().unwrap(), expires).unwrap();
        }
        let file = TokenFile::read(&path).unwrap();
        let shown = |output, now| {
            let mut shown = Vec::new();
            list(&mut shown, &file, output, now).unwrap();
            String::from_utf8(shown).unwrap()
        };
        let table = shown(OutputFormat::Table, Timestamp::now());
        let lines: Vec<&str> = table.lines().collect();
        assert!(
            lines[1].starts_with("ci ") && lines[1].ends_with("valid"),
            "{table}"
        );
        assert!(lines[2].starts_with("dev "), "{table}");
        let json = shown(OutputFormat::Json, expires);
        assert!(json.contains(r#""state":"expired""#), "{json}");
        assert!(!format!("{table}{json}").contains("sha256"));
    }
}
