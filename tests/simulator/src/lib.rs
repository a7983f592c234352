//! Many simulated Kubernetes API servers in one process.
//!
//! ```no_run
//! use kindsight_simulator::{Fault, Seed, Simulator};
//!
//! let simulator = Simulator::start(&[Seed::new(0, 100), Seed::new(1, 100)]);
//! let cluster = simulator.cluster(0);
//! cluster.change_status(42);
//! cluster.fail_next(Fault::TooManyRequests { retry_after: 1 }, 10);
//! cluster.compact();
//! cluster.reset_connections();
//! ```
//!
//! A server answers discovery, lists, watches, `/version` and `/readyz` as a Kubernetes API server does. It accepts no
//! writes: the test changes objects. `tests/tests/simulator` compares the answers with a real API server.
//!
//! ```text
//! Seed ─▶ objects (made for each answer) ─┐
//! changes ─▶ History (changed objects only) ┴─▶ list, watch ─▶ HTTP/2 over TLS ─▶ client
//! ```
//!
//! The memory does not depend on the number of objects, but on the number of changed objects, watches and connections.
//! All clusters have one port. The path of each cluster begins with its name.

mod cluster;
mod discovery;
mod failure;
mod faults;
mod gate;
mod history;
mod kinds;
mod list;
mod objects;
mod query;
mod seed;
mod selection;
mod serve;
mod simulator;
mod target;
mod token;
mod watch;

pub use cluster::{SimulatedCluster, SimulatedObject};
pub use faults::Fault;
pub use seed::Seed;
pub use serve::TOKEN;
pub use simulator::Simulator;
