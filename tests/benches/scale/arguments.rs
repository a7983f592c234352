//! The arguments of the benchmark.

/// Sizes and parts of a run.
pub(crate) struct Arguments {
    pub(crate) clusters: u32,
    /// Servers. Several servers share the clusters over one etcd.
    pub(crate) hosts: u32,
    /// Objects of all clusters.
    pub(crate) objects: u32,
    /// Changes per second.
    pub(crate) rate: u32,
    /// Time of a measurement without an end of its own.
    pub(crate) seconds: u32,
    pub(crate) is_waiting: bool,
    /// True if one kubeconfig has all contexts.
    pub(crate) has_one_file: bool,
    /// The parts to run; empty for all.
    only: Vec<String>,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        Self {
            clusters: number("clusters", 20),
            hosts: number("hosts", 1),
            objects: number("objects", 16_000),
            rate: number("rate", 1000),
            seconds: number("seconds", 30),
            is_waiting: number("waiting", 0) > 0,
            has_one_file: text("file").as_deref() == Some("one"),
            only: text("only")
                .unwrap_or_default()
                .split(',')
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Returns whether a part runs.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

fn number(name: &str, default: u32) -> u32 {
    text(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} needs a number"))
    })
}

fn text(name: &str) -> Option<String> {
    let mut arguments = std::env::args();
    arguments.find_map(|argument| Some(argument.strip_prefix(&format!("{name}="))?.to_owned()))
}
