//! Beside a running orchestrator: contexts that it wrote into a real etcd, key by key, are read, queried and
//! followed, and nothing is written there.

mod faults;
mod goldens;
mod killed;
mod laid;
mod mongodb;
mod newer;
mod observed;
mod stage;
mod updated;
mod written;
