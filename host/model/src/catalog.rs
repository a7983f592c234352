//! Words about interpreters that are stored and told alike.

crate::words! {
    /// The source of a component, lowest first: a later one overrides an earlier one of the same name.
    Source {
        /// Ships inside the binary.
        BuiltIn = "built-in",
        /// Lies in the watched directory.
        Directory = "directory",
        /// Was sent over the API, or named on the command line.
        Upload = "upload",
    }
}

crate::words! {
    /// The state of one version of an interpreter: `live`; `candidate`, accepted and waiting to be
    /// promoted; `previous`, live before; `rolled-back`, and not taken from the directory again;
    /// `refused` by a step of the load.
    VersionOutcome {
        /// It judges, or would if no higher source overrode it.
        Live = "live",
        /// Accepted, and waiting to be promoted.
        Candidate = "candidate",
        /// It was live before.
        Previous = "previous",
        /// Rolled back from, by hand or by the circuit breaker.
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
        /// The candidate went live.
        Promote = "promote",
        /// The previous version went live again.
        Rollback = "rollback",
        /// The interpreter was left out of what is published.
        Disable = "disable",
        /// The interpreter was published again.
        Enable = "enable",
        /// The settings changed.
        Settings = "settings",
        /// The versions of one source were taken out.
        Remove = "remove",
        /// The circuit breaker rolled back, because of too many faults.
        Breaker = "breaker",
        /// A component was refused.
        Refuse = "refuse",
    }
}

crate::words! {
    /// A step of loading a component, in their order.
    LoadStep {
        /// The bytes came: size and digest.
        Received = "received",
        /// A WebAssembly component that imports and exports what the contract says.
        Validated = "validated",
        /// Machine code.
        Compiled = "compiled",
        /// An instance that described itself and kept its own fixtures.
        Tried = "tried",
        /// A member of the published set.
        Published = "published",
    }
}
