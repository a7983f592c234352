//! kindsight beside a running orchestrator: contexts in a real etcd, laid down key by key, are read, queried and
//! followed. kindsight writes no key to that etcd.

mod controllers;
mod faults;
mod goldens;
mod killed;
mod laid;
mod mongodb;
mod newer;
mod observed;
mod rsync;
mod stage;
mod updated;
mod written;
