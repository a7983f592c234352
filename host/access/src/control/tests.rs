use std::fs;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, select_all};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::yield_now;

use super::verifications::OF_STREAMS_MAX;
use super::*;
use crate::roles::{Rights, Role};
use crate::tokens::NewToken;

/// A method that accepts `elsewhere.<user>` unless it refuses everything, and counts its calls.
#[derive(Default)]
struct Elsewhere {
    calls: AtomicUsize,
    refuses: AtomicBool,
    /// True while the method does not answer.
    hangs: watch::Sender<bool>,
    /// Notified once another issuer, which knows no token, has taken its place.
    replaced: Notify,
}

impl VerifyToken for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }

    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Verified, TokenError>> + Send + 'a>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let mut hangs = self.hangs.subscribe();
            hangs.wait_for(|hangs| !hangs).await.unwrap();
            match token.strip_prefix("elsewhere.") {
                _ if self.refuses.load(Ordering::Relaxed) => {
                    Err(TokenError::Refused("revoked".to_owned()))
                }
                None => Err(TokenError::NotMine),
                Some("down") => Err(TokenError::Unavailable("down".to_owned())),
                Some("bad") => Err(TokenError::Refused("bad".to_owned())),
                Some(name) => Ok(Verified {
                    user: User::new(Method::Oidc, name, &[]).unwrap(),
                    expires_ms: None,
                }),
            }
        })
    }

    fn follow<'a>(
        &'a self,
        forget: &'a (dyn Fn() + Sync),
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            self.refuses.store(true, Ordering::Relaxed);
            forget();
            self.replaced.notify_one();
            std::future::pending::<()>().await;
        })
    }
}

struct Stage {
    folder: TempDir,
    elsewhere: Arc<Elsewhere>,
    control: Arc<AccessControl>,
}

const FROM: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const VIEWERS: &str = "[[binding]]\nrole = \"viewer\"\nusers = [\"token:ci\", \"oidc:alice\"]\n";

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens.toml");
        fs::write(&tokens, "version = 1").unwrap();
        let roles = folder.path().join("roles.toml");
        fs::write(&roles, VIEWERS).unwrap();
        let elsewhere = Arc::new(Elsewhere::default());
        let verifier = Arc::clone(&elsewhere) as Arc<dyn VerifyToken>;
        let settings = AccessSettings {
            roles,
            tokens: Some(tokens),
            verifiers: vec![verifier],
            code_flow: None,
        };
        let control = Arc::new(AccessControl::new(settings).unwrap());
        Self {
            folder,
            elsewhere,
            control,
        }
    }

    fn create(&self, name: &str, expires: &str) -> NewToken {
        let path = self.folder.path().join("tokens.toml");
        let token = TokenFile::create(&path, name.parse().unwrap(), expires.parse().unwrap());
        self.control.reload();
        token.unwrap()
    }

    async fn authenticate(&self, token: &str) -> Result<Caller, Refusal> {
        let credential = bearer(token);
        self.control.authenticate(&credential, FROM).await
    }

    /// An open stream of a user.
    async fn lease(&self, token: &str) -> Lease {
        let caller = self.authenticate(token).await.unwrap();
        Lease::new(&self.control, bearer(token), caller)
    }

    /// Open streams of different users.
    async fn leases(&self, count: usize) -> Vec<Lease> {
        let mut leases = Vec::new();
        for number in 0..count {
            leases.push(self.lease(&format!("elsewhere.user{number}")).await);
        }
        leases
    }

    /// Waits until the method was called so often since the stage began.
    async fn until_called(&self, count: usize) {
        while self.elsewhere.calls.load(Ordering::Relaxed) < count {
            yield_now().await;
        }
    }
}

/// Waits until one of the streams ends.
fn first_end(leases: &mut [Lease]) -> LocalBoxFuture<'_, ()> {
    let ends = leases.iter_mut().map(|lease| lease.ended().boxed_local());
    select_all(ends).map(|_| ()).boxed_local()
}

