//! All clusters reconnect at once: their servers have forgotten all versions, and are busy at first.

use std::collections::BTreeSet;
use std::time::Duration;

use kindsight_simulator::{Seed, SimulatedObject, Simulator};

use crate::server::{Watching, wait};

/// Number of clusters.
const CLUSTERS: u32 = 10;
/// Units of each cluster.
const UNITS: u32 = 12;
/// Requests of each cluster that are refused during the wave.
const BUSY: u32 = 40;

/// Case: after the wave, the answers have exactly the objects of the clusters, with their states.
pub(crate) fn the_read_model_equals_the_clusters_after_all_of_them_reconnected() {
    let seeds: Vec<Seed> = (0..CLUSTERS)
        .map(|number| Seed::new(number, UNITS))
        .collect();
    let simulator = Simulator::start(&seeds);
    let server = Watching::start(&simulator);
    server.wait_until_connected(seeds.len());
    wait_until_equal(&server, &simulator);
    for cluster in simulator.clusters() {
        cluster.delete_unit(3);
        cluster.delete_unit(5);
    }
    simulator.change_for(Duration::from_millis(500), 500);
    simulator.reconnect_wave(BUSY);
    // Changes during the wave: some of them are in the new lists, the others follow.
    for cluster in simulator.clusters() {
        cluster.create_unit(5);
    }
    simulator.change_for(Duration::from_secs(2), 200);
    server.wait_until_connected(seeds.len());
    wait_until_equal(&server, &simulator);
}

fn wait_until_equal(server: &Watching, simulator: &Simulator) {
    let expected: BTreeSet<(String, SimulatedObject)> = simulator
        .clusters()
        .iter()
        .flat_map(|cluster| {
            let name = cluster.seed().name();
            let objects = cluster.objects().into_iter();
            objects.map(move |object| (name.clone(), object))
        })
        .collect();
    let applications = expected
        .iter()
        .map(|(_, object)| object.application.clone())
        .collect();
    wait(|| {
        let found = server.objects(&applications);
        let missing = expected.difference(&found).next();
        let surplus = found.difference(&expected).next();
        (expected != found).then(|| {
            format!(
                "{} of {} objects; missing {missing:?}; surplus {surplus:?}",
                found.len(),
                expected.len()
            )
        })
    });
}
