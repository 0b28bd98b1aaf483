//! The example of the runtime's README as a crate of its own, outside the repository.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The name of the crate and of its folder.
pub(super) const EXAMPLE: &str = "readme-example";
/// The model that the README asks its reader to take from the package.
const MODEL: &str = "examples/grip_force.qvr";

/// Makes the crate from an unpacked package next to it.
pub(super) fn unpack_example(folder: &Path, package: &str) -> Result<()> {
    let (runtime, sources) = (folder.join(package), folder.join(EXAMPLE).join("src"));
    let readme = fs::read_to_string(runtime.join("README.md")).context("the package has no README.md")?;
    let example = first_example(&readme).context("README.md of the package has no example in Rust")?;
    let manifest = format!(
        "[package]\nname = \"{EXAMPLE}\"\nedition = \"2024\"\n[dependencies]\nquaver = {{ path = \"../{package}\" }}\n"
    );
    fs::create_dir_all(&sources).with_context(|| format!("cannot make {}", sources.display()))?;
    fs::write(sources.with_file_name("Cargo.toml"), manifest).context("cannot write a manifest")?;
    fs::write(sources.join("main.rs"), example).context("cannot write the example")?;
    fs::copy(runtime.join(MODEL), sources.join("model.qvr"))
        .with_context(|| format!("the package has no {MODEL}"))?;
    Ok(())
}

/// The first block that is marked as Rust.
fn first_example(readme: &str) -> Option<&str> {
    let (_, rest) = readme.split_once("```rust\n")?;
    rest.split_once("```").map(|(example, _)| example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_in_rust_is_the_example() {
        let readme = "# x\n```sh\ncargo add x\n```\n```rust\nfn main() {}\n```\n```rust\nlater\n```\n";
        assert_eq!(first_example(readme), Some("fn main() {}\n"));
        assert_eq!(first_example("```sh\n```"), None);
    }
}
