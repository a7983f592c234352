//! The search for a Service.

use k8s_openapi::List;
use k8s_openapi::api::core::v1::{Service, ServicePort};

use super::{NamespacedName, ServiceName, UserCluster, UserClusterError};

/// Label of the Services that are found without a name, encoded for a URL.
const LABEL: &str = "app.kubernetes.io%2Fname%3Dkindsight";
/// Name of the port of a Service that speaks HTTPS.
const HTTPS: &str = "https";
/// Maximum number of Services that an error names.
const SERVICES_SHOWN_MAX: usize = 20;

/// A Service that is reached over TLS through the API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxiedService {
    path: String,
}

impl ProxiedService {
    fn new(service: &NamespacedName, port: &str) -> Self {
        let (namespace, name) = (service.namespace(), service.name());
        Self {
            path: format!("/api/v1/namespaces/{namespace}/services/https:{name}:{port}/proxy"),
        }
    }

    /// The path of the service on the API server. The path of a request follows it.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl UserCluster {
    /// The Service with this name, or the only Service of kindsight in the cluster, which has the label
    /// `app.kubernetes.io/name=kindsight`. Its port is the named one, or the port with the name `https`, or its only
    /// port. A name with a port needs no right to read Services.
    ///
    /// # Errors
    /// There is no such Service or port, several Services have the label, or the user may not read Services.
    pub async fn service(
        &self,
        name: Option<&ServiceName>,
    ) -> Result<ProxiedService, UserClusterError> {
        match name {
            Some(ServiceName {
                service,
                port: Some(port),
            }) => Ok(ProxiedService::new(service, port)),
            Some(ServiceName { service, .. }) => {
                let (namespace, name) = (service.namespace(), service.name());
                let path = format!("/api/v1/namespaces/{namespace}/services/{name}");
                let found: Service = self.read(&path, "read the Service").await?;
                let port = https_port(&found).or_else(|| only_port(&found));
                let port = port.ok_or_else(|| no_port(service, &found))?;
                Ok(ProxiedService::new(service, &port))
            }
            None => {
                let path = format!("/api/v1/services?labelSelector={LABEL}");
                let found: List<Service> = self.read(&path, "list the Services").await?;
                only(&found.items)
            }
        }
    }

    async fn read<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        action: &str,
    ) -> Result<T, UserClusterError> {
        let failed = |why: String| UserClusterError::Request {
            action: format!(
                "{action} of kindsight, which `--service NAMESPACE/NAME:PORT` makes unnecessary"
            ),
            why,
        };
        let answer = self.0.get(path, "application/json").await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        serde_json::from_slice(&answer).map_err(|error| failed(error.to_string()))
    }
}

/// The only Service with a port that has the name `https`, or else the only Service with one port.
fn only(found: &[Service]) -> Result<ProxiedService, UserClusterError> {
    let mut suitable = with_port(found, https_port);
    if suitable.is_empty() {
        suitable = with_port(found, only_port);
    }
    match suitable.as_slice() {
        [(service, port)] => Ok(ProxiedService::new(service, port)),
        [] => Err(UserClusterError::NoService(
            "the cluster has no Service of kindsight: none has the label `app.kubernetes.io/name=kindsight` and a port with the name `https`, or only one port; `--service NAMESPACE/NAME` names another Service"
                .to_owned(),
        )),
        several => {
            let names = several.iter().take(SERVICES_SHOWN_MAX);
            let names: Vec<String> = names.map(|(service, _)| service.to_string()).collect();
            let (count, names) = (several.len(), names.join(", "));
            Err(UserClusterError::NoService(format!(
                "the cluster has {count} Services of kindsight: {names}; `--service NAMESPACE/NAME` names one"
            )))
        }
    }
}

/// The Services that have a port of some kind, with this port.
fn with_port(
    found: &[Service],
    port: fn(&Service) -> Option<String>,
) -> Vec<(NamespacedName, String)> {
    let suitable = found.iter().filter_map(|service| {
        let of = &service.metadata;
        let (namespace, name) = (of.namespace.as_deref()?, of.name.as_deref()?);
        Some((format!("{namespace}/{name}").parse().ok()?, port(service)?))
    });
    suitable.collect()
}

/// The number of the port with the name `https`.
fn https_port(service: &Service) -> Option<String> {
    let mut ports = ports(service).iter();
    let port = ports.find(|port| port.name.as_deref() == Some(HTTPS))?;
    Some(port.port.to_string())
}

/// The number of the only port.
fn only_port(service: &Service) -> Option<String> {
    match ports(service) {
        [only] => Some(only.port.to_string()),
        _ => None,
    }
}

fn ports(service: &Service) -> &[ServicePort] {
    let spec = service.spec.as_ref();
    let ports = spec.and_then(|spec| spec.ports.as_deref());
    ports.unwrap_or_default()
}

fn no_port(name: &NamespacedName, service: &Service) -> UserClusterError {
    let ports: Vec<String> = ports(service)
        .iter()
        .map(|port| format!("{} {}", port.port, port.name.as_deref().unwrap_or("-")))
        .collect();
    let ports = ports.join(", ");
    UserClusterError::NoService(format!(
        "the Service {name} has no port with the name `https`, its ports are: {ports}; `--service {name}:PORT` names one"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn service(name: &str, ports: &Value) -> Service {
        let service = json!({
            "metadata": {"name": name, "namespace": "ops"}, "spec": {"ports": ports},
        });
        serde_json::from_value(service).unwrap()
    }

    #[test]
    fn the_only_service_with_a_suitable_port_is_found() {
        let both = json!([{"name": "metrics", "port": 9016}, {"name": "https", "port": 9015}]);
        let metrics = json!([{"name": "a", "port": 1}, {"name": "b", "port": 2}]);
        let found = only(&[service("kindsight", &both), service("other", &metrics)]).unwrap();
        let path = "/api/v1/namespaces/ops/services/https:kindsight:9015/proxy";
        assert_eq!(found.path(), path);
        let one = json!([{"port": 443}]);
        let found = only(&[service("kindsight", &both), service("metrics", &one)]).unwrap();
        assert_eq!(found.path(), path);
        let found = only(&[service("kindsight", &one)]).unwrap();
        assert!(found.path().ends_with("/https:kindsight:443/proxy"));
        let error = only(&[service("a", &both), service("b", &both)]).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("2 Services of kindsight: ops/a, ops/b;"),
            "{error}"
        );
        let error = only(&[service("other", &metrics)]).unwrap_err().to_string();
        assert!(
            error.contains("app.kubernetes.io/name=kindsight"),
            "{error}"
        );
        let name = "ops/other".parse().unwrap();
        let error = no_port(&name, &service("other", &metrics)).to_string();
        assert!(
            error.contains("1 a, 2 b; `--service ops/other:PORT`"),
            "{error}"
        );
    }
}
