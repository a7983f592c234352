//! Names, validated on construction.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use kindsight_contract::KindPattern;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The reason why a name is invalid; the message gives the valid form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not a Kubernetes label value.
    #[error(
        "`{0}` is not a valid name: 1 to 63 characters, letters, digits, `-`, `_` or `.`, a letter or digit at both ends"
    )]
    NotALabelValue(String),
    /// No `+` between provider and name.
    #[error("`{0}` is not a cluster: write `provider+name` (in a URL, `provider%2Bname`)")]
    NotACluster(String),
    /// Not a decimal number below 2^63.
    #[error("`{0}` is not an AppContext id: a decimal number below 2^63")]
    NotAContextId(String),
    /// Not `<context id>-<app>`.
    #[error("`{0}` is not a deployment id: write `<context id>-<app>`")]
    NotADeploymentId(String),
    /// Not the name of an interpreter.
    #[error(
        "`{0}` is not the name of an interpreter: 1 to 63 lower-case letters, digits, `-` or `.`"
    )]
    NotAnInterpreter(String),
    /// Not a digest.
    #[error("`{0}` is not a digest: `sha256:` and 64 lower-case hex digits")]
    NotADigest(String),
    /// Not `group/version`.
    #[error("`{0}` is not an apiVersion: write `version` or `group/version`")]
    NotAnApiVersion(String),
}

/// Returns whether `value` is a non-empty Kubernetes label value, the rule for names in a query.
pub fn is_label_value(value: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = value.as_bytes();
    bytes.len() <= 63
        && end(bytes.first())
        && end(bytes.last())
        && bytes.iter().all(|&byte| inner(byte))
}

/// Group, version and Kind of an object. The core group is the empty string.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Gvk {
    /// API group; empty for the core group.
    #[schema(value_type = String, example = "apps")]
    pub group: Arc<str>,
    /// API version; may be empty where a reporter left it out.
    #[schema(value_type = String, example = "v1")]
    pub version: Arc<str>,
    /// Kind.
    #[schema(value_type = String, example = "Deployment")]
    pub kind: Arc<str>,
}

impl Gvk {
    /// A Kind from its three parts, which are not validated.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// Returns whether a pattern takes objects of this Kind.
    pub fn matches(&self, pattern: &KindPattern) -> bool {
        pattern.matches(&self.group, &self.version, &self.kind)
    }

    /// Returns whether it is a Secret of the core group, whatever the version.
    pub(crate) fn is_secret(&self) -> bool {
        self.group.is_empty() && &*self.kind == "Secret"
    }

    /// A Kind from `apiVersion` and `kind` as in an object.
    ///
    /// # Errors
    /// [`NameError::NotAnApiVersion`] if there is more than one `/`.
    pub fn from_api_version(api_version: &str, kind: &str) -> Result<Self, NameError> {
        match api_version.split_once('/') {
            None => Ok(Self::new("", api_version, kind)),
            Some((group, version)) if !version.contains('/') => Ok(Self::new(group, version, kind)),
            Some(_) => Err(NameError::NotAnApiVersion(api_version.to_owned())),
        }
    }

    /// The `apiVersion` of an object of this Kind: `version` or `group/version`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version(), self.kind)
    }
}

/// A cluster: `provider+name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterName {
    /// Its provider.
    pub provider: Arc<str>,
    /// Its name at that provider.
    pub name: Arc<str>,
}

impl ClusterName {
    /// A cluster name from its two parts.
    ///
    /// # Errors
    /// [`NameError::NotALabelValue`] with the first invalid part.
    pub fn new(provider: &str, name: &str) -> Result<Self, NameError> {
        for part in [provider, name] {
            if !is_label_value(part) {
                return Err(NameError::NotALabelValue(part.to_owned()));
            }
        }
        Ok(Self {
            provider: provider.into(),
            name: name.into(),
        })
    }
}

impl FromStr for ClusterName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (provider, name) = text
            .split_once('+')
            .ok_or_else(|| NameError::NotACluster(text.to_owned()))?;
        Self::new(provider, name).map_err(|_| NameError::NotACluster(text.to_owned()))
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.provider, self.name)
    }
}

