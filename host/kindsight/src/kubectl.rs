//! `kubectl kindsight`: this program as a plugin of kubectl.
//!
//! kubectl runs the program `kubectl-kindsight` of the `PATH` with the arguments after `kindsight`.

use std::ffi::OsStr;
use std::path::Path;

/// The file name under which kubectl finds this program.
const FILE: &str = "kubectl-kindsight";
/// The command line with which a user runs it.
pub(crate) const COMMAND: &str = "kubectl kindsight";

/// Returns whether this process was started as a plugin of kubectl.
pub(crate) fn is_plugin() -> bool {
    std::env::args_os()
        .next()
        .is_some_and(|name| is_named(&name))
}

fn is_named(program: &OsStr) -> bool {
    Path::new(program).file_stem() == Some(OsStr::new(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_program_makes_it_a_plugin() {
        for program in ["kubectl-kindsight", "/usr/local/bin/kubectl-kindsight"] {
            assert!(is_named(OsStr::new(program)), "{program}");
        }
        for program in ["kindsight", "/kubectl-kindsight/kindsight", ""] {
            assert!(!is_named(OsStr::new(program)), "{program}");
        }
    }
}
