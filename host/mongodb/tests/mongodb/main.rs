//! States in a MongoDB, followed.

mod failures;
mod followed;
mod stage;
mod storages;
