//! Sign-in, and the ends of a session: sign-out, expiry, revocation, and lost rights.

mod at_issuer;

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use kindsight_access::{AccessSettings, TlsSettings, TokenFile};
use kindsight_cluster::Authority;
use kindsight_server::Settings;
use serde_json::json;

use crate::applications::three;
use crate::browser::Browser;
use crate::content::{place_of, replace};
use crate::stage::Stage;
use crate::visit;

/// The files of access control in the folder of a server.
const ROLES: &str = "roles.toml";
const TOKENS: &str = "tokens.toml";

/// The rows of the list of applications, and of the tree of one application.
const ROWS: &str = "tbody th a";
const TREE_ROWS: &str = ".row[data-key]";
/// The form of sign-in, with its field and its error.
const FIELD: &str = "#token";
const SUBMIT: &str = ".sign-in form button";
const ERROR: &str = ".sign-in .error";

/// Enables access control. `shop` may see two of the three applications, and `nobody` has no role.
fn guard(settings: &mut Settings, folder: &Path) {
    replace(&folder.join(ROLES), &roles(&["checkout", "payment"]));
    replace(&folder.join(TOKENS), "version = 1\n");
    settings.access = Some(AccessSettings {
        roles: folder.join(ROLES),
        tokens: Some(folder.join(TOKENS)),
        verifiers: Vec::new(),
        code_flow: None,
    });
    for user in ["shop", "second", "nobody"] {
        let token = new_token(folder, user);
        replace(&folder.join(user), &token);
    }
}

/// As [`guard`], over TLS.
fn guard_with_tls(settings: &mut Settings, folder: &Path) {
    let identity = Authority::new("tests").server(None);
    let file = |name: &str, text: &str| {
        replace(&folder.join(name), text);
        folder.join(name)
    };
    settings.tls = Some(TlsSettings {
        cert: file("server.crt", &identity.certificate),
        key: file("server.key", &identity.key),
        client_ca: None,
        client_crl: None,
    });
    guard(settings, folder);
}

/// Bindings of `shop` and of `alice` at the issuer to applications, and of `second` to everything.
fn roles(applications: &[&str]) -> String {
    let applications: Vec<String> = applications
        .iter()
        .map(|name| format!("shop/store/v1/{name}"))
        .collect();
    format!(
        "[[binding]]\nrole = \"viewer\"\nusers = [\"token:shop\", \"oidc:alice\"]\napplications = {applications:?}\n\
         [[binding]]\nrole = \"viewer\"\nusers = [\"token:second\"]\n"
    )
}

fn new_token(folder: &Path, user: &str) -> String {
    let expires = Timestamp::now() + SignedDuration::from_hours(1);
    let name = user.parse().expect("a name");
    let token = TokenFile::create(&folder.join(TOKENS), name, expires).expect("a token");
    token.text.to_string()
}

/// The token of a user.
fn token(stage: &Stage, user: &str) -> String {
    std::fs::read_to_string(stage.file(user)).expect("a token")
}

/// Opens a place, and signs in with the token of a user in the form that the page shows.
fn sign_in(stage: &Stage, browser: &Browser, place: &str, user: &str) {
    browser.open(place);
    browser.wait_for(FIELD);
    submit(browser, &token(stage, user));
    browser.wait_for_text(".user-name", &format!("token:{user}"));
    assert_eq!(browser.place(), place);
}

fn submit(browser: &Browser, token: &str) {
    browser.type_into(FIELD, token);
    browser.click(SUBMIT);
}

/// Reads the browser log, which has an error for each refused request, and checks that it has no other entries.
fn expect_refusals(browser: &Browser, statuses: &[u16]) {
    for entry in browser.log() {
        let is_refusal = statuses
            .iter()
            .any(|status| entry.message.contains(&format!("status of {status}")));
        assert!(
            is_refusal && entry.message.contains("/v2/"),
            "{statuses:?}: {entry:?}"
        );
    }
}

/// The page shows the form of sign-in with the reason, no data, and no live connection.
fn expect_end_of_session(browser: &Browser) {
    browser.wait_for_text(ERROR, "Your session has ended");
    assert_eq!(browser.count(ROWS) + browser.count(TREE_ROWS), 0);
    assert_eq!(browser.count(".user-name"), 0);
    assert_eq!(browser.text("#connection"), "");
    expect_refusals(browser, &[401]);
}

#[test]
fn a_wrong_token_is_refused_in_words_and_a_valid_token_signs_in_over_tls() {
    visit(
        || Stage::with(three, guard_with_tls),
        |stage, browser| {
            assert!(browser.origin().starts_with("https://"));
            browser.open("#/clusters");
            browser.wait_for(FIELD);
            assert_eq!(browser.count(".card:not(.sign-in), .user-name"), 0);
            submit(browser, "kindsight.shop.guessed");
            browser.wait_for_text(ERROR, "the credential is not valid");
            expect_refusals(browser, &[401]);
            submit(browser, &token(stage, "shop"));
            browser.wait_for_text(".user-name", "token:shop");
            assert_eq!(browser.place(), "#/clusters");
            assert_eq!(browser.text_from("return document.cookie"), "");
            // The session outlasts the document.
            browser.open("#/applications");
            browser.wait_for_count(ROWS, 2);
            browser.wait_for_text("#connection", "live");
        },
    );
}