/// The id of an `AppContext`: a decimal number, kept verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(Arc<str>);

impl ContextId {
    /// The text, as in keys and labels.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ContextId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits && text.parse::<i64>().is_ok() {
            Ok(Self(text.into()))
        } else {
            Err(NameError::NotAContextId(text.to_owned()))
        }
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The value of the label `emco/deployment-id`: `<context id>-<app>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeploymentId {
    /// The instantiation.
    pub context: ContextId,
    /// The app of it.
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
        if !is_label_value(app) {
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
    /// The part in place of those that a found application does not have. No recorded name has it.
    pub const NONE: &str = "-";

    /// A group's name from its four parts; that of a found application has [`DigName::NONE`] as project and
    /// version.
    ///
    /// # Errors
    /// [`NameError::NotALabelValue`] with the first invalid part.
    pub fn new(
        project: &str,
        composite_app: &str,
        version: &str,
        dig: &str,
    ) -> Result<Self, NameError> {
        if project == Self::NONE && version == Self::NONE {
            return Self::found(composite_app, Some(dig).filter(|it| *it != Self::NONE));
        }
        for part in [project, composite_app, version, dig] {
            if !is_label_value(part) {
                return Err(NameError::NotALabelValue(part.to_owned()));
            }
        }
        Ok(Self {
            project: project.into(),
            composite_app: composite_app.into(),
            version: version.into(),
            dig: dig.into(),
        })
    }

    /// The name of an application that was found in the clusters: `-/<application>/-/<namespace>`, with
    /// [`DigName::NONE`] for one that is of no single namespace.
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

    /// Returns whether it is the name of an application that was found, and not recorded.
    pub fn is_found(&self) -> bool {
        &*self.project == Self::NONE
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
    fn label_values_follow_the_kubernetes_rule() {
        for good in ["a", "A1", "a-b_c.d", "v1.0", &"x".repeat(63)] {
            assert!(is_label_value(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a b", "a+b", "ä", &"x".repeat(64)] {
            assert!(!is_label_value(bad), "{bad}");
        }
    }

    #[test]
    fn a_cluster_is_read_back_as_it_is_written() {
        let cluster: ClusterName = "vfw-cluster-provider+edge01".parse().unwrap();
        assert_eq!(&*cluster.name, "edge01");
        assert_eq!(cluster.to_string(), "vfw-cluster-provider+edge01");
        for bad in ["edge01", "+edge01", "p+", "p+a+b"] {
            assert!(bad.parse::<ClusterName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_deployment_id_splits_at_the_first_dash() {
        let id: DeploymentId = "2755581958183303505-my-app".parse().unwrap();
        assert_eq!(&*id.app, "my-app");
        assert_eq!(id.context.as_str(), "2755581958183303505");
        for bad in ["", "12", "-app", "12-", "x-app", "99999999999999999999-a"] {
            assert!(bad.parse::<DeploymentId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_name_of_a_found_application_is_of_its_own() {
        let shop = DigName::found("shop", Some("web")).unwrap();
        assert_eq!(shop.to_string(), "-/shop/-/web");
        assert_eq!(DigName::new("-", "shop", "-", "web").unwrap(), shop);
        let anywhere = DigName::new("-", "shop", "-", "-").unwrap();
        assert_eq!(anywhere, DigName::found("shop", None).unwrap());
        assert!(shop.is_found() && anywhere.is_found());
        assert!(!DigName::new("p", "shop", "v1", "web").unwrap().is_found());
        for (project, application, version) in
            [("-", "shop", "v1"), ("p", "shop", "-"), ("-", "-", "-")]
        {
            assert!(DigName::new(project, application, version, "web").is_err());
        }
    }

    #[test]
    fn an_api_version_has_at_most_one_slash() {
        let gvk = Gvk::from_api_version("apps/v1", "Deployment").unwrap();
        assert_eq!((&*gvk.group, &*gvk.version), ("apps", "v1"));
        assert_eq!(
            Gvk::from_api_version("v1", "Pod").unwrap().to_string(),
            "v1 Pod"
        );
        assert!(Gvk::from_api_version("a/b/c", "Pod").is_err());
    }
}
