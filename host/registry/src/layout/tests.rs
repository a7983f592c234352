use super::*;

/// The names in a folder that begin with a dot, sorted.
fn hidden(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with('.')).collect();
    names.sort();
    names
}

#[test]
fn unfinished_files_of_killed_processes_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::create(folder.path()).unwrap();
    for name in [
        ".tmpabc123",
        ".tmpXYZ789",
        ".tmp",
        ".tmpnotes.md",
        ".hidden",
    ] {
        fs::write(folder.path().join(name), "left").unwrap();
    }
    // Another process writes this file.
    let written = File::open(folder.path().join(".tmpXYZ789")).unwrap();
    written.lock().unwrap();

    layout.put_blob(b"one").unwrap();
    let others = [".hidden", ".tmp", ".tmpXYZ789", ".tmpnotes.md"];
    assert_eq!(hidden(folder.path()), others);
    drop(written);
    layout.put_blob(b"two").unwrap();
    assert_eq!(hidden(folder.path()), [".hidden", ".tmp", ".tmpnotes.md"]);
    for bytes in [&b"one"[..], b"two"] {
        let blob = layout.blob(&Digest::of(bytes), (10, "a test"));
        assert_eq!(blob.unwrap(), bytes);
    }
}
