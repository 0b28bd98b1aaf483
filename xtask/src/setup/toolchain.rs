//! Targets and components of the compiler, as `rust-toolchain.toml` lists them.
//!
//! They are looked for in the compiler itself, not in rustup's lists: a distribution's toolchain has no
//! rustup.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::shell::{Shell, root};

const FILE: &str = "rust-toolchain.toml";

/// Targets and components: those needed, or those missing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub(crate) struct Toolchain {
    #[serde(default)]
    pub(crate) components: Vec<String>,
    #[serde(default)]
    pub(crate) targets: Vec<String>,
}

impl Toolchain {
    /// What `rust-toolchain.toml` lists.
    pub(crate) fn listed() -> Result<Self> {
        let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
        Toolchain::parse(&text).with_context(|| format!("cannot read {FILE}"))
    }

    fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Contents {
            toolchain: Toolchain,
        }
        Ok(toml::from_str::<Contents>(text)?.toolchain)
    }

    /// Adds what is missing with rustup.
    ///
    /// # Errors
    /// In one line, what to type.
    pub(super) fn ensure(&self) -> Result<()> {
        let missing = self.missing()?;
        if missing.is_empty() {
            return Ok(());
        }
        for arguments in missing.rustup_arguments() {
            eprintln!("\nrunning: rustup {arguments}");
            if Shell::new("rustup").words(&arguments).show().is_err() {
                bail!("{}", missing.in_one_line());
            }
        }
        let missing = self.missing()?;
        ensure!(missing.is_empty(), "{}", missing.in_one_line());
        Ok(())
    }

    fn missing(&self) -> Result<Self> {
        let mut missing = Toolchain::default();
        for component in &self.components {
            if !has_component(component)? {
                missing.components.push(component.clone());
            }
        }
        missing.targets.extend(self.targets.iter().filter(|target| !has_target(target)).cloned());
        Ok(missing)
    }

    fn is_empty(&self) -> bool {
        self.components.is_empty() && self.targets.is_empty()
    }

    fn rustup_arguments(&self) -> Vec<String> {
        let kinds = [("target", &self.targets), ("component", &self.components)];
        let wanted = kinds.into_iter().filter(|(_, names)| !names.is_empty());
        wanted.map(|(kind, names)| format!("{kind} add {}", names.join(" "))).collect()
    }

    fn in_one_line(&self) -> String {
        let commands: Vec<_> =
            self.rustup_arguments().iter().map(|arguments| format!("rustup {arguments}")).collect();
        format!(
            "the compiler lacks {self}; type: {} (without rustup, or with a linked toolchain: add them the way \
             the toolchain was installed)",
            commands.join(" && ")
        )
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [&self.components[..], &self.targets[..]].concat();
        f.write_str(&names.join(", "))
    }
}

/// Whether the component's programs start. rustup's stand-ins for missing components do not.
fn has_component(component: &str) -> Result<bool> {
    let programs = match component {
        "rustfmt" => ["rustfmt", "cargo-fmt"],
        "clippy" => ["cargo-clippy", "clippy-driver"],
        _ => bail!("{FILE} lists `{component}`; xtask/src/setup/toolchain.rs does not check for it"),
    };
    let starts = |program: &str| {
        let captured = Shell::new(program).argument("--version").capture();
        captured.is_ok_and(|captured| captured.status.success())
    };
    Ok(programs.into_iter().all(starts))
}

/// Whether the compiler has the target's core library.
pub(crate) fn has_target(target: &str) -> bool {
    let libraries = Shell::new("rustc").words("--print target-libdir --target").argument(target).run();
    libraries.is_ok_and(|folder| holds_core(Path::new(folder.trim())))
}

fn holds_core(folder: &Path) -> bool {
    let is_core = |name: &str| name.starts_with("libcore-") && name.ends_with(".rlib");
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().to_str().is_some_and(is_core))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read() {
        let text = "[toolchain]\nchannel = \"1.95.0\"\ncomponents = [\"clippy\"]\ntargets = [\"a\", \"b\"]\n";
        let toolchain = Toolchain::parse(text).expect("a valid file");
        assert_eq!(toolchain.targets, ["a", "b"]);
        assert_eq!(toolchain.components, ["clippy"]);
    }

    #[test]
    fn every_listed_component_can_be_looked_for() {
        let listed = Toolchain::listed().expect("a readable rust-toolchain.toml");
        listed
            .components
            .iter()
            .for_each(|component| assert!(has_component(component).is_ok(), "{component}"));
    }

    #[test]
    fn what_is_missing_is_told_in_one_line_with_the_commands() {
        let missing = Toolchain { components: vec!["clippy".into()], targets: vec!["a".into(), "b".into()] };
        let line = missing.in_one_line();
        assert!(line.starts_with(
            "the compiler lacks clippy, a, b; type: rustup target add a b && rustup component add clippy"
        ));
        assert!(!line.contains('\n'));
    }

    #[test]
    fn a_target_without_its_core_library_is_missing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(!holds_core(&folder.path().join("absent")));
        assert!(!holds_core(folder.path()));
        fs::write(folder.path().join("libcore-0123.rlib"), "").expect("a written file");
        assert!(holds_core(folder.path()));
        assert!(!has_target("no-such-target"));
    }
}
