//! Whether a program or a system package may be installed: as root, with `CI=true`, or after a yes on a
//! terminal.

use std::env;
use std::io::{IsTerminal, Write, stderr, stdin};

use crate::shell::Shell;

/// How an installation may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permission {
    /// By root itself.
    Root,
    /// By a CI job: through `sudo` where root is needed, but never waiting for a password.
    Ci,
    /// By a person at a terminal, who is asked first.
    Ask,
    /// Not at all.
    Denied,
}

impl Permission {
    pub(super) fn here() -> Self {
        let terminal = stdin().is_terminal() && stderr().is_terminal();
        Permission::of(is_root(), env::var("CI").ok().as_deref(), terminal)
    }

    fn of(root: bool, ci: Option<&str>, terminal: bool) -> Self {
        match (root, ci, terminal) {
            (true, _, _) => Permission::Root,
            (_, Some("true"), _) => Permission::Ci,
            (_, _, true) => Permission::Ask,
            _ => Permission::Denied,
        }
    }

    /// What precedes a command that only root may run.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Permission::Root => "",
            Permission::Ci => "sudo -n ",
            Permission::Ask | Permission::Denied => "sudo ",
        }
    }

    /// Whether to run the command now; a person sees it before answering.
    pub(super) fn grants(self, missing: &str, command: &str) -> bool {
        match self {
            Permission::Root | Permission::Ci => true,
            Permission::Ask => asked(missing, command),
            Permission::Denied => false,
        }
    }
}

fn is_root() -> bool {
    Shell::new("id").argument("-u").run().is_ok_and(|id| id.trim() == "0")
}

fn asked(missing: &str, command: &str) -> bool {
    eprint!("\nMissing: {missing}. Run this now? [y/N]\n  {command}\n> ");
    let mut answer = String::new();
    let is_read = stderr().flush().is_ok() && stdin().read_line(&mut answer).is_ok();
    is_read && is_yes(&answer)
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_ci_and_terminals_may_install() {
        assert_eq!(Permission::of(true, None, false), Permission::Root);
        assert_eq!(Permission::of(false, Some("true"), false), Permission::Ci);
        assert_eq!(Permission::of(false, Some("false"), false), Permission::Denied);
        assert_eq!(Permission::of(false, None, true), Permission::Ask);
        assert_eq!(Permission::of(false, None, false), Permission::Denied);
    }

    #[test]
    fn denial_runs_nothing() {
        assert!(!Permission::Denied.grants("QEMU", "sudo true"));
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(["y\n", "Y\n", "yes\n", " Yes \n"].into_iter().all(is_yes));
        assert!(!["", "\n", "n\n", "no\n", "sudo\n"].into_iter().any(is_yes));
    }
}
