//! `kindsight login` at a real issuer.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{ExitStatus, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kindsight_cluster::{Issuer, IssuerPrograms};
use serde_json::Value;

use super::server::{NO_CLUSTERS, NotingServer, User};
use crate::process::text;

/// Lifetime of device codes in seconds: longer than a test.
const CODE_SECONDS: u32 = 300;

/// A user with a server `prod`, to which users of the issuer log in.
fn user(server: &str, issuer: &Issuer, more: &str) -> User {
    let user = User::new();
    let issuer = issuer.url();
    user.configure(&format!(
        "[servers.prod]\nurl = \"{server}\"\n[servers.prod.oidc]\nissuer = \"{issuer}\"\nclient-id = \"kindsight-cli\"\n{more}"
    ));
    user
}

/// Runs `kindsight login`. `act` gets the code that the command shows. Returns all lines that it shows.
fn log_in(user: &User, act: impl FnOnce(&str)) -> (ExitStatus, String) {
    let mut child = user
        .command(&["login", "--server", "prod"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut shown = String::new();
    stderr.read_line(&mut shown).unwrap();
    if let Some((_, code)) = shown.split_once("enter the code ") {
        act(code.trim());
    }
    stderr.read_to_string(&mut shown).unwrap();
    (child.wait().unwrap(), shown)
}

fn claims(authorization: Option<&String>) -> Value {
    let token = authorization.unwrap().strip_prefix("Bearer ").unwrap();
    let claims = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

#[test]
fn a_login_is_used_renewed_and_removed() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    let server = NotingServer::plain(NO_CLUSTERS);
    let user = user(&server.url(), &issuer, "");
    let clusters = ["clusters", "--server", "prod"];
    let (status, shown) = log_in(&user, |code| issuer.approve(code, "alice"));
    assert!(status.success(), "{shown}");
    assert!(shown.contains("logged in to `prod` as alice;"), "{shown}");
    let output = user.run(&clusters, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sent = server.authorizations();
    let first = claims(sent[0].as_ref());
    assert_eq!(first["aud"], "kindsight-cli");
    assert_eq!(first["groups"][0], "team-a");

    // An expired login. Several commands renew the login at the same time, and the issuer takes each refresh token once.
    issuer.set_lifetimes(1, CODE_SECONDS);
    let (status, shown) = log_in(&user, |code| issuer.approve(code, "bob"));
    assert!(status.success(), "{shown}");
    issuer.set_lifetimes(3600, CODE_SECONDS);
    let running: Vec<_> = (0..4)
        .map(|_| {
            user.command(&clusters)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let sent = server.authorizations();
    assert_eq!(sent.len(), 5);
    for authorization in &sent[1..] {
        assert_eq!(authorization, &sent[4], "the login was renewed once");
        assert_eq!(claims(authorization.as_ref())["sub"], "bob");
    }

    let output = user.run(&["logout", "--server", "prod"], &[]);
    assert!(text(&output.stderr).contains("logged out of `prod`"));
    assert!(!user.path("kindsight/logins/prod.json").exists());
    let output = user.run(&clusters, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(server.authorizations()[5], None);
}

#[test]
fn a_login_that_cannot_be_renewed_names_the_way_to_a_new_one() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let mut issuer = Issuer::start(&programs);
    issuer.set_lifetimes(1, CODE_SECONDS);
    let server = NotingServer::plain(NO_CLUSTERS);
    let clusters = ["clusters", "--server", "prod"];
    let without = user(&server.url(), &issuer, "scopes = [\"openid\"]\n");
    let (status, shown) = log_in(&without, |code| issuer.approve(code, "alice"));
    assert!(status.success(), "{shown}");
    let error = without.error(&clusters, &[]);
    assert!(
        error.contains("`kindsight login --server prod` logs in again"),
        "{error}"
    );

    let user = user(&server.url(), &issuer, "");
    let (status, shown) = log_in(&user, |code| issuer.approve(code, "alice"));
    assert!(status.success(), "{shown}");
    // The issuer forgets its refresh tokens.
    issuer.stop();
    let error = user.error(&clusters, &[]);
    assert!(
        error.contains("renew the login to `prod`: request http://"),
        "{error}"
    );
    issuer.start_again();
    let error = user.error(&clusters, &[]);
    assert!(error.contains("the login to `prod` expired at "), "{error}");
    assert!(
        error.contains("logs in again: the issuer answers invalid_grant"),
        "{error}"
    );
    assert_eq!(server.authorizations(), []);
}

#[test]
fn a_logout_revokes_the_refresh_token_at_the_issuer() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    let server = NotingServer::plain(NO_CLUSTERS);
    let user = user(&server.url(), &issuer, "");
    let (login, copy) = (
        user.path("kindsight/logins/prod.json"),
        user.path("copy.json"),
    );
    // Each use of the copy renews its expired ID token.
    issuer.set_lifetimes(1, CODE_SECONDS);
    let (status, shown) = log_in(&user, |code| issuer.approve(code, "alice"));
    assert!(status.success(), "{shown}");
    let clusters = ["clusters", "--server", "prod"];
    let output = user.run(&clusters, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs::copy(&login, &copy).unwrap();
    let output = user.run(&["logout", "--server", "prod"], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "kindsight: logged out of `prod`\n");
    assert!(!login.exists());
    fs::copy(&copy, &login).unwrap();
    let error = user.error(&clusters, &[]);
    assert!(
        error.contains("the issuer answers invalid_grant"),
        "{error}"
    );
}

#[test]
fn a_logout_without_its_issuer_removes_the_login_and_warns() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let mut issuer = Issuer::start(&programs);
    let user = user("https://kindsight.example", &issuer, "");
    let login = user.path("kindsight/logins/prod.json");
    let logout = |reason: &str| {
        let output = user.run(&["logout", "--server", "prod"], &[]);
        let shown = text(&output.stderr);
        assert!(output.status.success(), "{shown}");
        let warning = "warning: the refresh token was removed from this machine, but not revoked at the issuer";
        assert!(shown.contains(warning) && shown.contains(reason), "{shown}");
        assert!(shown.contains("logged out of `prod`"), "{shown}");
        assert!(!login.exists());
    };
    let (status, shown) = log_in(&user, |code| issuer.approve(code, "alice"));
    assert!(status.success(), "{shown}");
    let stored = fs::read(&login).unwrap();
    issuer.stop();
    logout("request http://");
    fs::write(&login, &stored).unwrap();
    user.configure("[servers.prod]\nurl = \"https://kindsight.example\"\n");
    logout("does not name any more");
    fs::write(&login, "not JSON").unwrap();
    logout("the file has another format");
}

#[test]
fn a_refused_or_late_login_stores_nothing() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    let user = user("https://kindsight.example", &issuer, "");
    let (status, shown) = log_in(&user, |code| issuer.deny(code));
    assert_eq!(status.code(), Some(1));
    assert!(shown.contains("the login was refused"), "{shown}");
    issuer.set_lifetimes(60, 2);
    let (status, shown) = log_in(&user, |_| ());
    assert_eq!(status.code(), Some(1));
    assert!(
        shown.contains("the code expired before it was approved"),
        "{shown}"
    );
    assert!(!user.path("kindsight/logins/prod.json").exists());
}

#[test]
fn an_issuer_needs_a_trusted_certificate() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start_with_tls(&programs);
    let untrusted = user("https://kindsight.example", &issuer, "");
    let (status, shown) = log_in(&untrusted, |_| ());
    assert_eq!(status.code(), Some(1));
    assert!(
        shown.contains("`ca` of `oidc` names the PEM file"),
        "{shown}"
    );
    let ca = format!("ca = \"{}\"\n", issuer.ca().display());
    let trusted = user("https://kindsight.example", &issuer, &ca);
    let (status, shown) = log_in(&trusted, |code| issuer.approve(code, "alice"));
    assert!(status.success(), "{shown}");
}

#[test]
fn a_login_needs_a_named_server_with_an_issuer() {
    let user = User::new();
    let error = user.error(&["login"], &[]);
    assert!(
        error.contains("--server needs the name of a server"),
        "{error}"
    );
    user.configure("[servers.prod]\nurl = \"https://kindsight.example\"\n");
    let error = user.error(&["login", "--server", "prod"], &[]);
    assert!(
        error.contains("expected a table `[servers.prod.oidc]`"),
        "{error}"
    );
    let error = user.error(&["login", "--server", "test"], &[]);
    assert!(
        error.contains("no server `test`") && error.contains("names prod"),
        "{error}"
    );
}