#[test]
fn the_session_ends_with_the_sign_out() {
    visit(
        || Stage::with(three, guard_with_tls),
        |stage, browser| {
            sign_in(stage, browser, "#/applications", "shop");
            browser.wait_for_count(ROWS, 2);
            browser.click("#user button");
            browser.wait_for(FIELD);
            assert_eq!(browser.text(ERROR), "");
            assert_eq!(browser.count(ROWS), 0);
            assert_eq!(browser.text("#connection"), "");
            browser.open(&place_of("payment"));
            browser.wait_for(FIELD);
            assert_eq!(browser.count(".user-name"), 0);
        },
    );
}

#[test]
fn a_failed_sign_out_is_explained() {
    visit(
        || Stage::with(three, guard_with_tls),
        |stage, browser| {
            sign_in(stage, browser, "#/applications", "shop");
            browser.wait_for_count(ROWS, 2);
            browser.devtools("Network.enable", &json!({}));
            let blocked = json!({"urls": ["*/v2/session"]});
            browser.devtools("Network.setBlockedURLs", &blocked);
            browser.click("#user button");
            browser.wait_for_text("#user", "You are still signed in. The server cannot be");
            assert_eq!(browser.count(ROWS), 2);
            for entry in browser.log() {
                assert!(entry.message.contains("ERR_BLOCKED"), "{entry:?}");
            }
        },
    );
}

#[test]
fn a_revoked_token_ends_the_session_and_another_token_continues_at_the_same_place() {
    visit(
        || Stage::with(three, guard),
        |stage, browser| {
            for place in ["#/applications", &place_of("payment"), "#/clusters"] {
                sign_in(stage, browser, place, "shop");
                browser.wait_for(match place {
                    "#/applications" => ROWS,
                    "#/clusters" => "h1",
                    _ => TREE_ROWS,
                });
                let tokens = stage.file(TOKENS);
                TokenFile::revoke(&tokens, &"shop".parse().expect("a name")).expect("a token");
                expect_end_of_session(browser);
                submit(browser, &token(stage, "second"));
                browser.wait_for_text(".user-name", "token:second");
                assert_eq!(browser.place(), place);
                browser.click("#user button");
                browser.wait_for(FIELD);
                let token = new_token(tokens.parent().expect("a folder"), "shop");
                replace(&stage.file("shop"), &token);
                wait_until_accepted(browser, &token);
            }
        },
    );
}

/// The server reads its files at intervals. Leaves no session.
fn wait_until_accepted(browser: &Browser, token: &str) {
    let ask = "return fetch('/v2/session', {method: 'POST', body: JSON.stringify({token: arguments[0]}), \
         headers: {'Content-Type': 'application/json'}}).then((answer) => answer.ok)";
    let begin = std::time::Instant::now();
    while browser.run(ask, &[token]) != true {
        assert!(begin.elapsed().as_secs() < 60, "the token is refused");
        // The server limits failed attempts.
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    browser.run("return fetch('/v2/session', {method: 'DELETE'})", &[]);
    expect_refusals(browser, &[401]);
}

#[test]
fn a_viewer_of_some_applications_finds_no_trace_of_the_others() {
    visit(
        || Stage::with(three, guard),
        |stage, browser| {
            sign_in(stage, browser, "#/applications", "shop");
            browser.wait_for_count(ROWS, 2);
            browser.wait_for_text("#connection", "live");
            let links = "return [...document.querySelectorAll('a')].map((it) => it.href).join(' ')";
            let links = browser.text_from(links);
            assert!(
                links.contains("/v1/payment") && !links.contains("/v1/search"),
                "{links}"
            );
            let problem_of = |name: &str| {
                browser.open(&place_of(name));
                browser.wait_for(".head .error");
                expect_refusals(browser, &[404]);
                browser.text(".head .error").replace(name, "NAME")
            };
            assert_eq!(problem_of("search"), problem_of("absent"));
            assert_eq!(browser.count(TREE_ROWS), 0);
        },
    );
}

#[test]
fn applications_disappear_from_the_open_page_when_their_viewer_loses_them() {
    visit(
        || Stage::with(three, guard),
        |stage, browser| {
            sign_in(stage, browser, "#/applications", "shop");
            browser.wait_for_count(ROWS, 2);
            replace(&stage.file(ROLES), &roles(&["payment"]));
            browser.wait_for_count(ROWS, 1);
            browser.wait_for_text("tbody", "payment");
            browser.wait_for_text("#connection", "live");
            browser.click(ROWS);
            browser.wait_for(TREE_ROWS);
            replace(&stage.file(ROLES), &roles(&["checkout"]));
            browser.wait_for(".head .error");
            let page = browser.text_from("return document.getElementById('main').innerText");
            assert!(!page.contains("the image does not exist"), "{page}");
            assert_eq!(browser.count(TREE_ROWS), 0);
            assert_eq!(browser.text("#connection"), "");
            expect_refusals(browser, &[404]);
        },
    );
}

#[test]
fn a_user_who_loses_every_role_sees_the_reason_and_no_list() {
    visit(
        || Stage::with(three, guard),
        |stage, browser| {
            sign_in(stage, browser, "#/applications", "second");
            browser.wait_for_count(ROWS, 3);
            replace(&stage.file(ROLES), "");
            browser.wait_for_text(".notices", "role");
            assert_eq!(browser.count(ROWS), 0);
            assert_eq!(browser.text("#connection"), "");
            assert_eq!(browser.count("[data-phase]"), 0);
            expect_refusals(browser, &[403]);
        },
    );
}
