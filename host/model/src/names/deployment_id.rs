//! Labels that name an app of an `AppContext`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{ContextId, NameError, is_label_value, is_name};

/// The value of the label `emco/deployment-id`: `<context id>-<app>`.
///
/// Monitors read it from labels, so it must be a valid Kubernetes label value. Monitors cannot report on an
/// app whose name is too long for a label, or on a context with a negative id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeploymentId {
    /// The instantiation.
    pub context: ContextId,
    /// The app.
    pub app: Arc<str>,
}

impl DeploymentId {
    /// Key of the label.
    pub const LABEL: &str = "emco/deployment-id";
}

impl FromStr for DeploymentId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let invalid = || NameError::NotADeploymentId(text.to_owned());
        let (context, app) = text.split_once('-').ok_or_else(invalid)?;
        if !is_label_value(text) || !is_name(app) {
            return Err(invalid());
        }
        Ok(Self {
            context: context.parse().map_err(|_| invalid())?,
            app: app.into(),
        })
    }
}

impl fmt::Display for DeploymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.context, self.app)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_id_splits_at_the_first_dash() {
        let id: DeploymentId = "2755581958183303505-my-app".parse().unwrap();
        assert_eq!(&*id.app, "my-app");
        assert_eq!(id.context.as_str(), "2755581958183303505");
        let long = format!("12-{}", "x".repeat(61));
        for bad in [
            "",
            "12",
            "-app",
            "12-",
            "12-a-",
            "x-app",
            "-5-app",
            "99999999999999999999-a",
            &long,
        ] {
            assert!(bad.parse::<DeploymentId>().is_err(), "{bad}");
        }
        assert_eq!(&*"12--app".parse::<DeploymentId>().unwrap().app, "-app");
    }
}
