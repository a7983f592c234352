//! Sign-in of browsers at a real issuer. The test is the browser: it keeps cookies and follows redirects.

use std::collections::BTreeMap;

use kindsight_access::{
    CodeFlow, CodeFlowSettings, Oidc, OidcSettings, Proxies, SignatureAlgorithm,
};
use kindsight_cluster::{Issuer, IssuerPrograms};

use super::access::Guarded;
use super::*;

const BINDINGS: &str = "[[binding]]\nrole = \"viewer\"\ngroups = [\"oidc:team-a\"]\n";
const REDIRECT_URL: &str = "http://127.0.0.1:9015/v2/session/oidc/callback";
const BEGIN: &str = "/v2/session/oidc?return=%2F%23%2Fclusters";
/// Longest chain of redirects between the pages of the issuer.
const REDIRECTS_MAX: usize = 10;

fn guarded(issuer: &Issuer) -> Guarded {
    let oidc = Oidc::new(OidcSettings {
        issuer: issuer.url().parse().unwrap(),
        audience: "kindsight-web".to_owned(),
        username_claim: OidcSettings::USERNAME_CLAIM.to_owned(),
        groups_claim: OidcSettings::GROUPS_CLAIM.to_owned(),
        ca: None,
        proxies: Proxies::default(),
        algorithms: SignatureAlgorithm::DEFAULT.to_vec(),
    });
    let oidc = oidc.unwrap();
    let flow: CodeFlow = oidc
        .code_flow(CodeFlowSettings {
            redirect_url: REDIRECT_URL.to_owned(),
            client_secret: Some(Issuer::WEB_SECRET.to_owned().into()),
        })
        .unwrap();
    Guarded::with(BINDINGS, vec![Arc::new(oidc)], Some(flow))
}

/// A browser at the issuer.
#[derive(Default)]
struct AtIssuer {
    cookies: BTreeMap<String, String>,
}

impl AtIssuer {
    /// Signs a user in from the first page on; returns the URL at kindsight to which the issuer leads.
    fn sign_in(&mut self, issuer: &str, url: &str, user: &str) -> String {
        let mut url = self.follow(issuer, url.to_owned());
        let forms = [
            format!("prompt=login&login={user}&password=any"),
            "prompt=consent".to_owned(),
        ];
        for form in forms {
            let (next, _) = self.send(&url, Some(form));
            url = self.follow(issuer, absolute(issuer, &next.expect("a redirect")));
        }
        url
    }

    /// Follows redirects until a page with a form, or out of the issuer.
    fn follow(&mut self, issuer: &str, mut url: String) -> String {
        for _ in 0..REDIRECTS_MAX {
            if !url.starts_with(issuer) {
                return url;
            }
            let (next, page) = self.send(&url, None);
            let Some(next) = next else {
                assert!(page.contains("<form"), "{page}");
                return url;
            };
            url = absolute(issuer, &next);
        }
        panic!("too many redirects: {url}");
    }

    /// The location of a redirect, and the page.
    fn send(&mut self, url: &str, form: Option<String>) -> (Option<String>, String) {
        let agent = ureq::Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        let agent = ureq::Agent::new_with_config(agent);
        let cookies: Vec<String> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let cookies = cookies.join("; ");
        let answer = match form {
            None => agent.get(url).header("cookie", &cookies).call(),
            Some(form) => agent
                .post(url)
                .header("cookie", &cookies)
                .content_type("application/x-www-form-urlencoded")
                .send(form),
        };
        let mut answer = answer.unwrap();
        for set in answer.headers().get_all("set-cookie") {
            let pair = set.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let location = answer.headers().get("location");
        let location = location.map(|location| location.to_str().unwrap().to_owned());
        (location, answer.body_mut().read_to_string().unwrap())
    }
}

fn absolute(issuer: &str, location: &str) -> String {
    if location.starts_with('/') {
        format!("{issuer}{location}")
    } else {
        location.to_owned()
    }
}

/// The path and the query of a URL at kindsight.
fn at_kindsight(url: &str) -> String {
    let path = url
        .strip_prefix("http://127.0.0.1:9015")
        .expect("kindsight");
    path.to_owned()
}

async fn ask(guarded: &Guarded, uri: &str, cookie: &str) -> Answered {
    let request = Request::builder().uri(uri).header(header::COOKIE, cookie);
    answered(guarded.router(), request.body(Body::empty()).unwrap()).await
}

/// The value of a cookie that an answer sets, as browsers send it.
fn set_cookie(answer: &Answered, name: &str) -> Option<String> {
    let cookies = answer.headers.get_all(header::SET_COOKIE).iter();
    let cookies = cookies.map(|value| value.to_str().unwrap().split(';').next().unwrap());
    let mut cookies = cookies.filter(|cookie| cookie.starts_with(&format!("{name}=")));
    let cookie = cookies.next().map(str::to_owned);
    cookie.filter(|cookie| !cookie.ends_with('='))
}

/// Begins a sign-in; returns the URL of the issuer and the cookie of the attempt.
async fn begin(guarded: &Guarded) -> (String, String) {
    let answer = ask(guarded, BEGIN, "").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    let cookies = answer.headers.get_all(header::SET_COOKIE).iter();
    let cookies: Vec<&str> = cookies.map(|value| value.to_str().unwrap()).collect();
    assert!(cookies[0].contains("SameSite=Lax") && cookies[0].contains("HttpOnly"));
    let attempt = set_cookie(&answer, "__Host-kindsight-oidc").expect("an attempt");
    (answer.header(header::LOCATION).to_owned(), attempt)
}

/// Runs the blocking part of a sign-in.
async fn sign_in(issuer: &Issuer, url: String, user: &'static str) -> String {
    let issuer = issuer.url().to_owned();
    let browser = move || AtIssuer::default().sign_in(&issuer, &url, user);
    tokio::task::spawn_blocking(browser).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_signs_in_at_the_issuer() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    let guarded = guarded(&issuer);
    let control = Arc::clone(&guarded.control);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { control.follow().await });
    let methods = ask(&guarded, "/v2/session", "").await.json();
    assert_eq!(methods["sign-in"], serde_json::json!(["token", "oidc"]));