fn bearer(token: &str) -> Credential {
    Credential::Bearer(Zeroizing::new(token.to_owned()))
}

#[tokio::test]
async fn a_token_of_the_file_has_the_rights_of_its_name_until_it_expires_or_is_revoked() {
    let stage = Stage::new();
    let token = stage.create("ci", "2999-01-01T00:00:00Z");
    let caller = stage.authenticate(&token.text).await.unwrap();
    assert_eq!(caller.user().unwrap().name(), "token:ci");
    assert!(caller.rights().subjects(Role::Viewer).is_everything());
    assert!(caller.rights().subjects(Role::Operator).is_nothing());
    let path = stage.folder.path().join("tokens.toml");
    TokenFile::revoke(&path, &"ci".parse().unwrap()).unwrap();
    stage.control.reload();
    let refused = stage.authenticate(&token.text).await.unwrap_err();
    assert_eq!(refused, Refusal::Invalid);
    let expired = stage.create("old", "2020-01-01T00:00:00Z");
    let refused = stage.authenticate(&expired.text).await.unwrap_err();
    assert_eq!(refused, Refusal::Invalid);
}

#[tokio::test]
async fn a_verified_token_is_not_verified_again_and_a_change_of_roles_applies_at_once() {
    let stage = Stage::new();
    for _ in 0..3 {
        let caller = stage.authenticate("elsewhere.alice").await.unwrap();
        assert!(caller.rights().subjects(Role::Viewer).is_everything());
    }
    assert_eq!(stage.elsewhere.calls.load(Ordering::Relaxed), 1);
    let roles = stage.folder.path().join("roles.toml");
    fs::write(roles, "").unwrap();
    stage.control.reload();
    let caller = stage.authenticate("elsewhere.alice").await.unwrap();
    assert_eq!(**caller.rights(), Rights::default());
}

#[tokio::test(start_paused = true)]
async fn a_verification_counts_for_a_limited_time_whatever_the_system_clock_shows() {
    let stage = Stage::new();
    let calls = || stage.elsewhere.calls.load(Ordering::Relaxed);
    let second = Duration::from_secs(1);
    let mut lease = stage.lease("elsewhere.alice").await;
    tokio::time::advance(VERIFIED_MAX.saturating_sub(second)).await;
    stage.authenticate("elsewhere.alice").await.unwrap();
    assert_eq!(calls(), 1);
    // The system clock stands still meanwhile.
    tokio::time::advance(second).await;
    stage.authenticate("elsewhere.alice").await.unwrap();
    assert_eq!(calls(), 2);
    stage.elsewhere.refuses.store(true, Ordering::Relaxed);
    tokio::time::advance(VERIFIED_MAX).await;
    lease.ended().await;
    assert_eq!(calls(), 3);
}

#[tokio::test]
async fn attempts_of_clients_that_disconnect_are_no_failed_attempts() {
    let stage = Stage::new();
    stage.elsewhere.hangs.send_replace(true);
    for number in 0..30 {
        let token = format!("elsewhere.user{number}");
        let attempt = stage.authenticate(&token).now_or_never();
        assert!(attempt.is_none(), "{attempt:?}");
    }
    stage.elsewhere.hangs.send_replace(false);
    stage.authenticate("elsewhere.alice").await.unwrap();
}

#[tokio::test]
async fn failed_attempts_are_limited_and_known_tokens_are_accepted_all_the_same() {
    let stage = Stage::new();
    let token = stage.create("ci", "2999-01-01T00:00:00Z");
    let mut refusals = Vec::new();
    for _ in 0..30 {
        refusals.push(stage.authenticate("elsewhere.bad").await.unwrap_err());
    }
    assert_eq!(refusals.first(), Some(&Refusal::Invalid));
    assert!(matches!(refusals.last(), Some(Refusal::TooMany(_))));
    assert!(stage.elsewhere.calls.load(Ordering::Relaxed) < 30);
    stage.authenticate(&token.text).await.unwrap();
}

