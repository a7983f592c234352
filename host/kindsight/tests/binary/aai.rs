//! `[aai]` with a real API server: Pods become vservers, through an outage, a kill and a removal.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kindsight_cluster::{
    Authority, Binaries, Binary, Cluster, Etcd, Identity, Inventory, InventoryFault, Options,
};
use serde_json::{Value, json};

use crate::process::{Server, kindsight, text};

/// Time in which an update must arrive.
const PATIENCE: Duration = Duration::from_mins(1);
/// The header of Basic authentication as `so:secret`.
const BASIC: &str = "Basic c286c2VjcmV0";

pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {
            "app.kubernetes.io/part-of": "shop",
            "generic-vnf-id": "vnf-1", "vfmodule-id": "module-1",
        }},
        "spec": {"containers": [{"name": "main", "image": "example.com/main"}]},
    })
}

/// The status of a Pod that runs, or whose container crashes.
pub(crate) fn status(name: &str, is_ready: bool) -> Value {
    let ready = if is_ready { "True" } else { "False" };
    let state = if is_ready {
        json!({"running": {"startedAt": "2026-11-27T10:00:00Z"}})
    } else {
        json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}})
    };
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "status": {
            "phase": if is_ready { "Running" } else { "Pending" }, "podIP": "10.1.2.3",
            "conditions": [
                {"type": "Ready", "status": ready}, {"type": "ContainersReady", "status": ready},
                {"type": "PodScheduled", "status": "True"},
            ],
            "containerStatuses": [{
                "name": "main", "image": "example.com/main", "imageID": "", "restartCount": 0,
                "ready": is_ready, "started": is_ready, "state": state,
            }],
        },
    })
}

/// Writes the configuration, with further lines of `[aai]`.
fn configure(file: &Path, cluster: &Cluster, inventory: &Inventory, more: &str) {
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let table = format!(
        "[[cluster]]\nname = \"lab+a\"\nkubeconfig = {kubeconfig:?}\n\
         [outgoing]\naddresses = [\"127.0.0.1\"]\n\
         [aai]\nurl = \"{}\"\ntimeout = \"2s\"\n{more}\n\
         [[aai.cluster]]\nname = \"lab+a\"\ncloud-owner = \"CloudOwner\"\nregion = \"RegionOne\"\ntenant = \"tenant-1\"\n",
        inventory.url(),
    );
    fs::write(file, table).unwrap();
}

/// The lines of `[aai]` for Basic authentication as `so:secret`.
fn basic(folder: &Path) -> String {
    let password = folder.join("password");
    fs::write(&password, "secret\n").unwrap();
    format!(
        "user = \"so\"\npassword-file = {:?}",
        password.display().to_string()
    )
}

fn wait_for(what: &str, inventory: &Inventory, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        let known = inventory.vservers();
        assert!(began.elapsed() < PATIENCE, "{what}: {known:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The vservers as `name status`.
fn vservers(inventory: &Inventory) -> Vec<String> {
    let vservers = inventory.vservers().into_iter();
    let shown = vservers.map(|(name, object)| {
        let status = object["prov-status"].as_str().unwrap_or_default();
        format!("{name} {status}")
    });
    shown.collect()
}

/// The text of an answer that is no JSON.
fn body(server: &Server, path: &str) -> String {
    let mut answer = ureq::get(format!("{}{path}", server.url)).call().unwrap();
    answer.body_mut().read_to_string().unwrap()
}

#[test]
fn pods_become_vservers_through_an_outage_and_a_kill() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("a"));
    let inventory = Inventory::start();
    inventory.require_authorization(BASIC);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("kindsight.toml");
    configure(&config, &cluster, &inventory, &basic(folder.path()));
    let (flag, data) = (
        format!("--config={}", config.display()),
        folder.path().join("data"),
    );
    for name in ["web-0", "web-1"] {
        cluster.apply(&pod(name));
        cluster.client().apply_status(&status(name, true));
    }
    let server = Server::start_with(&data, &[], &[&flag]);
    let both = ["web-0 Ready", "web-1 Ready"];
    wait_for("both", &inventory, || vservers(&inventory) == both);
    let vnf = || {
        inventory
            .object("network/generic-vnfs/generic-vnf/vnf-1")
            .unwrap()
    };
    let in_service = || vnf()["operational-status"] == "in-service-path";
    wait_for("the VNF", &inventory, in_service);

    // An outage is visible, and affects no other part.
    inventory.fail(Some(InventoryFault::Status(503)), 0);
    cluster.client().apply_status(&status("web-1", false));
    let is_away = || body(&server, "/metrics").contains("\nkindsight_aai_away 1.0\n");
    wait_for("the outage", &inventory, is_away);
    let ready = body(&server, "/readyz");
    assert!(
        ready.starts_with("ok") && ready.contains("A&AI is away"),
        "{ready}"
    );
    let (code, applications) = server.get("/v2/applications");
    let applications = applications["applications"].as_array();
    assert_eq!((code, applications.map(Vec::len)), (200, Some(1)));

    // Killed during the outage, and again when the write was applied but not acknowledged.
    server.kill();
    inventory.fail(Some(InventoryFault::CloseAfter), 1);
    let server = Server::start_with(&data, &[], &[&flag]);
    wait_for("the effect", &inventory, || vservers(&inventory) != both);
    server.kill();
    let server = Server::start_with(&data, &[], &[&flag]);
    wait_for("the VNF", &inventory, || !in_service());
    let failed = vservers(&inventory);
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert_ne!(failed[1], "web-1 Ready");

    // A Pod that goes while the server is stopped.
    server.kill();
    assert!(cluster.delete("/api/v1/namespaces/default/pods/web-1?gracePeriodSeconds=0"));
    let server = Server::start_with(&data, &[], &[&flag]);
    wait_for("the removal", &inventory, || {
        vservers(&inventory) == both[..1]
    });
    wait_for("the VNF", &inventory, in_service);
    assert!(server.stop());
    assert_eq!(inventory.violations(), Vec::<String>::new());
    let of_vservers = inventory.writes().into_iter();
    let of_vservers = of_vservers.filter(|write| write.path.contains("/vserver/"));
    let methods: Vec<String> = of_vservers.map(|write| write.method).collect();
    assert_eq!(methods, ["PUT", "PUT", "PUT", "DELETE"]);
}

