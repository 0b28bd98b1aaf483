//! The stage of what needs a nightly toolchain.
//!
//! Fuzzing is not part of it: a build of the smallest target with the sanitizer takes two minutes of a core
//! after each change of the runtime, more than all that a stage should.

use anyhow::Result;

use crate::miri;
use crate::setup::nightly::{self, Tool};

/// A short round of Miri. It is left out where Miri is missing: nothing is installed for it, and its absence
/// is no failure.
pub(super) fn short_round() -> Result<String> {
    round(nightly::missing(Tool::Miri), miri::short_round)
}

fn round(missing: Option<String>, run: impl FnOnce() -> Result<String>) -> Result<String> {
    missing.map_or_else(run, |line| Ok(format!("skipped, {line}")))
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_missing_tool_is_skipped_in_one_line_and_a_finding_fails() {
        let skipped = round(Some("Miri missing; type: install it".into()), || bail!("it ran"));
        assert_eq!(skipped.expect("no failure"), "skipped, Miri missing; type: install it");
        assert_eq!(round(None, || Ok("4 tests".into())).expect("no failure"), "4 tests");
        assert!(round(None, || bail!("undefined behaviour")).is_err());
    }
}
