//! `quaver convert`: checkpoints of every version that loads, in the newest one.

mod place;

use std::fs;
use std::path::Path;

use place::{fails, json, succeeds};

#[test]
fn every_fixture_is_converted_and_already_current() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let new = folder.path().join("new.qvr").display().to_string();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let mut versions = Vec::new();
    for entry in fs::read_dir(fixtures).expect("fixtures") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "qvr") {
            continue;
        }
        let old = path.display().to_string();
        let shown = json(&succeeds(&["convert", &old, "-o", &new, "--json"]));
        assert_eq!(shown["already_current"], true, "{old}");
        assert_eq!(shown["rows"], 256);
        assert_eq!(shown["version"][0], shown["version"][1]);
        versions.push(shown["version"][0].as_u64());
        assert_eq!(fs::read(&old).expect("the old one"), fs::read(&new).expect("the new one"), "{old}");
        assert!(succeeds(&["convert", &old, "-o", &new]).contains("already current: version"));
    }
    assert!(versions.contains(&Some(2)) && versions.contains(&Some(3)), "{versions:?}");
}

#[test]
fn what_does_not_load_is_not_converted_and_the_input_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let example = format!("{}/../runtime/examples/grip_force.qvr", env!("CARGO_MANIFEST_DIR"));
    let bytes = fs::read(example).expect("an example");
    fs::write(at("old.qvr"), &bytes).expect("a writable folder");
    fails(&["convert", &at("old.qvr"), "-o", &at("old.qvr")], &["old.qvr", "own input"]);
    fails(&["convert", &at("old.qvr"), "-o", &at("./old.qvr")], &["own input"]);
    assert_eq!(fs::read(at("old.qvr")).expect("the model"), bytes);
    let mut first = bytes.clone();
    first[4] = 1;
    fs::write(at("first.qvr"), first).expect("a writable folder");
    fails(&["convert", &at("first.qvr"), "-o", &at("new.qvr")], &["first.qvr", "version 1"]);
    fs::write(at("cut.qvr"), &bytes[..500]).expect("a writable folder");
    fails(&["convert", &at("cut.qvr"), "-o", &at("new.qvr")], &["cut.qvr", "truncated"]);
    fails(&["convert", &at("absent.qvr"), "-o", &at("new.qvr")], &["absent.qvr"]);
    assert!(!Path::new(&at("new.qvr")).exists(), "nothing is written");
}