#[test]
fn an_inventory_that_demands_a_client_certificate_gets_operational_statuses() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("a"));
    let (authority, strangers) = (Authority::new("inventory"), Authority::new("strangers"));
    let inventory = Inventory::start_with_tls(&authority.server(None), &authority);
    inventory.require_authorization(BASIC);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let present = |identity: &Identity| {
        fs::write(path("client.pem"), &identity.certificate).unwrap();
        fs::write(path("client-key.pem"), &identity.key).unwrap();
    };
    present(&strangers.client("so", "", None));
    fs::write(path("ca.pem"), authority.certificate()).unwrap();
    let file = |name: &str| format!("{:?}", path(name).display().to_string());
    let more = format!(
        "version = \"v20\"\n{}\nca = {}\nclient-cert = {}\nclient-key = {}",
        basic(folder.path()),
        file("ca.pem"),
        file("client.pem"),
        file("client-key.pem"),
    );
    configure(&path("kindsight.toml"), &cluster, &inventory, &more);
    cluster.apply(&pod("web-0"));
    cluster.client().apply_status(&status("web-0", true));
    let flag = format!("--config={}", path("kindsight.toml").display());
    let server = Server::start_with(&path("data"), &[], &[&flag]);
    // The inventory refuses the certificate of another authority.
    let is_away = || body(&server, "/metrics").contains("\nkindsight_aai_away 1.0\n");
    wait_for("the refusal", &inventory, is_away);
    assert_eq!(inventory.requests().len(), 0);

    present(&authority.client("so", "", None));
    let operational = |name: &str| {
        let mut known = inventory.vservers().into_iter();
        let object = known.find(|(known, _)| known == name)?.1;
        Some(object["operational-status"].as_str()?.to_owned())
    };
    let in_service = || operational("web-0").as_deref() == Some("in-service-path");
    wait_for("the vserver", &inventory, in_service);
    cluster.client().apply_status(&status("web-0", false));
    let out = || operational("web-0").as_deref() == Some("out-of-service-path");
    wait_for("the failure", &inventory, out);
    assert!(server.stop());
    assert_eq!(inventory.violations(), Vec::<String>::new());
}

#[test]
fn an_inventory_on_loopback_must_be_permitted() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("kindsight.toml");
    let table = "[aai]\nurl = \"http://127.0.0.1:1/secret\"\n[[aai.cluster]]\nname = \"lab+a\"\ncloud-owner = \"o\"\nregion = \"r\"\ntenant = \"t\"\n";
    fs::write(&config, table).unwrap();
    let data = folder.path().join("data").display().to_string();
    let flag = format!("--config={}", config.display());
    let refused = kindsight(&["serve", "--data-dir", &data, &flag])
        .output()
        .unwrap();
    let told = text(&refused.stderr);
    assert!(!refused.status.success());
    assert!(
        told.contains("[aai]: 127.0.0.1 is a loopback address"),
        "{told}"
    );
    assert!(told.contains("`addresses` of `[outgoing]`"), "{told}");
    assert!(!told.contains("secret"), "{told}");
}