#[tokio::test]
async fn a_token_that_was_accepted_is_verified_again_without_a_limit_until_it_is_refused() {
    let stage = Stage::new();
    let roles = stage.folder.path().join("roles.toml");
    // Each change makes every verification too old, like the end of its time.
    let forget = |text: &str| {
        fs::write(&roles, text).unwrap();
        stage.control.reload();
    };
    stage.authenticate("elsewhere.alice").await.unwrap();
    for _ in 0..30 {
        stage.authenticate("elsewhere.bad").await.unwrap_err();
    }
    let calls = || stage.elsewhere.calls.load(Ordering::Relaxed);
    let before = calls();
    forget("");
    stage.authenticate("elsewhere.alice").await.unwrap();
    assert_eq!(calls(), before + 1);
    let unknown = stage.authenticate("elsewhere.bob").await;
    assert!(matches!(unknown, Err(Refusal::TooMany(_))), "{unknown:?}");
    forget(VIEWERS);
    stage.elsewhere.refuses.store(true, Ordering::Relaxed);
    let refused = stage.authenticate("elsewhere.alice").await;
    assert_eq!(refused.unwrap_err(), Refusal::Invalid);
    let refused = stage.authenticate("elsewhere.alice").await;
    assert!(matches!(refused, Err(Refusal::TooMany(_))), "{refused:?}");
    assert_eq!(calls(), before + 2);
}

#[tokio::test]
async fn a_token_of_a_replaced_issuer_is_not_accepted_any_more() {
    let stage = Stage::new();
    stage.authenticate("elsewhere.alice").await.unwrap();
    tokio::select! {
        () = stage.control.follow() => unreachable!("it does not end"),
        () = stage.elsewhere.replaced.notified() => {}
    }
    let refused = stage.authenticate("elsewhere.alice").await;
    assert_eq!(refused.unwrap_err(), Refusal::Invalid);
}

