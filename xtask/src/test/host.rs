//! Stages that run on this machine alone.

use anyhow::Result;

use crate::shell::Shell;
use crate::{boards, image};

pub(super) fn formatting() -> Result<String> {
    Shell::cargo("fmt --all --check").run()?;
    let boards = boards::folders().map(|(folder, _)| folder);
    for folder in [image::FOLDER.into(), boards::COMMON.into()].into_iter().chain(boards) {
        Shell::cargo("fmt --check").in_folder(folder).run()?;
    }
    Ok(String::new())
}

pub(super) fn lints() -> Result<String> {
    Shell::cargo("clippy --quiet --release --workspace --all-targets -- -D warnings").run()?;
    Ok(String::new())
}

pub(super) fn tests() -> Result<String> {
    let printed = Shell::cargo("test --quiet --release --workspace --no-fail-fast").run()?;
    let passed = |line: &str| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u32>().ok();
    Ok(format!("{} tests", printed.lines().filter_map(passed).sum::<u32>()))
}

pub(super) fn documentation() -> Result<String> {
    Shell::cargo("doc --quiet --release --no-deps --workspace --keep-going")
        .variable("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(String::new())
}

pub(super) fn features() -> Result<String> {
    let combinations = [
        "float",
        "quantized",
        "float,quantized",
        "quantized,small-code",
        "float,defmt",
        "quantized,defmt",
        "float,std",
        "float,vectors",
        "quantized,signed,defmt",
        "write,defmt",
        "write,signed",
    ];
    for features in combinations {
        Shell::cargo("clippy --quiet --release -p quaver --no-default-features --features")
            .argument(features)
            .words("-- -D warnings")
            .run()?;
    }
    for kind in image::KINDS {
        Shell::cargo("test --quiet --release -p quaver --lib checkpoint --no-default-features --features")
            .argument(kind)
            .run()?;
    }
    Shell::cargo("clippy --quiet --release -p quaver-trainer --lib --no-default-features -- -D warnings")
        .run()?;
    Ok(format!("{} combinations", combinations.len() + 1))
}
