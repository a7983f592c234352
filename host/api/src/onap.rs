//! Words of ONAP's interfaces: the Kubernetes plugin of Multi-Cloud, and the inventory A&AI.

use kindsight_model::words;

words! {
    /// State of a resource or an application in ONAP's three words.
    ///
    /// `kindsight-status` maps the phases to these words.
    OnapState {
        /// Works, or finished successfully.
        Ready = "Ready",
        /// Not ready, without proof of a failure.
        Pending = "Pending",
        /// Will not become ready without intervention.
        Failed = "Failed",
    }
}
