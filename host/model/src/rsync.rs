//! Results of sending a resource to its cluster, and of reaching the cluster.

crate::words! {
    /// Rsync status of a resource, as the reference layout stores it (`{"Status":"Applied"}`).
    RsyncStatus {
        /// Not sent yet.
        Pending = "Pending",
        /// The cluster accepted it. Some orchestrators write `Instantiated`.
        #[serde(alias = "Instantiated")]
        Applied = "Applied",
        /// The cluster refused it.
        Failed = "Failed",
        /// The cluster does not answer; sending is retried.
        Retrying = "Retrying",
        /// It was deleted from the cluster. Some orchestrators write `Terminated`.
        #[serde(alias = "Terminated")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_other_generations_are_read_and_never_written() {
        for (stored, status) in [
            (r#""Instantiated""#, RsyncStatus::Applied),
            (r#""Terminated""#, RsyncStatus::Deleted),
        ] {
            let read: RsyncStatus = serde_json::from_str(stored).unwrap();
            assert_eq!(read, status);
            assert_ne!(serde_json::to_string(&read).unwrap(), stored);
        }
    }
}
