//! Memory that is left for this process, to refuse what cannot fit before it is begun.
//!
//! Known on Linux only. Elsewhere nothing is refused, and a process that takes too much is ended by its
//! system.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// Bytes that this process can still take, as far as they are known: what the machine has left, swap
/// included, within the limits of its control groups and of its address space (`ulimit -v`).
pub(crate) fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| of_machine(&text));
    let groups = read("/proc/self/cgroup").and_then(|text| of_groups(&text, Path::new("/sys/fs/cgroup")));
    let (limits, status) = (read("/proc/self/limits"), read("/proc/self/status"));
    let addresses = limits.zip(status).and_then(|(limits, status)| of_addresses(&limits, &status));
    [machine, groups, addresses].into_iter().flatten().min()
}

/// Refuses what needs more bytes than there are. `what` needs them, and `remedy` makes it need fewer.
///
/// # Errors
/// Says what is needed and what there is.
pub(crate) fn check(what: &str, needed: u64, available: Option<u64>, remedy: &str) -> Result<()> {
    match available {
        Some(available) if needed > available => bail!(
            "{what} needs about {} of memory, but only {} are available: {remedy}",
            in_words(needed),
            in_words(available)
        ),
        _ => Ok(()),
    }
}

/// A number of bytes for people.
pub(crate) fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64 / 1024.0, UNITS[0]);
    for larger in &UNITS[1..] {
        if value >= 1024.0 {
            (value, unit) = (value / 1024.0, larger);
        }
    }
    format!("{value:.1} {unit}")
}

/// What the machine has left, from `/proc/meminfo`.
fn of_machine(text: &str) -> Option<u64> {
    Some(kilobytes(text, "MemAvailable:")? + kilobytes(text, "SwapFree:").unwrap_or(0))
}

/// What the limit of the address space leaves, from `/proc/self/limits` and `/proc/self/status`.
fn of_addresses(limits: &str, status: &str) -> Option<u64> {
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:")?))
}

/// Bytes in a line such as `MemAvailable:   123 kB`.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(1024 * value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// What the limits of the control groups leave that `/proc/self/cgroup` names, and of those above them.
fn of_groups(text: &str, root: &Path) -> Option<u64> {
    text.lines().filter_map(|line| of_group(line, root)).min()
}

/// One line: `hierarchy:controllers:path`, with no controllers in version 2.
fn of_group(line: &str, root: &Path) -> Option<u64> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let (root, limit, used, reclaimable) = match controllers {
        "" => (root.to_path_buf(), "memory.max", "memory.current", "inactive_file"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        }
        _ => return None,
    };
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        // A group without a limit has the word `max` here, or a number beyond any memory.
        let (limit, used) = (number(folder.join(limit))?, number(folder.join(used))?);
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let files = statistics.lines().find_map(|line| line.strip_prefix(reclaimable)?.trim().parse().ok());
        Some(limit.saturating_sub(used.saturating_sub(files.unwrap_or(0))))
    };
    // Within a container, the path may be that of the machine outside, which is not there: its root is.
    let own = root.join(path.trim_start_matches('/'));
    own.ancestors().take_while(|folder| folder.starts_with(&root)).filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_linux_are_read() {
        let machine = "MemTotal:       1000 kB\nMemAvailable:    600 kB\nSwapFree:  50 kB\n";
        assert_eq!(of_machine(machine), Some(650 * 1024));
        assert_eq!(of_machine("MemTotal: 1000 kB"), None);
        let limits =
            |limit: &str| format!("Limit  Soft Limit\nMax address space         {limit}   {limit}  bytes\n");
        let status = "VmPeak:\t  9 kB\nVmSize:\t  4 kB\n";
        assert_eq!(of_addresses(&limits("8192"), status), Some(4096));
        assert_eq!(of_addresses(&limits("unlimited"), status), None);
    }

    #[test]
    fn the_tightest_of_nested_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let left = |text: &str| of_groups(text, root.path());
        assert_eq!(left("0::/a/b\n"), None);
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "10\n");
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 600\ninactive_file 100\n");
        assert_eq!(left("0::/a/b\n"), Some(400));
        assert_eq!(left("0::/elsewhere\n"), None);
        write("memory/c/memory.limit_in_bytes", "500\n");
        write("memory/c/memory.usage_in_bytes", "100\n");
        assert_eq!(left("5:cpu,memory:/c\n4:cpuset:/c\n0::/a\n"), Some(400));
        write("memory/c/memory.limit_in_bytes", "300\n");
        assert_eq!(left("5:cpu,memory:/c\n0::/a\n"), Some(200));
    }

    #[test]
    fn what_is_needed_and_what_there_is_are_both_told() {
        assert!(check("it", 9, None, "").is_ok() && check("it", 9, Some(9), "").is_ok());
        let error = check("a net", 5 << 30, Some(3 << 19), "make it smaller").unwrap_err().to_string();
        assert_eq!(
            error,
            "a net needs about 5.0 GiB of memory, but only 1.5 MiB are available: make it smaller"
        );
        assert_eq!((in_words(0), in_words(1 << 50)), ("0.0 KiB".to_string(), "1024.0 TiB".to_string()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_some() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
