//! Names of deployment intent groups and of applications that were found.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{NameError, is_label_value, is_name};

/// The full name of a deployment intent group.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DigName {
    /// Project.
    pub project: Arc<str>,
    /// Composite application.
    pub composite_app: Arc<str>,
    /// Version of the composite application.
    pub version: Arc<str>,
    /// The group itself.
    pub dig: Arc<str>,
}

impl DigName {
    /// Placeholder for the parts that a found application does not have. Recorded names never contain it.
    pub const NONE: &str = "-";
    /// Version in the name of a health scope. A found application has [`DigName::NONE`] there, so the two never have the
    /// same name.
    pub const HEALTH_SCOPE: &str = "health-scope";

    /// A name from its four parts. If project and version are [`DigName::NONE`], it is the name of a found
    /// application. If the version is [`DigName::HEALTH_SCOPE`] instead, it is the name of a health scope.
    ///
    /// # Errors
    /// [`NameError::NotAName`] with the first invalid part, else as [`DigName::found`].
    pub fn new(
        project: &str,
        composite_app: &str,
        version: &str,
        dig: &str,
    ) -> Result<Self, NameError> {
        if project == Self::NONE && version == Self::NONE {
            return Self::found(composite_app, Some(dig).filter(|dig| *dig != Self::NONE));
        }
        if project == Self::NONE && version == Self::HEALTH_SCOPE {
            return Self::health_scope(composite_app, dig);
        }
        for part in [project, composite_app, version, dig] {
            if !is_name(part) {
                return Err(NameError::NotAName(part.to_owned()));
            }
        }
        Ok(Self {
            project: project.into(),
            composite_app: composite_app.into(),
            version: version.into(),
            dig: dig.into(),
        })
    }

    /// The name of an application that was found in the clusters: `-/<application>/-/<namespace>`. The
    /// namespace is [`DigName::NONE`] if the application has no single namespace. Both parts are label
    /// values.
    ///
    /// # Errors
    /// [`NameError::NotALabelValue`] with the first invalid part.
    pub fn found(application: &str, namespace: Option<&str>) -> Result<Self, NameError> {
        for part in [Some(application), namespace].into_iter().flatten() {
            if !is_label_value(part) {
                return Err(NameError::NotALabelValue(part.to_owned()));
            }
        }
        Ok(Self {
            project: Self::NONE.into(),
            composite_app: application.into(),
            version: Self::NONE.into(),
            dig: namespace.unwrap_or(Self::NONE).into(),
        })
    }

    /// The name of a health scope, an application that an object of the Kind `HealthScope` selects in its namespace:
    /// `-/<name>/health-scope/<namespace>`. Both parts are label values, because a label of an object can name the scope.
    ///
    /// # Errors
    /// [`NameError::NotALabelValue`] with the first invalid part.
    pub fn health_scope(name: &str, namespace: &str) -> Result<Self, NameError> {
        Ok(Self {
            version: Self::HEALTH_SCOPE.into(),
            ..Self::found(name, Some(namespace))?
        })
    }

    /// Returns whether this is the name of a found application, not of a recorded one. A health scope is found.
    pub fn is_found(&self) -> bool {
        &*self.project == Self::NONE
    }

    /// Returns whether this is the name of a health scope.
    pub fn is_health_scope(&self) -> bool {
        self.is_found() && &*self.version == Self::HEALTH_SCOPE
    }
}

/// Parses the displayed form, `project/composite-app/version/deployment-intent-group`.
impl FromStr for DigName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text.split('/').collect::<Vec<_>>().as_slice() {
            [project, composite_app, version, dig] => {
                Self::new(project, composite_app, version, dig)
            }
            _ => Err(NameError::NotAName(text.to_owned())),
        }
    }
}

impl fmt::Display for DigName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}",
            self.project, self.composite_app, self.version, self.dig
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_found_application_differs_from_every_recorded_name() {
        let shop = DigName::found("shop", Some("web")).unwrap();
        assert_eq!(shop.to_string(), "-/shop/-/web");
        assert_eq!("-/shop/-/web".parse(), Ok(shop.clone()));
        assert!("shop".parse::<DigName>().is_err());
        assert_eq!(DigName::new("-", "shop", "-", "web").unwrap(), shop);
        let anywhere = DigName::new("-", "shop", "-", "-").unwrap();
        assert_eq!(anywhere, DigName::found("shop", None).unwrap());
        assert!(shop.is_found() && anywhere.is_found());
        assert!(!DigName::new("p", "shop", "v1", "web").unwrap().is_found());
        let scope = DigName::health_scope("shop", "web").unwrap();
        assert_eq!(scope.to_string(), "-/shop/health-scope/web");
        assert_eq!("-/shop/health-scope/web".parse(), Ok(scope.clone()));
        assert!(scope.is_found() && scope.is_health_scope() && scope != shop);
        assert!(!shop.is_health_scope() && DigName::health_scope("a b", "web").is_err());
        let recorded = DigName::new("p", "shop", "health-scope", "web").unwrap();
        assert!(!recorded.is_health_scope() && !recorded.is_found());
        for (project, application, version) in
            [("-", "shop", "v1"), ("p", "shop", "-"), ("-", "-", "-")]
        {
            assert!(DigName::new(project, application, version, "web").is_err());
        }
    }
}
