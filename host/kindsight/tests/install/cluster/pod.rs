//! A Pod of the chart: the image with the arguments, the variables and the files that the Pod template names.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use kindsight_cluster::{Client, Cluster, Container, Credentials, Mount, Sockets};
use serde_json::Value;
use ureq::http::Method;

use crate::helm::{NAMESPACE, object};
use crate::image;

/// The address in the settings of a Pod, which has a network of its own. Pods of a test share a network, so each gets
/// an address of loopback.
const ALL_ADDRESSES: &str = "0.0.0.0";
/// The path of the account's files in a Pod.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The path that a [`Container`] mounts by itself.
const TEMPORARY: &str = "/tmp";

/// The files of Secrets by the names of the Secrets.
pub(super) type Secrets = BTreeMap<&'static str, Vec<(&'static str, String)>>;

/// The parts that all Pods of an installation share.
pub(super) struct Template<'a> {
    pub(super) cluster: &'a Cluster,
    /// The output of Helm.
    pub(super) rendered: &'a [Value],
    /// The token of the account, as the kubelet requests it.
    pub(super) account: &'a str,
    pub(super) secrets: &'a Secrets,
}

/// A running Pod.
pub(super) struct Pod {
    process: Container,
    address: Ipv4Addr,
    /// The container of the Pod template.
    container: Value,
}

impl Template<'_> {
    fn pod(&self) -> &Value {
        &object(self.rendered, "StatefulSet")["spec"]["template"]["spec"]
    }

    /// Starts a Pod with this address. `folder` is for its files.
    pub(super) fn start(&self, address: Ipv4Addr, folder: &Path) -> Pod {
        let container = self.pod()["containers"][0].clone();
        let mut mounts = Vec::new();
        for mount in items(&container["volumeMounts"]) {
            let path = text(&mount["mountPath"]);
            if path != TEMPORARY {
                mounts.push(self.mount(&mount["name"], path, address, folder));
            }
        }
        let account = [
            ("token", self.account),
            ("ca.crt", self.cluster.authority().certificate()),
            ("namespace", NAMESPACE),
        ];
        mounts.push(Mount::files(folder, ACCOUNT, &account));
        let server = self.cluster.url().trim_start_matches("https://");
        let (host, port) = server.split_once(':').expect("a port");
        let mut environment = vec![
            ("KUBERNETES_SERVICE_HOST", host),
            ("KUBERNETES_SERVICE_PORT", port),
        ];
        let variables = items(&container["env"]);
        environment
            .extend(variables.map(|variable| (text(&variable["name"]), text(&variable["value"]))));
        let arguments: Vec<&str> = items(&container["args"]).map(text).collect();
        let process = Container::start(image::unpacked(), &mounts, &environment, &arguments);
        Pod {
            process,
            address,
            container,
        }
    }

    /// The mount of a volume of the Pod template.
    fn mount(&self, name: &Value, path: &str, address: Ipv4Addr, folder: &Path) -> Mount {
        let mut volumes = items(&self.pod()["volumes"]);
        let volume = volumes.find(|volume| volume["name"] == *name);
        let volume = volume.unwrap_or(&Value::Null);
        if volume["configMap"].is_object() {
            let files = object(self.rendered, "ConfigMap")["data"].as_object();
            let files = files.expect("files").iter();
            let files: Vec<_> = files
                .map(|(name, file)| {
                    let file = text(file).replace(ALL_ADDRESSES, &address.to_string());
                    (name.as_str(), file)
                })
                .collect();
            return Mount::files(folder, path, &borrowed(&files));
        }
        if volume["secret"].is_object() {
            let files = &self.secrets[text(&volume["secret"]["secretName"])];
            return Mount::files(folder, path, &borrowed(files));
        }
        let claims = &object(self.rendered, "StatefulSet")["spec"]["volumeClaimTemplates"];
        let is_claimed = items(claims).any(|claim| claim["metadata"]["name"] == *name);
        assert!(
            is_claimed || volume["emptyDir"].is_object(),
            "{name} is no volume of the Pod template"
        );
        let data = folder.join(text(name));
        fs::create_dir(&data).expect("a folder");
        Mount::volume(&data, path)
    }
}

impl Pod {
    /// A client with a token.
    pub(super) fn client(&self, authority: &str, token: &str) -> Client {
        let credentials = Credentials::Token(token.to_owned());
        Client::new(&self.url(), Some(authority), &credentials)
    }

    /// The URL of the REST API.
    pub(super) fn url(&self) -> String {
        format!("https://{}:{}", self.address, self.port(&"https".into()))
    }

    /// The number of a port, given as its name or its number.
    pub(super) fn port(&self, port: &Value) -> u64 {
        let mut named = items(&self.container["ports"])
            .filter(|container_port| container_port["name"] == *port);
        let number = named
            .next()
            .map_or(port, |container_port| &container_port["containerPort"]);
        number.as_u64().unwrap_or_else(|| panic!("no port {port}"))
    }

    pub(super) fn sockets(&self) -> Sockets {
        self.process.sockets()
    }

    /// The server answers each probe as the kubelet sends it.
    pub(super) fn assert_probes(&self, authority: &str) {
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
            let request = &self.container[probe]["httpGet"];
            let (scheme, path) = (text(&request["scheme"]), text(&request["path"]));
            let port = self.port(&request["port"]);
            let url = format!("{}://{}:{port}", scheme.to_lowercase(), self.address);
            let client = Client::new(&url, Some(authority), &Credentials::Nobody);
            let answer = client.request(Method::GET, path, None);
            let answer = answer.unwrap_or_else(|error| panic!("{probe}: {error}"));
            assert_eq!(answer.status, 200, "{probe}: {answer:?}");
        }
    }

    /// The metrics are served without a credential, on the port that the Pod template names.
    pub(super) fn assert_metrics(&self) {
        let url = format!("http://{}:{}", self.address, self.port(&"metrics".into()));
        let client = Client::new(&url, None, &Credentials::Nobody);
        let answer = client.request(Method::GET, "/metrics", None);
        let answer = answer.expect("metrics");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(text(&answer.body).contains("kindsight_build_info"));
    }

    /// Waits until the Pod is ready.
    pub(super) fn wait_until_ready(&self, authority: &str) {
        let client = Client::new(&self.url(), Some(authority), &Credentials::Nobody);
        client.wait_for_status("/readyz", 200, super::PATIENCE);
    }

    /// Ends the process as the kubelet does; returns whether its exit code is 0.
    pub(super) fn stop(self) -> bool {
        self.process.stop()
    }
}

fn borrowed<N: AsRef<str>>(files: &[(N, String)]) -> Vec<(&str, &str)> {
    let files = files.iter();
    files.map(|(name, file)| (name.as_ref(), &**file)).collect()
}

/// The items of a list; none if it is missing.
pub(super) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A text of the manifests.
pub(super) fn text(value: &Value) -> &str {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("{value} is no text"))
}
