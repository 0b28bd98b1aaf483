//! Power loss, as far as it can be tested without one: the system calls that make files durable, in order.
#![cfg(target_os = "linux")]

mod place;

use std::fs;
use std::process::Command;

use place::Place;

/// The calls of `quaver train` that create, sync or rename a file, in order; nothing where they cannot be
/// traced.
fn calls(place: &Place) -> Option<Vec<String>> {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !traced.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: system calls cannot be traced here; install strace to run this test");
        return None;
    }
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2,openat", "-o"]);
    command.args([&place.at("calls"), env!("CARGO_BIN_EXE_quaver"), "train", &place.at("config.toml")]);
    let output = command.args(["--out", &place.at("run")]).output().expect("strace runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(place.path("calls")).expect("the calls");
    // A call that another thread's end interrupts has a second line, which does not name the file.
    Some(text.lines().filter(|line| !line.contains(" resumed>")).map(String::from).collect())
}

/// The first path in quotes, which is that of the file that is renamed.
fn quoted(call: &str) -> &str {
    call.split('"').nth(1).expect("a path")
}

#[test]
fn files_are_synced_before_they_are_renamed_and_folders_after() {
    let place = Place::new();
    let Some(calls) = calls(&place) else { return };
    let run = fs::canonicalize(place.path("run")).expect("the run").display().to_string();
    let syncs = |call: &String, path: &str| {
        (call.contains("fsync(") || call.contains("fdatasync(")) && call.contains(&format!("<{path}>"))
    };
    let renames: Vec<usize> = (0..calls.len()).filter(|index| calls[*index].contains("rename")).collect();
    // Config, two files of metrics, the first state, and states of four epochs.
    assert!(renames.len() >= 8, "{calls:#?}");
    for index in renames {
        let from = quoted(&calls[index]);
        let name = from.rsplit('/').next().expect("a name");
        assert!(name.starts_with('.') && name.ends_with(".tmp"), "{from}");
        let file = format!("{run}/{name}");
        let created = calls[..index].iter().position(|call| call.contains("O_CREAT") && quoted(call) == from);
        assert!(calls[created.expect("it was created")].contains("O_EXCL"), "{from}");
        assert!(
            calls[..index].iter().any(|call| syncs(call, &file)),
            "{from} is renamed before it is synced"
        );
        let after = calls[index + 1..].iter().find(|call| call.contains("sync("));
        assert!(after.is_some_and(|call| syncs(call, &run)), "the folder is not synced after {from}");
    }
    let appended = calls.iter().filter(|call| syncs(call, &format!("{run}/metrics.csv"))).count();
    assert_eq!(appended, 4, "metrics are synced after every epoch");
}
