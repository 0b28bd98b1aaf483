//! QEMU, installed with the system's package manager where that is permitted.

use anyhow::{Result, bail};

use super::permission::Permission;
use crate::shell::Shell;

/// A package manager and how it installs QEMU.
pub(super) struct Manager {
    pub(super) program: &'static str,
    pub(super) refresh: Option<&'static str>,
    pub(super) install: &'static str,
    arm: &'static str,
    riscv: &'static str,
    /// The package that held the RISC-V emulator in older releases, and the command that finds out whether
    /// `riscv` exists.
    older_riscv: Option<(&'static str, &'static str)>,
    pub(super) needs_root: bool,
}

pub(super) const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        refresh: Some("update"),
        install: "install --yes --no-install-recommends",
        arm: "qemu-system-arm",
        riscv: "qemu-system-riscv",
        older_riscv: Some(("qemu-system-misc", "apt-cache show")),
        needs_root: true,
    },
    Manager {
        program: "dnf",
        refresh: None,
        install: "install --assumeyes",
        arm: "qemu-system-arm",
        riscv: "qemu-system-riscv",
        older_riscv: None,
        needs_root: true,
    },
    Manager {
        program: "pacman",
        refresh: None,
        install: "--sync --refresh --noconfirm --needed",
        arm: "qemu-system-arm",
        riscv: "qemu-system-riscv",
        older_riscv: None,
        needs_root: true,
    },
    Manager {
        program: "brew",
        refresh: None,
        install: "install",
        arm: "qemu",
        riscv: "qemu",
        older_riscv: None,
        needs_root: false,
    },
];

/// Makes sure that the programs start.
///
/// # Errors
/// In one line, what to type.
pub(super) fn ensure(programs: &[&str]) -> Result<()> {
    let missing = missing(programs);
    if missing.is_empty() {
        return Ok(());
    }
    let Some(manager) = MANAGERS.iter().find(|manager| starts(manager.program)) else {
        bail!("QEMU is missing ({}); install it from https://www.qemu.org/download", missing.join(", "));
    };
    let permission = Permission::here();
    if permission.grants("QEMU", &manager.line(&missing, permission)) {
        manager.install(&missing, permission);
    }
    still_missing(programs, |missing| manager.line(missing, permission))
}

fn still_missing(programs: &[&str], line: impl Fn(&[&str]) -> String) -> Result<()> {
    let missing = missing(programs);
    if !missing.is_empty() {
        bail!("QEMU is missing ({}); type: {}", missing.join(", "), line(&missing));
    }
    Ok(())
}

fn missing<'a>(programs: &[&'a str]) -> Vec<&'a str> {
    programs.iter().copied().filter(|program| !starts(program)).collect()
}

pub(super) fn starts(program: &str) -> bool {
    Shell::new(program).argument("--version").capture().is_ok_and(|captured| captured.status.success())
}

impl Manager {
    /// The commands that install the programs.
    fn commands(
        &self,
        programs: &[&str],
        permission: Permission,
        knows: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let prefix = if self.needs_root { permission.prefix() } else { "" };
        let mut packages: Vec<_> = programs.iter().map(|program| self.package(program, &knows)).collect();
        packages.dedup();
        let refresh = self.refresh.map(|refresh| format!("{prefix}{} {refresh}", self.program));
        let install = format!("{prefix}{} {} {}", self.program, self.install, packages.join(" "));
        refresh.into_iter().chain([install]).collect()
    }

    fn package(&self, program: &str, knows: impl Fn(&str) -> bool) -> &'static str {
        match (program, self.older_riscv) {
            ("qemu-system-arm", _) => self.arm,
            (_, Some((older, _))) if !knows(self.riscv) => older,
            _ => self.riscv,
        }
    }

    /// Whether the package manager has a package of this name.
    fn knows(&self, package: &str) -> bool {
        self.older_riscv.is_none_or(|(_, query)| command(&format!("{query} {package}")).run().is_ok())
    }

    /// The line to type.
    fn line(&self, programs: &[&str], permission: Permission) -> String {
        // `sudo -n` is for jobs that nobody watches.
        let typed = if permission == Permission::Ci { Permission::Ask } else { permission };
        self.commands(programs, typed, |package| self.knows(package)).join(" && ")
    }

    /// Runs the commands one by one; whether it worked is seen by whether QEMU starts afterwards.
    fn install(&self, programs: &[&str], permission: Permission) {
        let count = self.commands(programs, permission, |_| true).len();
        for index in 0..count {
            // Asked again for each, because the first may refresh the list of packages.
            let line = self.commands(programs, permission, |package| self.knows(package)).swap_remove(index);
            eprintln!("\nrunning: {line}");
            if let Err(error) = command(&line).show() {
                eprintln!("{error:#}");
            }
        }
    }
}

pub(super) fn command(line: &str) -> Shell {
    let (program, arguments) = line.split_once(' ').unwrap_or((line, ""));
    Shell::new(program).words(arguments).variable("DEBIAN_FRONTEND", "noninteractive")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [&str; 2] = ["qemu-system-arm", "qemu-system-riscv32"];

    #[test]
    fn sudo_is_named_unless_root_runs_the_command() {
        let [apt, _, _, brew] = &MANAGERS;
        let install = |manager: &Manager, permission| {
            manager.commands(&BOTH[..1], permission, |_| true).pop().unwrap_or_default()
        };
        let apt_install = "apt-get install --yes --no-install-recommends qemu-system-arm";
        assert_eq!(install(apt, Permission::Root), apt_install);
        assert_eq!(install(apt, Permission::Ci), format!("sudo -n {apt_install}"));
        assert_eq!(install(apt, Permission::Denied), format!("sudo {apt_install}"));
        assert_eq!(install(brew, Permission::Ask), "brew install qemu");
    }

    #[test]
    fn the_package_of_an_older_release_is_taken_where_the_new_one_is_unknown() {
        let packages = |known: bool| {
            let commands = MANAGERS[0].commands(&BOTH, Permission::Root, |_| known);
            commands.last().cloned().unwrap_or_default()
        };
        assert!(packages(true).ends_with("qemu-system-arm qemu-system-riscv"));
        assert!(packages(false).ends_with("qemu-system-arm qemu-system-misc"));
    }

    #[test]
    fn one_package_is_named_once() {
        let commands = MANAGERS[3].commands(&BOTH, Permission::Ask, |_| true);
        assert_eq!(commands, ["brew install qemu"]);
    }

    #[test]
    fn the_error_is_one_line_that_names_program_and_command() {
        let error = still_missing(&["no-such-emulator"], |_| "apt-get install it".into());
        let line = error.expect_err("it is missing").to_string();
        assert_eq!(line, "QEMU is missing (no-such-emulator); type: apt-get install it");
    }
}
