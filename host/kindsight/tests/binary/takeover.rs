//! Two servers over one etcd: each of them is killed, and the other one continues notifications and updates of A&AI. Both
//! watch the cluster, or they share it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Inventory, Options};
use serde_json::Value;

use crate::aai::{pod, status};
use crate::notify::Bodies;
use crate::process::{Server, free_address};

/// Time in which a change must arrive, also if a lease must end first.
const PATIENCE: Duration = Duration::from_mins(2);
const POD: &str = "web-0";

/// The servers with their receivers.
struct Stage {
    cluster: Cluster,
    inventory: Inventory,
    events: Bodies,
    /// The present health of the Pod.
    is_ready: bool,
}

impl Stage {
    /// Changes the health of the Pod.
    fn change(&mut self) {
        self.is_ready = !self.is_ready;
        let status = status(POD, self.is_ready);
        self.cluster.client().apply_status(&status);
    }

    /// The states of the Pod in the events, without repetitions, in the order of their arrival.
    fn transitions(&self) -> Vec<(String, String)> {
        let (mut seen, mut transitions) = (BTreeSet::new(), Vec::new());
        for event in self.events.different() {
            let text = |of: &Value| of.as_str().unwrap_or("-").to_owned();
            if seen.insert(text(&event["id"])) {
                let data = &event["data"];
                transitions.push((text(&data["from"]["state"]), text(&data["to"]["state"])));
            }
        }
        transitions
    }

    /// Waits until the events and the inventory have the present health of the Pod.
    fn settle(&self) {
        let began = Instant::now();
        loop {
            let vservers = self.inventory.vservers();
            let vserver = vservers.first().map(|(_, object)| &object["prov-status"]);
            let is_written = vserver.is_some_and(|word| (word == "Ready") == self.is_ready);
            let transitions = self.transitions();
            let last = transitions.last().map(|(_, to)| to == "Ready");
            if is_written && last.unwrap_or(true) == self.is_ready {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{vservers:#?} {transitions:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn configure(file: &Path, kubeconfig: &Path, inventory: &Inventory, url: &str) {
    let (kubeconfig, inventory) = (kubeconfig.display().to_string(), inventory.url());
    let table = format!(
        "[[cluster]]\nname = \"lab+a\"\nkubeconfig = {kubeconfig:?}\n\
         [outgoing]\naddresses = [\"127.0.0.1\"]\n\
         [[notify]]\nname = \"ops\"\nurl = \"{url}\"\nfor = \"10ms\"\ntransitions = [\"resource\"]\nresources = [\"Pod/{POD}\"]\n\
         [aai]\nurl = \"{inventory}\"\ntimeout = \"2s\"\n\
         [[aai.cluster]]\nname = \"lab+a\"\ncloud-owner = \"CloudOwner\"\nregion = \"RegionOne\"\ntenant = \"tenant-1\"\n",
    );
    fs::write(file, table).unwrap();
}

/// Waits until one of the servers sends notifications and knows the present states.
fn wait_for_sender(servers: &[&Server]) {
    let began = Instant::now();
    let sends = |server: &Server| server.get("/v2/notify").1["receivers"][0]["sends"] == true;
    while !servers.iter().any(|server| sends(server)) {
        assert!(began.elapsed() < PATIENCE, "no server sends");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Starts the server `name` of two servers over one etcd.
struct Starter<'s> {
    folder: &'s Path,
    flags: Vec<String>,
    is_sharing: bool,
}

impl Starter<'_> {
    fn start(&self, name: &str) -> Server {
        let address = free_address();
        let own = format!("--share-clusters=http://{address}");
        let flags = self.flags.iter().map(String::as_str);
        let flags: Vec<&str> = flags.chain(self.is_sharing.then_some(&*own)).collect();
        Server::start_on(&address, &self.folder.join(name), &[], &flags)
    }
}

#[test]
fn another_server_continues_after_a_kill_without_a_loss_or_a_second_effect() {
    kill_servers_in_turns(false);
}

#[test]
fn hosts_that_share_a_cluster_send_each_event_and_each_update_once() {
    kill_servers_in_turns(true);
}

/// Kills each of two servers during a change. Each event and each update must have an effect once.
fn kill_servers_in_turns(is_sharing: bool) {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("a"));
    let mut stage = Stage {
        cluster,
        inventory: Inventory::start(),
        events: Bodies::default(),
        is_ready: true,
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("kindsight.toml");
    let url = stage.events.listen();
    configure(&config, &stage.cluster.kubeconfig(), &stage.inventory, &url);
    let store = etcd.url().replace("http://", "etcd://");
    let starter = Starter {
        folder: folder.path(),
        flags: vec![
            format!("--config={}", config.display()),
            format!("--store={store}"),
        ],
        is_sharing,
    };
    stage.cluster.apply(&pod(POD));
    stage.cluster.client().apply_status(&status(POD, true));
    let mut servers = ["one", "two"].map(|name| (name, Some(starter.start(name))));
    {
        let running: Vec<&Server> = servers.iter().filter_map(|(_, it)| it.as_ref()).collect();
        wait_for_sender(&running);
    }
    stage.settle();

    // One of the servers has the leases. Each of them is killed, so each lease moves at least once.
    for (name, server) in &mut servers {
        stage.change();
        stage.settle();
        // The kill is in the middle of the next change.
        stage.change();
        std::thread::sleep(Duration::from_millis(150));
        server.take().unwrap().kill();
        stage.change();
        stage.settle();
        *server = Some(starter.start(name));
    }
    stage.change();
    stage.settle();
    for (_, server) in servers {
        assert!(server.unwrap().stop());
    }

    // Each event begins with the state that the event before it ends with: none is lost, and none has two ids.
    let transitions = stage.transitions();
    for pair in transitions.windows(2) {
        assert_eq!(pair[0].1, pair[1].0, "{transitions:?}");
    }
    // Every write changes the vserver: no write takes effect twice.
    assert_eq!(stage.inventory.violations(), Vec::<String>::new());
    let mut last: BTreeMap<String, Value> = BTreeMap::new();
    for write in stage.inventory.writes() {
        let status = write.object["prov-status"].clone();
        let before = last.insert(write.path.clone(), status.clone());
        assert_ne!(before, Some(status), "{write:#?}");
    }
}
