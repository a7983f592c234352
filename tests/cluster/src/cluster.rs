//! A real Kubernetes cluster without machines.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::http::Method;

use crate::api_server;
use crate::authority::{Authority, write};
use crate::binaries::Binary;
use crate::client::{Client, Credentials};
use crate::etcd::{Etcd, READY_MAX, new_folder};
use crate::kubeconfig::write_kubeconfig;
use crate::options::Options;
use crate::pods::stages;
use crate::ports::free_port;
use crate::process::Process;

/// An API server and, depending on the options, controllers, a scheduler and fake nodes. All
/// processes are stopped when it is dropped.
#[derive(Debug)]
pub struct Cluster {
    /// The first field, so that the controllers stop before their server.
    controllers: Vec<Process>,
    api_server: Process,
    name: String,
    url: String,
    authority: Authority,
    admin: Credentials,
    client: Client,
    /// Removed after the processes have ended.
    folder: TempDir,
}

impl Cluster {
    /// Starts a cluster whose API server stores its objects in this etcd, and waits until its nodes
    /// are Ready. RBAC is enabled.
    ///
    /// # Panics
    /// If it does not become ready, with the end of a log.
    pub fn start(etcd: &Etcd, options: &Options) -> Self {
        let mut cluster = Self::start_api_server(etcd, options);
        cluster.wait_until_ready();
        let has = |object: &Value| !object.is_null();
        cluster.wait("/api/v1/namespaces/default", has, READY_MAX);
        if options.with_controllers {
            cluster.start_controllers(etcd);
        }
        if options.nodes > 0 {
            cluster.start_nodes(etcd, options);
        }
        cluster
    }

    /// The name with which it was started.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of the API server: `https://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The authority of the API server's certificate. The server accepts client certificates that
    /// it signs.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The credentials of the administrator.
    pub fn admin(&self) -> &Credentials {
        &self.admin
    }

    /// The kubeconfig file of the administrator. Its context has the name of the cluster.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// The folder of the cluster's files: logs, certificates, and files of the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The ids of its running processes.
    pub fn process_ids(&self) -> Vec<u32> {
        let processes = self.controllers.iter().chain([&self.api_server]);
        processes.filter_map(Process::id).collect()
    }

    /// The administrator's client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A client with other credentials.
    pub fn client_as(&self, credentials: &Credentials) -> Client {
        Client::new(&self.url, Some(self.authority.certificate()), credentials)
    }

    /// Stops the API server as a service manager does, and waits. The controllers keep running and
    /// wait for the server.
    pub fn stop(&mut self) {
        self.api_server.stop();
    }

    /// Kills the API server immediately.
    pub fn kill(&mut self) {
        self.api_server.kill();
    }

    /// Starts the API server with the same port and data, and waits until it is ready.
    pub fn start_again(&mut self) {
        self.api_server.start_again();
        self.wait_until_ready();
    }

    /// Freezes the API server: connections stay open but get no answers.
    pub fn pause(&mut self) {
        self.api_server.pause();
    }

    /// Continues the frozen API server.
    pub fn resume(&mut self) {
        self.api_server.resume();
    }

    /// Gives the API server a new certificate that is valid until this time. The server uses it
    /// within a few seconds.
    pub fn renew_certificate(&self, until: Option<SystemTime>) {
        self.authority.server(until).write(self.folder(), "server");
    }

    fn start_api_server(etcd: &Etcd, options: &Options) -> Self {
        let folder = new_folder(&options.name);
        let port = free_port();
        let url = format!("https://127.0.0.1:{port}");
        let authority = Authority::new(&format!("{} tests", options.name));
        let token = api_server::write_secrets(folder.path(), &authority, options);
        let admin = Credentials::Token(token);
        let arguments = api_server::arguments(etcd, options, folder.path(), port);
        let binary = etcd.binaries().path(Binary::ApiServer);
        let api_server = Process::start("kube-apiserver", binary, arguments, folder.path());
        let client = Client::new(&url, Some(authority.certificate()), &admin);
        let cluster = Self {
            controllers: Vec::new(),
            api_server,
            name: options.name.clone(),
            url,
            authority,
            admin,
            client,
            folder,
        };
        let context = (options.name.as_str(), &cluster, &cluster.admin);
        write_kubeconfig(&cluster.kubeconfig(), &[context]);
        cluster
    }

    fn wait_until_ready(&mut self) {
        let client = &self.client;
        let is_ready = || {
            let answer = client.request(Method::GET, "/readyz", None);
            answer.is_ok_and(|answer| answer.status == 200)
        };
        let what = "the API server is ready";
        self.api_server.wait_until(what, READY_MAX, is_ready);
    }

    fn start_controllers(&mut self, etcd: &Etcd) {
        let kubeconfig = self.kubeconfig().display().to_string();
        for binary in [Binary::ControllerManager, Binary::Scheduler] {
            let mut arguments = vec!["--kubeconfig", &kubeconfig, "--secure-port=0"];
            arguments.push("--leader-elect=false");
            if binary == Binary::ControllerManager {
                arguments.push("--use-service-account-credentials=false");
            }
            let path = etcd.binaries().path(binary);
            let process = Process::start(binary.name(), path, arguments, self.folder());
            self.controllers.push(process);
        }
    }

    fn start_nodes(&mut self, etcd: &Etcd, options: &Options) {
        write(self.folder(), "stages.yaml", &stages(options));
        let arguments = [
            format!("--kubeconfig={}", self.kubeconfig().display()),
            format!("--config={}", self.folder().join("stages.yaml").display()),
            "--manage-all-nodes=true".to_owned(),
            "--node-ip=10.10.0.1".to_owned(),
            "--cidr=10.244.0.1/16".to_owned(),
        ];
        let path = etcd.binaries().path(Binary::Kwok);
        let kwok = Process::start(Binary::Kwok.name(), path, arguments, self.folder());
        self.controllers.push(kwok);
        let capacity = json!({"cpu": "64", "memory": "256Gi", "pods": "1000"});
        for number in 1..=options.nodes {
            self.apply(&json!({
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {
                    "name": format!("node-{number}"),
                    "annotations": {"kwok.x-k8s.io/node": "fake"},
                },
                "status": {"capacity": capacity, "allocatable": capacity},
            }));
        }
        for number in 1..=options.nodes {
            let path = format!("/api/v1/nodes/node-{number}");
            self.wait(&path, is_ready_node, READY_MAX);
        }
    }
}

/// The requests that most tests need, as the administrator. [`Client`] has all requests.
impl Cluster {
    /// [`Client::apply`]
    pub fn apply(&self, object: &Value) -> Value {
        self.client.apply(object)
    }

    /// [`Client::get`]
    pub fn get(&self, path: &str) -> Option<Value> {
        self.client.get(path)
    }

    /// [`Client::delete`]
    pub fn delete(&self, path: &str) -> bool {
        self.client.delete(path)
    }

    /// [`Client::patch`]
    pub fn patch(&self, path: &str, media_type: &str, patch: &Value) -> Value {
        self.client.patch(path, media_type, patch)
    }

    /// [`Client::wait`]
    pub fn wait(&self, path: &str, is_so: impl Fn(&Value) -> bool, timeout: Duration) -> Value {
        self.client.wait(path, is_so, timeout)
    }
}

fn is_ready_node(node: &Value) -> bool {
    let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
