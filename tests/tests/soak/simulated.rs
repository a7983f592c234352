//! Simulated clusters of the run: their random changes and faults.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kindsight_simulator::{Fault, Seed, SimulatedCluster, Simulator};

use crate::changes::Changes;
use crate::cluster::SoakCluster;
use crate::random::Random;

/// Number of simulated clusters. All of them have the same applications.
const CLUSTERS: u32 = 3;
/// Units of each cluster. A unit has eight objects, and an application has ten units.
const UNITS: u32 = 20;
/// Time between two changes of a cluster. A created or deleted unit is one change of eight objects.
const CHANGE_EVERY: Duration = Duration::from_millis(100);
/// Maximum number of requests that get an error in one fault: a few for each of the 60 watches.
const FAILED_MAX: u64 = 200;
/// Maximum number of requests that get the status 401 in one fault. Each of them can end a session.
const UNAUTHORIZED_MAX: u64 = 3;

/// One cluster of a simulator.
pub(crate) struct Simulated {
    name: String,
    cluster: Arc<SimulatedCluster>,
    simulator: Arc<Simulator>,
}

impl Simulated {
    /// Starts a simulator. Returns its clusters.
    pub(crate) fn start() -> impl Iterator<Item = Self> {
        let seeds = (0..CLUSTERS).map(|number| Seed {
            number,
            units: UNITS,
            clusters_per_application: CLUSTERS,
        });
        let simulator = Arc::new(Simulator::start(&seeds.collect::<Vec<_>>()));
        let clusters = simulator.clusters().to_vec();
        clusters.into_iter().map(move |cluster| Self {
            name: cluster.seed().name(),
            cluster,
            simulator: Arc::clone(&simulator),
        })
    }

    /// Answers a random number of requests with an error. The connections end, so that watches begin again.
    fn fail(&self, fault: Fault, requests_max: u64, random: &mut Random) {
        let requests = u32::try_from(1 + random.below(requests_max)).expect("a small number");
        self.cluster.fail_next(fault, requests);
        self.cluster.reset_connections();
    }
}

impl SoakCluster for Simulated {
    fn name(&self) -> &str {
        &self.name
    }

    fn kubeconfig(&self) -> PathBuf {
        let file = format!("{}.kubeconfig", self.name);
        self.simulator.folder().join(file)
    }

    fn direct_kubeconfig(&self) -> PathBuf {
        // A simulated cluster has no faults after `heal`.
        self.kubeconfig()
    }

    fn changes(&self) -> Changes {
        let cluster = Arc::clone(&self.cluster);
        Changes::new(CHANGE_EVERY, move |random| {
            let unit = u32::try_from(random.below(UNITS.into())).expect("a small number");
            match random.below(10) {
                0 => cluster.delete_unit(unit),
                1 | 2 => cluster.create_unit(unit),
                _ => cluster.change_status(random.below(u32::MAX.into())),
            }
            true
        })
    }

    fn begin_fault(&mut self, random: &mut Random) -> &'static str {
        match random.below(7) {
            0 => {
                self.cluster.reset_connections();
                "simulated: connections reset"
            }
            1 => {
                self.cluster.stall();
                "simulated: answers lost"
            }
            2 => {
                self.cluster.compact();
                self.cluster.reset_connections();
                "simulated: versions expired"
            }
            3 => {
                let fault = Fault::TooManyRequests { retry_after: 1 };
                self.fail(fault, FAILED_MAX, random);
                "simulated: 429"
            }
            4 => {
                self.fail(Fault::Gone, FAILED_MAX, random);
                "simulated: 410"
            }
            5 => {
                self.fail(Fault::InternalError, FAILED_MAX, random);
                "simulated: 500"
            }
            _ => {
                self.fail(Fault::Unauthorized, UNAUTHORIZED_MAX, random);
                "simulated: 401"
            }
        }
    }

    fn heal(&mut self) {
        self.cluster.stop_failing();
        self.cluster.resume();
    }
}
