//! Programs that single chores need, installed with the system's package manager where that is permitted.

use super::permission::Permission;
use super::qemu::{MANAGERS, Manager, command, starts};

/// A program, and its packages: of apt-get, dnf, pacman and brew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    name: &'static str,
    packages: [&'static str; 4],
}

/// The C compiler for Cortex-M, with its library.
pub(crate) const ARM_GCC: Program = Program {
    name: "arm-none-eabi-gcc",
    packages: [
        "gcc-arm-none-eabi libnewlib-arm-none-eabi",
        "arm-none-eabi-gcc-cs arm-none-eabi-newlib",
        "arm-none-eabi-gcc arm-none-eabi-newlib",
        "arm-none-eabi-gcc",
    ],
};
pub(crate) const QEMU_ARM: Program = Program {
    name: "qemu-system-arm",
    packages: ["qemu-system-arm", "qemu-system-arm", "qemu-system-arm", "qemu"],
};
pub(crate) const CMAKE: Program = Program { name: "cmake", packages: ["cmake"; 4] };
pub(crate) const VALGRIND: Program =
    Program { name: "valgrind", packages: ["valgrind libc6-dbg", "valgrind", "valgrind", "valgrind"] };
pub(crate) const PKG_CONFIG: Program =
    Program { name: "pkg-config", packages: ["pkg-config", "pkgconf-pkg-config", "pkgconf", "pkgconf"] };
/// With its virtual environments, which Debian packages separately.
pub(crate) const PYTHON: Program =
    Program { name: "python3", packages: ["python3 python3-venv", "python3", "python", "python"] };
pub(crate) const CC: Program = Program { name: "cc", packages: ["gcc libc6-dev", "gcc", "gcc", "gcc"] };
pub(crate) const CXX: Program = Program { name: "c++", packages: ["g++", "gcc-c++", "gcc", "gcc"] };

pub(crate) const STRACE: Program = Program { name: "strace", packages: ["strace"; 4] };
/// The daemon of a node, with the controller and the commands. On macOS there is none.
pub(crate) const SLURM: Program = Program {
    name: "slurmd",
    packages: [
        "slurmctld slurmd slurm-client",
        "slurm slurm-slurmctld slurm-slurmd",
        "slurm-llnl",
        "slurm-is-not-packaged",
    ],
};

/// Installs what is missing, as far as that is permitted. Returns in one line what is still missing and what
/// to type; `None` if all programs start.
pub(crate) fn missing(programs: &[Program]) -> Option<String> {
    let absent = absent(programs)?;
    let manager = MANAGERS.iter().position(|manager| starts(manager.program));
    let Some(index) = manager else { return Some(format!("{absent} missing; install it")) };
    let permission = Permission::here();
    let wanted: Vec<Program> = programs.iter().copied().filter(|program| !starts(program.name)).collect();
    let commands = |permission| commands(&MANAGERS[index], index, &wanted, permission);
    if permission.grants(&absent, &commands(permission).join(" && ")) {
        for line in commands(permission) {
            eprintln!("\nrunning: {line}");
            if let Err(error) = command(&line).show() {
                eprintln!("{error:#}");
            }
        }
    }
    let typed = if permission == Permission::Ci { Permission::Ask } else { permission };
    self::absent(programs).map(|absent| format!("{absent} missing; type: {}", commands(typed).join(" && ")))
}

/// Names of the programs that do not start.
fn absent(programs: &[Program]) -> Option<String> {
    let names: Vec<&str> = programs.iter().map(|program| program.name).filter(|name| !starts(name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn commands(manager: &Manager, index: usize, programs: &[Program], permission: Permission) -> Vec<String> {
    let prefix = if manager.needs_root { permission.prefix() } else { "" };
    let packages: Vec<&str> = programs.iter().map(|program| program.packages[index]).collect();
    let refresh = manager.refresh.map(|refresh| format!("{prefix}{} {refresh}", manager.program));
    let install = format!("{prefix}{} {} {}", manager.program, manager.install, packages.join(" "));
    refresh.into_iter().chain([install]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_name_the_packages_of_the_manager() {
        let lines = commands(&MANAGERS[0], 0, &[ARM_GCC, CMAKE], Permission::Denied);
        assert_eq!(
            lines.join(" && "),
            "sudo apt-get update && sudo apt-get install --yes --no-install-recommends \
             gcc-arm-none-eabi libnewlib-arm-none-eabi cmake"
        );
        assert_eq!(commands(&MANAGERS[3], 3, &[CMAKE], Permission::Ask), ["brew install cmake"]);
    }

    #[test]
    fn a_program_that_does_not_start_is_absent() {
        let nothing = Program { name: "no-such-program", packages: ["nothing"; 4] };
        assert_eq!(absent(&[nothing]).as_deref(), Some("no-such-program"));
    }
}
