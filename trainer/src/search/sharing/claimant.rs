//! Who holds a trial: a process, named so that no other has the same name.

use std::fs;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest name of a machine within the name of a claimant.
const LONGEST_HOST: usize = 32;

/// A process: its machine since it was started, its namespace of process numbers, its number, and when it
/// started.
///
/// Processes of one machine and namespace can be seen in `/proc`, so that the death of one is noticed at
/// once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    host: String,
    /// Identifies the machine since its last start; empty where there is no such thing.
    boot: String,
    namespace: String,
    id: u32,
    started: String,
}

impl Process {
    fn this() -> &'static Self {
        static THIS: OnceLock<Process> = OnceLock::new();
        THIS.get_or_init(|| Process {
            host: short_host(),
            boot: boot(),
            namespace: namespace(),
            id: process::id(),
            started: started(process::id()).unwrap_or_else(nanoseconds),
        })
    }

    fn parse(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.split('.').collect();
        let [host, boot, namespace, id, started, _serial] = parts[..] else { return None };
        let [host, boot, namespace, started] = [host, boot, namespace, started].map(String::from);
        Some(Process { host, boot, namespace, id: id.parse().ok()?, started })
    }
}

/// A name for the next claim of this process. Every claim has its own, so that what was started for an
/// earlier one does not find the folder of a later one.
pub(super) fn next_name() -> String {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let Process { host, boot, namespace, id, started } = Process::this();
    format!("{host}.{boot}.{namespace}.{id}.{started}.{}", SERIAL.fetch_add(1, Ordering::Relaxed))
}

/// Process and machine in the name of a claim, for people.
pub(super) fn described(name: &str) -> String {
    match Process::parse(name) {
        Some(process) => format!("process {} on {}", process.id, process.host),
        None => name.to_string(),
    }
}

/// Whether the claimant is the process of this machine with this number.
pub(super) fn is_process(name: &str, id: u32) -> bool {
    let this = Process::this();
    Process::parse(name).is_some_and(|found| {
        (found.id, &found.host, &found.boot, &found.namespace)
            == (id, &this.host, &this.boot, &this.namespace)
    })
}

/// Whether the claimant is known to have ended: a process of this machine that is no longer there.
pub(super) fn is_dead(name: &str) -> bool {
    let (Some(claimant), this) = (Process::parse(name), Process::this()) else { return false };
    let is_visible = !this.boot.is_empty()
        && !this.namespace.is_empty()
        && (&claimant.boot, &claimant.namespace) == (&this.boot, &this.namespace)
        // Where processes of other users are hidden, so is the first one.
        && started(1).is_some();
    is_visible && started(claimant.id).as_ref() != Some(&claimant.started)
}

/// The machine's name without what separates parts of a claimant's name.
fn short_host() -> String {
    let host = crate::files::lock::host();
    let kept = host.split('.').next().unwrap_or_default().chars();
    let kept: String = kept.filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(LONGEST_HOST).collect();
    if kept.is_empty() { "unnamed".into() } else { kept }
}

/// Linux draws a number when it starts.
fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.chars().filter(char::is_ascii_hexdigit).take(12).collect()
}

/// The number of the namespace, as in `pid:[4026531836]`.
fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
}

/// When a process started, in ticks since the machine did; `None` where there is no such process, or where it
/// has ended and only its parent has not noticed.
fn started(id: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may contain anything, also blanks and parentheses.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, started) = (fields.first()?, fields.get(19)?);
    (!matches!(*state, "Z" | "X")).then(|| started.to_string())
}

/// Something that differs from process to process where there is no `/proc`.
fn nanoseconds() -> String {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_has_a_name_of_its_own() {
        let (one, other) = (next_name(), next_name());
        assert_ne!(one, other);
        assert_eq!(Process::parse(&one), Process::parse(&other));
        assert!(described(&one).starts_with(&format!("process {} on ", process::id())));
        assert_eq!(described("something else"), "something else");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_end_of_a_process_of_this_machine_is_noticed() {
        assert!(!is_dead(&next_name()));
        let mut child = process::Command::new("sleep").arg("60").spawn().unwrap();
        let this = Process::this();
        let name = |id: u32, started: &str, boot: &str| {
            format!("{}.{boot}.{}.{id}.{started}.0", this.host, this.namespace)
        };
        let began = started(child.id()).unwrap();
        assert!(!is_dead(&name(child.id(), &began, &this.boot)));
        // Another process with the same number.
        assert!(is_dead(&name(child.id(), "1", &this.boot)));
        child.kill().unwrap();
        while started(child.id()).is_some() {}
        assert!(is_dead(&name(child.id(), &began, &this.boot)), "also before its parent notices");
        child.wait().unwrap();
        assert!(is_dead(&name(child.id(), &began, &this.boot)));
        // Nothing is known about processes of other machines.
        assert!(!is_dead(&name(child.id(), &began, "0123")));
        assert!(!is_dead("a.b"));
    }
}
