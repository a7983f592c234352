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

#[test]
fn a_creation_that_was_interrupted_is_completed() {
    let index = String::from_utf8(json(&Index::default())).unwrap();
    let left: [(&str, &[(&str, &str)]); 5] = [
        ("", &[]),
        ("blobs", &[]),
        ("blobs/sha256", &[(".tmpabc123", "{")]),
        ("blobs/sha256", &[(INDEX_FILE, &*index)]),
        (
            "blobs/sha256",
            &[(INDEX_FILE, &*index), (".tmpabc123", "{")],
        ),
    ];
    for (folders, files) in left {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(folders)).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let layout = Layout::create(folder.path()).unwrap();
        layout.put_blob(b"one").unwrap();
        let tags = Layout::open(folder.path()).unwrap().tags().unwrap();
        assert!(tags.is_empty());
        assert!(hidden(folder.path()).is_empty());
    }
}

#[test]
fn a_folder_with_other_content_is_not_changed() {
    for file in [
        "notes.md",
        ".tmpabc123",
        "index.json",
        "blobs/notes.md",
        "blobs/sha256/ab",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(folder.path().join(".tmpabc123"), "of another program").unwrap();
        fs::write(&file, "other").unwrap();
        let refused = Layout::create(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("it has other files"), "{refused}");
        assert_eq!(hidden(folder.path()), [".tmpabc123"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "other");
    }
}
