//! The arguments that `cargo test` hands to every test program.

/// Options of the standard harness that are followed by a value.
const WITH_VALUE: [&str; 6] = [
    "--color",
    "--format",
    "--logfile",
    "--shuffle-seed",
    "--test-threads",
    "-Z",
];

/// What is asked of this run. Options that mean nothing here are taken and left alone.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Only names are wanted.
    pub(crate) list: bool,
    /// Every case that is not exact is wanted too.
    pub(crate) verbose: bool,
    /// Only trials that are switched off are wanted; there are none.
    ignored: bool,
    matching: Matching,
    filters: Vec<String>,
    skips: Vec<String>,
}

/// What of a name a filter has to be.
#[derive(Debug, Clone, Copy, Default)]
enum Matching {
    #[default]
    Part,
    Whole,
}

impl Arguments {
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Self {
        let mut read = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => read.list = true,
                "--nocapture" | "--no-capture" => read.verbose = true,
                "--ignored" => read.ignored = true,
                "--exact" => read.matching = Matching::Whole,
                "--skip" => read.skips.extend(arguments.next()),
                option if WITH_VALUE.contains(&option) => {
                    arguments.next();
                }
                option if option.starts_with('-') => {
                    let skip = option.strip_prefix("--skip=");
                    read.skips.extend(skip.map(str::to_owned));
                }
                filter => read.filters.push(filter.to_owned()),
            }
        }
        read
    }

    /// Whether the trial of that name runs.
    pub(crate) fn selects(&self, name: &str) -> bool {
        let matches = |text: &String| match self.matching {
            Matching::Part => name.contains(text.as_str()),
            Matching::Whole => name == text,
        };
        let wanted = self.filters.is_empty() || self.filters.iter().any(matches);
        wanted && !self.ignored && !self.skips.iter().any(matches)
    }
}
