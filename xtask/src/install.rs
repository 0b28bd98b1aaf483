//! QEMU, installed when it is missing and can be.

use anyhow::{Result, bail};

use crate::shell::Shell;

const PROGRAMS: [&str; 2] = ["qemu-system-arm", "qemu-system-riscv32"];

/// A package manager, and the sets of packages to try: names differ between releases of a distribution.
struct Manager {
    program: &'static str,
    refresh: Option<&'static str>,
    install: &'static str,
    packages: &'static [&'static str],
    needs_root: bool,
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        refresh: Some("update"),
        install: "install --yes --no-install-recommends",
        packages: &["qemu-system-arm qemu-system-misc", "qemu-system-arm qemu-system-riscv"],
        needs_root: true,
    },
    Manager {
        program: "dnf",
        refresh: None,
        install: "install --assumeyes",
        packages: &["qemu-system-arm qemu-system-riscv"],
        needs_root: true,
    },
    Manager {
        program: "pacman",
        refresh: None,
        install: "--sync --refresh --noconfirm --needed",
        packages: &["qemu-system-arm qemu-system-riscv"],
        needs_root: true,
    },
    Manager { program: "brew", refresh: None, install: "install", packages: &["qemu"], needs_root: false },
];

/// Makes sure that QEMU can emulate both architectures.
///
/// # Errors
/// In one line, what to install by hand.
pub(crate) fn ensure_qemu() -> Result<()> {
    if missing().is_empty() {
        return Ok(());
    }
    let manager = MANAGERS.iter().find(|manager| starts(manager.program));
    if let Some((manager, prefix)) = manager.and_then(|manager| Some((manager, privilege(manager)?))) {
        println!("installing QEMU with {}", manager.program);
        install(manager, prefix);
    }
    match missing().as_slice() {
        [] => Ok(()),
        programs => {
            bail!(
                "please install {} (packages: {}), then run this again",
                programs.join(" and "),
                hint(manager)
            )
        }
    }
}

fn missing() -> Vec<&'static str> {
    PROGRAMS.into_iter().filter(|program| !starts(program)).collect()
}

fn starts(program: &str) -> bool {
    Shell::new(program).argument("--version").capture().is_ok_and(|captured| captured.status.success())
}

/// What must stand before the manager's command: nothing, or sudo if it asks for no password.
fn privilege(manager: &Manager) -> Option<&'static str> {
    let is_root = || Shell::new("id").argument("-u").run().is_ok_and(|id| id.trim() == "0");
    let sudo = || Shell::new("sudo").words("-n true").run().is_ok();
    match manager.needs_root {
        false => Some(""),
        true if is_root() => Some(""),
        true => sudo().then_some("sudo -n "),
    }
}

fn install(manager: &Manager, prefix: &str) {
    let command = |arguments: &str| {
        let line = format!("{prefix}{} {arguments}", manager.program);
        let (program, rest) = line.split_once(' ').unwrap_or((&line, ""));
        Shell::new(program).words(rest).variable("DEBIAN_FRONTEND", "noninteractive")
    };
    // Whether it worked is seen by whether QEMU starts afterwards.
    let attempt = |shell: Shell| {
        if let Err(error) = shell.run() {
            eprintln!("{error:#}");
        }
    };
    if let Some(refresh) = manager.refresh {
        attempt(command(refresh));
    }
    for packages in manager.packages {
        if !missing().is_empty() {
            attempt(command(&format!("{} {packages}", manager.install)));
        }
    }
}

fn hint(manager: Option<&Manager>) -> String {
    manager.map_or("qemu-system-arm qemu-system-riscv".into(), |manager| manager.packages.join(", or "))
}
