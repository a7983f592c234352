//! Results of sending a resource to its cluster, and of reaching the cluster.

crate::words! {
    /// Rsync status of a resource, as the reference layout stores it (`{"Status":"Applied"}`).
    RsyncStatus {
        /// Not sent yet.
        Pending = "Pending",
        /// The cluster accepted it.
        Applied = "Applied",
        /// The cluster refused it.
        Failed = "Failed",
        /// The cluster does not answer; sending is retried.
        Retrying = "Retrying",
        /// It was deleted from the cluster.
        Deleted = "Deleted",
    }
}

crate::words! {
    /// Outcome of the last attempt to reach a cluster, as the reference layout stores it.
    Connectivity {
        /// The cluster answered.
        Available = "Available",
        /// The cluster did not answer; it is tried again.
        Retrying = "Retrying",
        /// The orchestrator stored no outcome.
        Unknown = "Unknown",
    }
}