#[tokio::test]
async fn no_other_issuer_gets_a_token_of_kindsight() {
    let stage = Stage::new();
    let token = stage.create("ci", "2999-01-01T00:00:00Z");
    let path = stage.folder.path().join("tokens.toml");
    TokenFile::revoke(&path, &"ci".parse().unwrap()).unwrap();
    stage.control.reload();
    let refused = stage.authenticate(&token.text).await.unwrap_err();
    assert_eq!(refused, Refusal::Invalid);
    assert_eq!(stage.elsewhere.calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_unavailable_issuer_is_no_failed_attempt() {
    let stage = Stage::new();
    for _ in 0..100 {
        let refused = stage.authenticate("elsewhere.down").await.unwrap_err();
        assert_eq!(refused, Refusal::Unavailable);
    }
}

#[tokio::test]
async fn a_client_certificate_names_a_user_of_its_own_method() {
    let stage = Stage::new();
    let certificate = |expires_ms| {
        Credential::Certificate(Arc::new(ClientCertificate {
            common_name: "ci".to_owned(),
            organizations: vec!["ops".to_owned()],
            expires_ms,
        }))
    };
    let valid = certificate(i64::MAX);
    let caller = stage.control.authenticate(&valid, FROM).await.unwrap();
    assert_eq!(caller.user().unwrap().name(), "certificate:ci");
    assert_eq!(**caller.rights(), Rights::default());
    let expired = stage.control.authenticate(&certificate(0), FROM).await;
    assert_eq!(expired.unwrap_err(), Refusal::Invalid);
}

#[tokio::test]
async fn a_lease_ends_when_the_rights_change_and_lasts_over_other_changes() {
    let stage = Stage::new();
    let mut lease = stage.lease("elsewhere.alice").await;
    let roles = stage.folder.path().join("roles.toml");
    fs::write(
        &roles,
        format!("{VIEWERS}[[binding]]\nrole = \"viewer\"\nusers = [\"oidc:bob\"]\n"),
    )
    .unwrap();
    stage.control.reload();
    let wait = Duration::from_millis(100);
    let ended = tokio::time::timeout(wait, lease.ended()).await;
    assert!(ended.is_err(), "the rights of the user are the same");
    fs::write(&roles, "").unwrap();
    stage.control.reload();
    lease.ended().await;
}

#[tokio::test]
async fn open_streams_wait_for_their_turn_and_leave_places_for_requests() {
    let stage = Stage::new();
    // More than all places.
    let count = 3 * OF_STREAMS_MAX;
    let mut leases = stage.leases(count).await;
    stage.elsewhere.hangs.send_replace(true);
    stage.control.forget();
    let steps = async {
        stage.until_called(count + OF_STREAMS_MAX).await;
        let mut request = Box::pin(stage.authenticate("elsewhere.alice"));
        assert!(request.as_mut().now_or_never().is_none(), "it is verified");
        stage.elsewhere.hangs.send_replace(false);
        request.await.unwrap();
        stage.until_called(2 * count + 1).await;
        // A stream notices its result.
        for _ in 0..100 {
            yield_now().await;
        }
    };
    tokio::select! {
        () = first_end(&mut leases) => panic!("a stream ended, although its rights are the same"),
        () = steps => {}
    }
}

#[tokio::test]
async fn streams_that_wait_for_the_same_token_share_a_verification() {
    let stage = Stage::new();
    let mut leases = Vec::new();
    for _ in 0..3 * OF_STREAMS_MAX {
        leases.push(stage.lease("elsewhere.alice").await);
    }
    stage.elsewhere.hangs.send_replace(true);
    stage.control.forget();
    let steps = async {
        stage.until_called(1 + OF_STREAMS_MAX).await;
        stage.elsewhere.hangs.send_replace(false);
        for _ in 0..100 {
            yield_now().await;
        }
    };
    tokio::select! {
        () = first_end(&mut leases) => panic!("a stream ended, although its rights are the same"),
        () = steps => {}
    }
    let calls = stage.elsewhere.calls.load(Ordering::Relaxed);
    assert_eq!(calls, 1 + OF_STREAMS_MAX);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_gets_no_turn_ends() {
    let stage = Stage::new();
    let mut leases = stage.leases(OF_STREAMS_MAX + 1).await;
    stage.elsewhere.hangs.send_replace(true);
    stage.control.forget();
    let end = first_end(&mut leases);
    tokio::time::timeout(Duration::from_hours(1), end)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_stream_that_waits_for_its_verification_ends_at_once_if_its_rights_differ() {
    let stage = Stage::new();
    let mut lease = stage.lease("elsewhere.alice").await;
    stage.elsewhere.hangs.send_replace(true);
    fs::write(stage.folder.path().join("roles.toml"), "").unwrap();
    stage.control.reload();
    assert!(lease.ended().now_or_never().is_some());
}

#[tokio::test]
async fn a_verification_continues_while_its_stream_sends_an_event() {
    let stage = Stage::new();
    let mut lease = stage.lease("elsewhere.alice").await;
    stage.elsewhere.hangs.send_replace(true);
    stage.control.forget();
    while stage.elsewhere.calls.load(Ordering::Relaxed) == 1 {
        assert!(lease.ended().now_or_never().is_none());
        yield_now().await;
    }
    stage.elsewhere.refuses.store(true, Ordering::Relaxed);
    stage.elsewhere.hangs.send_replace(false);
    // Each event drops the wait for the end of the lease.
    let mut has_ended = false;
    for _ in 0..100 {
        has_ended = has_ended || lease.ended().now_or_never().is_some();
        yield_now().await;
    }
    assert!(has_ended);
}

#[test]
fn an_invalid_file_leaves_the_last_valid_one_in_force() {
    let stage = Stage::new();
    let roles = stage.folder.path().join("roles.toml");
    fs::write(&roles, "[[binding]]").unwrap();
    stage.control.reload();
    let alice = User::new(Method::Oidc, "alice", &[]).unwrap();
    let rights = stage.control.roles.load().rights_of(&alice);
    assert!(rights.subjects(Role::Viewer).is_everything());
}

#[test]
fn debug_output_shows_no_token() {
    assert_eq!(format!("{:?}", bearer("secret")), "Bearer(…)");
}
