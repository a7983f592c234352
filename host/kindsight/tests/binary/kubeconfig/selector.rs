//! `selector` of a `[[cluster]]`, which is set and removed in the configuration file.

use std::fs;
use std::time::Duration;

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options};

use super::{config_map, wait_for, wait_for_shop};
use crate::process::{Server, kindsight};

#[test]
fn a_new_selector_needs_no_restart_and_an_invalid_selector_is_refused() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let one = Cluster::start(&etcd, &Options::api_server("one"));
    one.apply(&config_map("other"));
    let mut settings = config_map("settings");
    settings["metadata"]["labels"]["team"] = "web".into();
    one.apply(&settings);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("kindsight.toml");
    let flag = format!("--config={}", config.display());
    let configure = |selector: &str| {
        let kubeconfig = one.kubeconfig().display().to_string();
        let table =
            format!("[[cluster]]\nname = \"edge+one\"\nkubeconfig = {kubeconfig:?}\n{selector}\n");
        fs::write(&config, table).unwrap();
    };
    configure("selector = \"team is web\"");
    let data = folder.path().join("data");
    let data = data.display().to_string();
    let refused = kindsight(&["serve", "--data-dir", &data, &flag])
        .output()
        .unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    let expected = "[[cluster]] `edge+one`: `selector`: `is` after `team`: expected `=`";
    assert!(
        !refused.status.success() && told.contains(expected),
        "{told}"
    );

    configure("");
    let server = Server::start_with(&folder.path().join("data"), &[], &[&flag]);
    let both = ["edge+one other Present", "edge+one settings Present"];
    wait_for_shop(&server, &both);
    // An object that the selector no longer covers is not listed as gone.
    configure("selector = \"team=web\"");
    wait_for_shop(&server, &both[1..]);
    let (_, answer) = server.get("/v2/clusters");
    assert_eq!(answer["clusters"][0]["selector"], "team=web");
    let history =
        "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-/history?resource=other";
    let (_, told) = server.get(history);
    assert_eq!(told["transitions"][0]["reason"], "Left", "{told:#}");
    configure("selector = \"team=\\\"web\\\"\"");
    std::thread::sleep(Duration::from_secs(3));
    wait_for_shop(&server, &both[1..]);
    wait_for(&server, &["edge+one connected current"]);
    // The same holds after a restart with another selector.
    assert!(server.stop());
    configure("selector = \"team=base\"");
    let server = Server::start_with(&folder.path().join("data"), &[], &[&flag]);
    wait_for_shop(&server, &[]);
    configure("");
    wait_for_shop(&server, &both);
}
