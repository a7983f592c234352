//! Shell completion and manual pages.

use std::process::{Command, Output};

use crate::process::{run, text};

/// Runs a program if it is installed.
fn installed(program: &str, args: &[&str]) -> Option<Output> {
    let output = Command::new(program).args(args).output();
    if output.is_err() {
        // Standard error shows it although the test passes.
        eprintln!("{program} is not installed: it did not check the output of this test");
    }
    output.ok()
}

#[test]
fn each_shell_has_a_script_that_it_can_read() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let printed = run(&["completion", shell], "");
        assert!(printed.status.success(), "{}", text(&printed.stderr));
        let script = text(&printed.stdout);
        assert!(script.contains("interpreters"), "{shell}: {script}");
        assert!(!script.contains("compile-component"), "{shell}");
        let file = folder.path().join(shell);
        std::fs::write(&file, script).unwrap();
        if let "bash" | "zsh" | "fish" = shell
            && let Some(read) = installed(shell, &["-n", file.to_str().unwrap()])
        {
            assert!(read.status.success(), "{shell}: {}", text(&read.stderr));
        }
    }
    let unknown = run(&["completion", "csh"], "");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("bash"));
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kindsight.bash");
    std::fs::write(&file, run(&["completion", "bash"], "").stdout).unwrap();
    let completed = |words: &[&str]| {
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let script = format!(
            "source {}; COMP_WORDS=({}); COMP_CWORD={}; _kindsight kindsight '{last}' '{before}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.join(" "),
            words.len() - 1,
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        text(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(completed(&["kindsight", "sta"]), ["status"]);
    assert_eq!(completed(&["kindsight", "token", "rev"]), ["revoke"]);
    assert_eq!(
        completed(&["kindsight", "serve", "--kubec"]),
        ["--kubeconfig"]
    );
    let kinds = completed(&["kindsight", "status", "x", "--type", ""]);
    assert_eq!(kinds, ["rsync", "cluster", "all"]);
}

#[test]
fn each_command_has_a_manual_page_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    let written = run(&["man", pages.to_str().unwrap()], "");
    assert!(written.status.success(), "{}", text(&written.stderr));
    let mut names: Vec<String> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in ["kindsight.1", "kindsight-status.1", "kindsight-token-new.1"] {
        assert!(names.iter().any(|page| page == name), "{names:?}");
    }
    for name in names {
        let page = pages.join(name);
        let page = page.to_str().unwrap();
        let args = ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page];
        let Some(formatted) = installed("man", &args) else {
            return;
        };
        let warnings = text(&formatted.stderr);
        // A list of default values has no place for a line break.
        let mut warnings = warnings
            .lines()
            .filter(|line| !line.ends_with("cannot adjust line"));
        assert_eq!(warnings.next(), None, "{page}");
    }
    let serve = std::fs::read_to_string(pages.join("kindsight-serve.1")).unwrap();
    for part in ["call\\-deadline\\-ms", "Processor time for one verdict"] {
        assert!(serve.contains(part), "{part}: {serve}");
    }
    let main = text(&run(&["man"], "").stdout);
    assert!(main == std::fs::read_to_string(pages.join("kindsight.1")).unwrap());
}
