//! Words of the interpreter catalog, the same in the store and on the wire.

crate::words! {
    /// Source of a component, lowest precedence first: a later one overrides an earlier one of the same
    /// name, and judges a Kind for which both have an equally specific pattern.
    Source {
        /// An artifact of the catalogue of rules that a release has beside the binary.
        Catalogue = "catalogue",
        /// Ships inside the binary.
        BuiltIn = "built-in",
        /// Was made from a ConfigMap of a running Argo CD.
        ConfigMap = "config-map",
        /// An artifact of an OCI registry or of a folder in OCI layout.
        Registry = "registry",
        /// In the watched directory.
        Directory = "directory",
        /// Was sent over the API, or named on the command line.
        Upload = "upload",
    }
}

crate::words! {
    /// State of one version of an interpreter: `live`; `candidate`, accepted and waiting to be promoted;
    /// `previous`, live before; `rolled-back`, and not loaded again from a directory or a registry; `refused` by a
    /// step of the load.
    VersionOutcome {
        /// Evaluates objects, unless a source with higher precedence overrides it.
        Live = "live",
        /// Accepted, and waiting to be promoted.
        Candidate = "candidate",
        /// Was live before.
        Previous = "previous",
        /// Was replaced in a rollback, by a user or by the circuit breaker.
        RolledBack = "rolled-back",
        /// A step of the load refused it.
        Refused = "refused",
    }
}

crate::words! {
    /// A change of an interpreter.
    #[schema(as = CatalogAction)]
    CatalogAction {
        /// A component was loaded.
        Load = "load",
        /// The candidate became live.
        Promote = "promote",
        /// The previous version became live again.
        Rollback = "rollback",
        /// The interpreter was removed from the published set.
        Disable = "disable",
        /// The interpreter was added to the published set again.
        Enable = "enable",
        /// The settings changed.
        Settings = "settings",
        /// The versions of one source were removed.
        Remove = "remove",
        /// The circuit breaker rolled back because of too many faults.
        Breaker = "breaker",
        /// A component was refused.
        Refuse = "refuse",
    }
}

crate::words! {
    /// Steps of loading a component, in order.
    LoadStep {
        /// The bytes arrived: size and digest.
        Received = "received",
        /// It is a WebAssembly component with the imports and exports of the contract.
        Validated = "validated",
        /// It was compiled to machine code.
        Compiled = "compiled",
        /// An instance described itself and passed its own fixtures.
        Tried = "tried",
        /// It is a member of the published set.
        Published = "published",
    }
}