    let (url, attempt) = begin(&guarded).await;
    assert!(
        url.contains("code_challenge_method=S256") && url.contains("nonce="),
        "{url}"
    );
    let callback = at_kindsight(&sign_in(&issuer, url, "alice").await);
    // Another browser, which did not begin this sign-in.
    for cookie in ["", &begin(&guarded).await.1] {
        let answer = ask(&guarded, &callback, cookie).await;
        assert_eq!(answer.header(header::LOCATION), "/#/sign-in?error=state");
        assert_eq!(set_cookie(&answer, "__Host-kindsight"), None);
    }
    let answer = ask(&guarded, &callback, &attempt).await;
    assert_eq!(
        answer.header(header::LOCATION),
        "/#/clusters",
        "{}",
        answer.text
    );
    let cookie = set_cookie(&answer, "__Host-kindsight").expect("a session");
    assert_eq!(set_cookie(&answer, "__Host-kindsight-oidc"), None);
    let session = ask(&guarded, "/v2/session", &cookie).await.json();
    assert_eq!(session["user"], "oidc:alice", "{session}");
    assert_eq!(session["roles"], serde_json::json!(["viewer"]));
    let list = ask(&guarded, "/v2/applications", &cookie).await;
    assert_eq!(list.status, StatusCode::OK, "{}", list.text);
    // A code is accepted once.
    let again = ask(&guarded, &callback, &attempt).await;
    assert_eq!(again.header(header::LOCATION), "/#/sign-in?error=refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_sign_in_leads_to_the_form_with_the_reason() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let mut issuer = Issuer::start(&programs);
    let guarded = guarded(&issuer);
    let (_, attempt) = begin(&guarded).await;
    let callback = "/v2/session/oidc/callback";
    for (query, reason) in [
        ("?error=access_denied&state=a", "denied"),
        ("?code=a&state=b", "state"),
        ("?code=a", "state"),
        ("", "state"),
    ] {
        let answer = ask(&guarded, &format!("{callback}{query}"), &attempt).await;
        assert_eq!(
            answer.header(header::LOCATION),
            format!("/#/sign-in?error={reason}")
        );
    }
    for path in [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "a",
        "/%0d%0a",
        "/a b",
    ] {
        let path = path.replace(' ', "%20").replace('\\', "%5C");
        let answer = ask(&guarded, &format!("/v2/session/oidc?return={path}"), "").await;
        answer.problem(StatusCode::BAD_REQUEST);
    }
    issuer.stop();
    let answer = ask(&guarded, BEGIN, "").await;
    assert_eq!(answer.header(header::LOCATION), "/#/sign-in?error=issuer");
}

#[tokio::test]
async fn a_server_without_an_issuer_has_no_sign_in_there() {
    let guarded = Guarded::new(&[]);
    for uri in [BEGIN, "/v2/session/oidc/callback?code=a&state=b"] {
        ask(&guarded, uri, "").await.problem(StatusCode::NOT_FOUND);
    }
}
