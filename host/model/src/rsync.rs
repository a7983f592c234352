//! Results of sending a resource to its cluster.

crate::words! {
    /// The rsync status of a resource, as the reference layout stores it (`{"Status":"Applied"}`).
    RsyncStatus {
        /// Not sent yet.
        Pending = "Pending",
        /// The cluster accepted it.
        Applied = "Applied",
        /// The cluster refused it.
        Failed = "Failed",
        /// The cluster does not answer; it will be sent again.
        Retrying = "Retrying",
        /// It was taken away.
        Deleted = "Deleted",
    }
}
