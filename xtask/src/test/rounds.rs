//! The stage of what needs a nightly toolchain.

use anyhow::Result;

use crate::setup::nightly::{self, Tool};
use crate::{fuzz, miri};

/// Seconds for each fuzz target of the runtime.
const SECONDS: u64 = 4;

/// A short round of Miri and one of fuzzing. Each is left out where its tool is missing: nothing is installed
/// for it, and its absence is no failure.
pub(super) fn short_rounds() -> Result<String> {
    let miri = round("Miri", nightly::missing(Tool::Miri), miri::short_round)?;
    let fuzzing = round("fuzzing", nightly::missing(Tool::Fuzz), || fuzz::short_round(SECONDS))?;
    Ok(format!("{miri}; {fuzzing}"))
}

fn round(name: &str, missing: Option<String>, run: impl FnOnce() -> Result<String>) -> Result<String> {
    match missing {
        Some(line) => Ok(format!("{name} skipped, {line}")),
        None => Ok(format!("{name}: {}", run()?)),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_missing_tool_is_skipped_in_one_line_and_a_finding_fails() {
        let skipped = round("Miri", Some("it is missing; type: install it".into()), || bail!("it ran"));
        assert_eq!(skipped.expect("no failure"), "Miri skipped, it is missing; type: install it");
        assert_eq!(round("Miri", None, || Ok("4 tests".into())).expect("no failure"), "Miri: 4 tests");
        assert!(round("Miri", None, || bail!("undefined behaviour")).is_err());
    }
}
