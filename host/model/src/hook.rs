//! Hooks: resources that exist only while a chart is installed or removed.

crate::words! {
    /// Moment at which a hook is sent. A hook is a resource that is not part of the running app.
    Hook {
        /// Before everything else: custom resource definitions.
        CrdInstall = "crd-install",
        /// Before the other resources are sent.
        PreInstall = "pre-install",
        /// After the other resources were sent.
        PostInstall = "post-install",
        /// Before the other resources are removed.
        PreDelete = "pre-delete",
        /// After the other resources were removed.
        PostDelete = "post-delete",
        /// Before an upgrade.
        PreUpgrade = "pre-upgrade",
        /// After an upgrade.
        PostUpgrade = "post-upgrade",
        /// Before a rollback.
        PreRollback = "pre-rollback",
        /// After a rollback.
        PostRollback = "post-rollback",
        /// When a user requests the tests of the chart.
        Test = "test",
    }
}
