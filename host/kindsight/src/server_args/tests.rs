use std::path::Path;

use clap::Parser;
use tempfile::TempDir;

use super::*;

#[derive(Debug, Parser)]
struct Command {
    #[command(flatten)]
    server: ServerArgs,
}

const CONFIG: &str = r#"
default-server = "prod"
[servers.prod]
url = "https://prod.example"
ca = "/prod/ca"
client-cert = "/prod/cert"
client-key = "/prod/key"
token-file = "/prod/token"
[servers.test]
url = "https://test.example"
"#;

fn connection(arguments: &[&str], environment: Environment) -> anyhow::Result<Connection> {
    let arguments = ["kindsight"].iter().chain(arguments);
    let args = Command::try_parse_from(arguments)?.server;
    let config: ClientConfig = toml::from_str(CONFIG)?;
    let server = args.server.as_deref();
    args.credential.connection(server, &config, environment)
}

fn file(source: &TokenSource) -> &Path {
    match source {
        TokenSource::File(path) => path,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flag_precedes_the_environment_and_the_environment_the_named_server() {
    let of_file = |token_file: &str| Environment {
        token: None,
        token_file: Some(token_file.into()),
    };
    let named = connection(&[], Environment::default()).unwrap();
    assert_eq!(named.url, "https://prod.example");
    assert_eq!(file(&named.token), "/prod/token");
    assert_eq!(named.tls.ca.as_deref(), Some(Path::new("/prod/ca")));
    assert_eq!(
        named.tls.client_key.as_deref(),
        Some(Path::new("/prod/key"))
    );
    let set = connection(&[], of_file("/env/token")).unwrap();
    assert_eq!(file(&set.token), "/env/token");
    let given = [
        "--token-file",
        "/flag/token",
        "--ca",
        "/flag/ca",
        "--client-cert",
        "/flag/cert",
    ];
    let given = connection(&given, of_file("/env/token")).unwrap();
    assert_eq!(file(&given.token), "/flag/token");
    assert_eq!(given.tls.ca.as_deref(), Some(Path::new("/flag/ca")));
    assert_eq!(given.tls.client_key, None, "the key of another certificate");
}

#[test]
fn a_url_has_no_settings_of_a_named_server() {
    let none = Environment::default;
    let other = connection(&["--server", "https://other.example"], none()).unwrap();
    assert_eq!(other.url, "https://other.example");
    assert_eq!(other.tls, TlsFiles::default());
    assert!(matches!(other.token, TokenSource::None));
    let test = connection(&["--server", "test"], none()).unwrap();
    assert_eq!(test.url, "https://test.example");
    let error = connection(&["--server", "tset"], none()).unwrap_err();
    assert!(error.to_string().contains("no server `tset`"), "{error}");
}

#[test]
fn the_token_of_the_environment_is_taken_and_never_shown() {
    let environment = |token: &str, token_file: Option<&str>| Environment {
        token: Some(token.to_owned()),
        token_file: token_file.map(PathBuf::from),
    };
    let set = connection(&[], environment("s3cret", None)).unwrap();
    assert!(!format!("{set:?}").contains("s3cret"));
    assert!(matches!(set.token, TokenSource::Environment(_)));
    let error = connection(&[], environment("s3cret and more", None)).unwrap_err();
    let error = format!("{error:#}");
    assert!(error.starts_with("read KINDSIGHT_TOKEN: "), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
    let error = connection(&[], environment("s3cret", Some("/env/token"))).unwrap_err();
    let expected = "both KINDSIGHT_TOKEN and KINDSIGHT_TOKEN_FILE are set; set one of them";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_token_is_sent_without_tls_only_to_this_machine() {
    let folder = TempDir::new().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "s3cret").unwrap();
    let token = token.to_str().unwrap();
    for (url, is_sent) in [
        ("http://127.0.0.1:9015", true),
        ("http://[::1]:9015", true),
        ("http://localhost:9015/kindsight/", true),
        ("https://kindsight.example", true),
        ("http://kindsight.example", false),
        ("http://10.0.0.1:9015", false),
        ("http://localhost.example", false),
    ] {
        let given = ["--server", url, "--token-file", token];
        let server = Server::new(connection(&given, Environment::default()).unwrap());
        assert_eq!(server.is_ok(), is_sent, "{url}");
        if let Err(error) = server {
            let error = error.to_string();
            assert!(error.starts_with("the token of /"), "{error}");
            assert!(error.contains("use an `https://` URL"), "{error}");
        }
        assert!(Server::open(url).is_ok());
    }
}

#[test]
fn the_url_of_a_server_is_checked() {
    for url in [
        "ftp://kindsight.example",
        "https://",
        "http://h?x=y",
        "https://ann:s3cret@kindsight.example",
    ] {
        let error = Server::open(url).unwrap_err().to_string();
        assert!(error.contains("URL of a server"), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}
