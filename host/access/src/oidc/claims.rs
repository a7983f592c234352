//! The claims of a verified token.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{OidcSettings, refused};
use crate::user::{Method, User};
use crate::verify::{TokenError, Verified};

/// Maximum lead of the issuer's clock over the clock of this machine.
pub(super) const LEEWAY_MAX: Duration = Duration::from_mins(1);

/// The claims of a token whose signature, issuer, audience, `exp` and `nbf` were verified.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Claims(Map<String, Value>);

impl Claims {
    /// Checks the remaining claims, and reads the user.
    pub(super) fn verified(&self, settings: &OidcSettings) -> Result<Verified, TokenError> {
        let now = Timestamp::now();
        let expires_ms = self.milliseconds("exp")?;
        // No leeway: an expired token is never accepted.
        if expires_ms.is_none_or(|expires_ms| expires_ms <= now.as_millisecond()) {
            return Err(refused("it has expired"));
        }
        let latest = now.saturating_add(LEEWAY_MAX).unwrap_or(Timestamp::MAX);
        let issued_ms = self.milliseconds("iat")?;
        if issued_ms.is_some_and(|issued_ms| issued_ms > latest.as_millisecond()) {
            return Err(refused("it was issued in the future"));
        }
        self.check_authorized_party(&settings.audience)?;
        let user = self.user(settings)?;
        Ok(Verified { user, expires_ms })
    }

    /// A token for several audiences was requested by one of them, which must be kindsight's.
    fn check_authorized_party(&self, audience: &str) -> Result<(), TokenError> {
        let audiences = self.0.get("aud").and_then(Value::as_array);
        let has_several = audiences.is_some_and(|audiences| audiences.len() > 1);
        if has_several && self.text("azp") != Some(audience) {
            let why = "it is for several audiences, and `azp` is not kindsight's";
            return Err(refused(why));
        }
        Ok(())
    }

    fn user(&self, settings: &OidcSettings) -> Result<User, TokenError> {
        let claim = settings.username_claim.as_str();
        let name = self.text(claim);
        let name = name.ok_or_else(|| refused(format!("it has no text `{claim}`")))?;
        if claim == "email" && self.0.get("email_verified") != Some(&Value::Bool(true)) {
            return Err(refused("its `email` is not verified"));
        }
        let groups = self.groups(&settings.groups_claim)?;
        User::new(Method::Oidc, name, &groups).map_err(|error| refused(error.to_string()))
    }

    /// The groups: a list of texts, or one text. A token without the claim has none.
    fn groups(&self, claim: &str) -> Result<Vec<String>, TokenError> {
        let groups = match self.0.get(claim) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::String(group)) => Some(vec![group.clone()]),
            Some(Value::Array(groups)) => {
                let groups = groups.iter().map(|group| group.as_str().map(str::to_owned));
                groups.collect()
            }
            Some(_) => None,
        };
        groups.ok_or_else(|| refused(format!("its `{claim}` is not a list of texts")))
    }

    fn text(&self, claim: &str) -> Option<&str> {
        self.0.get(claim).and_then(Value::as_str)
    }

    /// A time in seconds, possibly with a fraction, as milliseconds.
    fn milliseconds(&self, claim: &str) -> Result<Option<i64>, TokenError> {
        let Some(time) = self.0.get(claim) else {
            return Ok(None);
        };
        let since_epoch = time.as_f64().map(SignedDuration::try_from_secs_f64);
        let since_epoch = since_epoch.and_then(Result::ok);
        let time = since_epoch.and_then(|time| Timestamp::from_duration(time).ok());
        let time = time.ok_or_else(|| refused(format!("its `{claim}` is not a time")))?;
        Ok(Some(time.as_millisecond()))
    }
}
