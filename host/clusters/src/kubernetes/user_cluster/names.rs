//! Names of objects in namespaces, as users write them.

use std::fmt;
use std::str::FromStr;

/// Longest name, in bytes: the longest DNS name.
const NAME_BYTES_MAX: usize = 253;

/// The name of an object in a namespace: `NAMESPACE/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespacedName {
    namespace: String,
    name: String,
}

/// The name of a Service, possibly with one of its ports: `NAMESPACE/NAME` or `NAMESPACE/NAME:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceName {
    /// The Service.
    pub service: NamespacedName,
    /// The name or the number of a port.
    pub port: Option<String>,
}

/// The reason why a text is not such a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}, each in lower-case letters, digits, `-` and `.`")]
pub struct NameError(&'static str);

impl NamespacedName {
    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name in the namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn parse(text: &str) -> Option<Self> {
        let (namespace, name) = text.split_once('/')?;
        (is_name(namespace) && is_name(name)).then(|| Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl FromStr for NamespacedName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text).ok_or(NameError("NAMESPACE/NAME"))
    }
}

impl FromStr for ServiceName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (service, port) = match text.rsplit_once(':') {
            Some((service, port)) => (service, Some(port)),
            None => (text, None),
        };
        let service = NamespacedName::parse(service).filter(|_| port.is_none_or(is_name));
        Ok(Self {
            service: service.ok_or(NameError("NAMESPACE/NAME or NAMESPACE/NAME:PORT"))?,
            port: port.map(str::to_owned),
        })
    }
}

impl fmt::Display for NamespacedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Returns whether a text can be a part of the path of an object. A name has no `/`, so it cannot lead elsewhere.
fn is_name(text: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_inner = |byte: u8| is_legal(byte) || b"-.".contains(&byte);
    text.len() <= NAME_BYTES_MAX
        && text.bytes().all(is_inner)
        && text.bytes().next().is_some_and(is_legal)
        && text.bytes().next_back().is_some_and(is_legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_namespace_and_a_service_may_have_a_port() {
        let name: NamespacedName = "ops/reader".parse().unwrap();
        assert_eq!((name.namespace(), name.name()), ("ops", "reader"));
        assert_eq!(name.to_string(), "ops/reader");
        let service: ServiceName = "ops/kindsight:9015".parse().unwrap();
        assert_eq!(service.service.name(), "kindsight");
        assert_eq!(service.port.as_deref(), Some("9015"));
        let service: ServiceName = "ops/kindsight".parse().unwrap();
        assert_eq!(service.port, None);
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused_with_the_right_form() {
        for text in [
            "", "ops", "/x", "ops/", "ops/../x", "ops/a/b", "Ops/x", "ops/x%2f", "../x",
        ] {
            let error = text.parse::<NamespacedName>().unwrap_err().to_string();
            assert!(error.starts_with("expected NAMESPACE/NAME,"), "{error}");
        }
        for text in ["ops/x:", "ops/x:a/b", "https:ops/x:1"] {
            let error = text.parse::<ServiceName>().unwrap_err().to_string();
            assert!(error.contains("NAMESPACE/NAME:PORT"), "{error}");
        }
    }
}
