//! Commands over TLS.

use std::path::Path;

use kindsight_cluster::Authority;

use super::server::{NotingServer, User};
use crate::process::text;

#[test]
fn a_token_is_sent_only_to_a_server_with_a_trusted_certificate() {
    let user = User::new();
    let authority = Authority::new("company");
    let server = NotingServer::tls(&authority, None);
    let url = server.url();
    let ca = user.file("ca.pem", authority.certificate());
    let other = user.file("other.pem", Authority::new("other").certificate());
    let token = user.file("token", "s3cret\n");
    let (token, ca, other) = (path(&token), path(&ca), path(&other));
    let clusters = ["clusters", "--server", &url, "--token-file", token];
    for arguments in [&[][..], &["--ca", other]] {
        let error = user.error(&[&clusters, arguments].concat(), &[]);
        assert!(error.contains("is not trusted; --ca FILE"), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
    assert_eq!(server.authorizations(), []);
    let output = user.run(&[&clusters[..], &["--ca", ca]].concat(), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let variables = [
        ("KINDSIGHT_SERVER", Path::new(&url)),
        ("KINDSIGHT_CA", Path::new(ca)),
        ("KINDSIGHT_TOKEN", Path::new("other-s3cret")),
    ];
    let output = user.run(&["clusters"], &variables);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let expected = ["Bearer s3cret", "Bearer other-s3cret"];
    assert_eq!(
        server.authorizations(),
        expected.map(|header| Some(header.to_owned()))
    );
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_requires_one() {
    let user = User::new();
    let (authority, clients) = (Authority::new("company"), Authority::new("clients"));
    let server = NotingServer::tls(&authority, Some(&clients));
    user.file("kindsight/ca.pem", authority.certificate());
    let ann = clients.client("ann", "team-a", None);
    user.file("kindsight/ann.crt", &ann.certificate);
    user.file("kindsight/ann.key", &ann.key);
    let files = "client-cert = \"ann.crt\"\nclient-key = \"ann.key\"\n";
    let url = server.url();
    let prod = |files: &str| {
        format!(
            "default-server = \"prod\"\n[servers.prod]\nurl = \"{url}\"\nca = \"ca.pem\"\n{files}"
        )
    };
    user.configure(&prod(""));
    let error = user.error(&["clusters"], &[]);
    assert!(error.contains("--client-cert and --client-key"), "{error}");
    user.configure(&prod(files));
    let output = user.run(&["clusters"], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(server.authorizations(), [None]);
    let bob = clients.client("bob", "team-b", None);
    user.file("kindsight/ann.key", &bob.key);
    let error = user.error(&["clusters"], &[]);
    assert!(
        error.contains("kindsight/ann.key does not fit the certificate in"),
        "{error}"
    );
    user.file("kindsight/ann.key", &bob.certificate);
    let error = user.error(&["clusters"], &[]);
    assert!(
        error.contains("kindsight/ann.key holds no private key; expected PEM"),
        "{error}"
    );
}

#[test]
fn a_server_that_speaks_no_tls_is_explained() {
    let user = User::new();
    let server = NotingServer::plain("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    let url = server.url().replace("http", "https");
    let error = user.error(&["clusters", "--server", &url], &[]);
    assert!(error.contains("does the server speak TLS"), "{error}");
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
