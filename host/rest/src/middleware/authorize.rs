//! Authentication and authorization of requests.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::StatusCode;
use kindsight_access::{AccessControl, Caller};
use tokio::time::timeout;

use crate::answer::internal;
use crate::caller::{Presented, Sender};
use crate::problem::Problem;
use crate::rules::{Rule, Rules};

/// Access control of all routes.
pub(crate) struct Authorization {
    /// `None` if every client may do everything.
    control: Option<Arc<AccessControl>>,
    rules: Rules,
    /// The sender of each request without access control.
    anyone: Sender,
    /// Timeout of an authentication.
    time_max: Duration,
}

impl Authorization {
    pub(crate) fn new(control: Option<Arc<AccessControl>>, time_max: Duration) -> Self {
        Self {
            control,
            rules: Rules::default(),
            anyone: Sender::without_credential(Caller::anyone(), Ipv4Addr::UNSPECIFIED.into()),
            time_max,
        }
    }

    /// The sender of a request, if the sender has the rights that the route needs. `rule` is `None` for a route without
    /// a rule.
    async fn sender(
        &self,
        control: &AccessControl,
        rule: Option<Rule>,
        presented: Presented,
    ) -> Result<Sender, Problem> {
        let Some(rule) = rule else {
            tracing::error!("a route has no access rule");
            return Err(internal());
        };
        let from = presented.from();
        let authentication = timeout(self.time_max, Sender::authenticate(control, presented));
        let sender = match authentication.await {
            Ok(Ok(sender)) => sender,
            _ if rule == Rule::Open => Sender::without_credential(Caller::nobody(), from),
            Ok(Err(problem)) => return Err(problem),
            Err(_) => return Err(Problem::busy()),
        };
        if rule.allows(sender.caller.rights()) {
            return Ok(sender);
        }
        let (user, needed) = (sender.user_name(), rule.as_str());
        let detail = format!("`{user}` may not do this: it needs {needed}");
        Err(Problem::new(StatusCode::FORBIDDEN, detail))
    }

    fn rule(&self, request: &Request) -> Option<Rule> {
        let path = request.extensions().get().map(MatchedPath::as_str);
        self.rules.find(request.method(), path)
    }

    /// Puts the [`Sender`] of a request into its extensions, if the sender may use the route.
    ///
    /// # Errors
    /// A request without a valid credential, or without the rights that the route needs.
    pub(crate) async fn authorize(&self, request: &mut Request) -> Result<(), Problem> {
        let sender = match &self.control {
            None => self.anyone.clone(),
            Some(control) => {
                let (rule, presented) = (self.rule(request), Presented::by(request));
                self.sender(control, rule, presented).await?
            }
        };
        request.extensions_mut().insert(sender);
        Ok(())
    }
}
