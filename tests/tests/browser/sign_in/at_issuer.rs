//! Sign-in at an OpenID Connect issuer. The server has the name `localhost`, and the issuer `127.0.0.1`: browsers treat
//! both as different sites.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use kindsight_access::{CodeFlowSettings, Oidc, OidcSettings, Proxies, SignatureAlgorithm};
use kindsight_cluster::{Issuer, IssuerPrograms};
use kindsight_server::Settings;

use super::{FIELD, ROWS, expect_end_of_session, guard};
use crate::applications::three;
use crate::browser::Browser;
use crate::content::place_of;
use crate::inspection;
use crate::stage::Stage;
use crate::visit;

/// The link to the issuer.
const LINK: &str = ".sign-in a.button";
/// Lifetime of an ID token that expires while the page is open, in seconds. It must outlast the sign-in.
const SHORT_S: u32 = 15;
const DEVICE_CODE_S: u32 = 300;

/// A server that signs browsers in at an issuer.
fn start(issuer: &Issuer) -> Stage {
    let stage = Stage::with(three, |settings, folder| enable(settings, folder, issuer));
    stage.named("localhost")
}

fn enable(settings: &mut Settings, folder: &Path, issuer: &Issuer) {
    guard(settings, folder);
    settings.listen = free_address();
    let oidc = Oidc::new(OidcSettings {
        issuer: issuer.url().parse().expect("a URL"),
        audience: "kindsight-web".to_owned(),
        username_claim: OidcSettings::USERNAME_CLAIM.to_owned(),
        groups_claim: OidcSettings::GROUPS_CLAIM.to_owned(),
        ca: None,
        proxies: Proxies::default(),
        algorithms: SignatureAlgorithm::DEFAULT.to_vec(),
    })
    .expect("a verifier");
    let port = settings.listen.port();
    let flow = oidc.code_flow(CodeFlowSettings {
        redirect_url: format!("http://localhost:{port}/v2/session/oidc/callback"),
        client_secret: Some(Issuer::WEB_SECRET.to_owned().into()),
    });
    let access = settings.access.as_mut().expect("access control");
    access.code_flow = Some(flow.expect("a sign-in"));
    access.verifiers.push(Arc::new(oidc));
}

/// An address whose port is known before the server starts.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

/// Opens a place, and follows the link of the form to the first page of the issuer.
fn begin(browser: &Browser, place: &str) {
    browser.open(place);
    browser.wait_for(FIELD);
    assert_eq!(inspection::faults(browser), [""; 0]);
    browser.click(LINK);
    browser.wait_for("input[name=login]");
}

/// Enters the user at the issuer, and agrees.
fn log_in(browser: &Browser) {
    browser.type_into("input[name=login]", "alice");
    browser.type_into("input[name=password]", "any");
    browser.click("button[type=submit]");
    agree(browser);
}

fn agree(browser: &Browser) {
    browser.wait_for("input[value=consent]");
    browser.click("button[type=submit]");
}

/// Reads the browser log, and checks that it has no entries of pages of kindsight. The page of the issuer requests a
/// font that a closed network does not have.
fn expect_entries_of_the_issuer(browser: &Browser) {
    for entry in browser.log() {
        let message = &entry.message;
        assert!(!message.contains("localhost"), "{entry:?}");
        assert!(!message.contains("Content Security Policy"), "{entry:?}");
    }
}

/// Runs the steps with a server and its issuer, and checks that browsers reached the issuer by navigation only.
fn visit_with_issuer(steps: impl FnOnce(&Issuer, &Browser)) {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    visit(
        || start(&issuer),
        |_, browser| {
            steps(&issuer, browser);
            let modes = issuer.browser_requests();
            assert!(!modes.is_empty(), "no browser reached the issuer");
            assert!(modes.iter().all(|mode| mode == "navigate"), "{modes:?}");
        },
    );
}

#[test]
fn the_issuer_signs_a_user_in_by_navigation_only() {
    visit_with_issuer(|_, browser| {
        let place = place_of("payment");
        begin(browser, &place);
        log_in(browser);
        browser.wait_for_text(".user-name", "oidc:alice");
        browser.wait_for(".row[data-key]");
        assert_eq!(browser.place(), place);
        assert_eq!(browser.text_from("return location.search"), "");
        assert_eq!(browser.text_from("return document.cookie"), "");
        expect_entries_of_the_issuer(browser);
        browser.open("#/applications");
        browser.wait_for_count(ROWS, 2);
    });
}

#[test]
fn a_refusal_at_the_issuer_leads_back_to_the_form_with_the_reason() {
    visit_with_issuer(|_, browser| {
        begin(browser, "#/applications");
        browser.click("a[href*=abort]");
        browser.wait_for_text(".sign-in .error", "The issuer did not sign you in");
        expect_entries_of_the_issuer(browser);
        browser.open("#/applications");
        browser.wait_for(FIELD);
    });
}

#[test]
fn the_page_asks_to_sign_in_again_when_the_id_token_expires() {
    visit_with_issuer(|issuer, browser| {
        issuer.set_lifetimes(SHORT_S, DEVICE_CODE_S);
        let place = place_of("payment");
        begin(browser, &place);
        log_in(browser);
        browser.wait_for(".row[data-key]");
        browser.wait_for_text("#connection", "live");
        expect_entries_of_the_issuer(browser);
        expect_end_of_session(browser);
        // The issuer remembers the user.
        issuer.set_lifetimes(DEVICE_CODE_S, DEVICE_CODE_S);
        browser.click(LINK);
        agree(browser);
        browser.wait_for(".row[data-key]");
        assert_eq!(browser.place(), place);
        expect_entries_of_the_issuer(browser);
    });
}
