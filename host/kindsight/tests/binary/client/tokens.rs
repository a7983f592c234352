//! Tokens of commands, and the errors of servers that refuse them.

use std::path::Path;

use super::server::{NO_CLUSTERS, NotingServer, User};
use crate::process::text;

const REFUSED: &str = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 36\r\n\r\n{\"detail\": \"authenticate to see it\"} ";

#[test]
fn a_refusal_names_the_credential_and_the_way_to_another_one() {
    let user = User::new();
    let server = NotingServer::plain(REFUSED);
    let url = server.url();
    let token = user.file("token", "s3cret");
    let error = user.error(&["clusters", "--server", &url], &[]);
    assert!(
        error.contains("the server answers 401: authenticate to see it"),
        "{error}"
    );
    assert!(
        error.contains("the request had no token; --token-file FILE"),
        "{error}"
    );
    let variable = ("KINDSIGHT_TOKEN_FILE", token.as_path());
    let error = user.error(&["clusters", "--server", &url], &[variable]);
    let expected = format!("the request had the token of {};", token.display());
    assert!(error.contains(&expected), "{error}");
    assert!(
        error.contains("chmod 600"),
        "other users can read the file: {error}"
    );
    assert!(!error.contains("s3cret"), "{error}");
    user.configure(&format!(
        "[servers.prod]\nurl = \"{url}\"\n[servers.prod.oidc]\nissuer = \"https://login.example\"\nclient-id = \"cli\"\n"
    ));
    let error = user.error(&["clusters", "--server", "prod"], &[]);
    assert!(
        error.contains("no token; `kindsight login --server prod` logs in"),
        "{error}"
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let user = User::new();
    let other = NotingServer::plain(NO_CLUSTERS);
    let answer = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}/v2/clusters\r\ncontent-length: 0\r\n\r\n",
        other.url()
    );
    let server = NotingServer::plain(answer.leak());
    let token = Path::new("s3cret");
    let arguments = ["clusters", "--server", &server.url()];
    let error = user.error(&arguments, &[("KINDSIGHT_TOKEN", token)]);
    assert!(error.contains("the server answers 307"), "{error}");
    assert!(error.contains("redirects are not followed"), "{error}");
    assert_eq!(server.authorizations(), [Some("Bearer s3cret".to_owned())]);
    assert_eq!(other.authorizations(), []);
}

#[test]
fn a_proxy_gets_no_token_for_this_machine() {
    let user = User::new();
    let [server, proxy] = [(); 2].map(|()| NotingServer::plain(NO_CLUSTERS));
    let proxy_url = proxy.url();
    let variables = [
        ("HTTP_PROXY", Path::new(&proxy_url)),
        ("ALL_PROXY", Path::new(&proxy_url)),
        ("NO_PROXY", Path::new("other.example")),
        ("KINDSIGHT_TOKEN", Path::new("s3cret")),
    ];
    let output = user.run(&["clusters", "--server", &server.url()], &variables);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(proxy.authorizations(), []);
    assert_eq!(server.authorizations().len(), 1);
}
