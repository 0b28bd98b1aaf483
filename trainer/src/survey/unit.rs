//! Units in the names of columns.

/// A name without its unit, and the unit: `force [N]`, `acc_x (m/s²)`, `angle in deg` and `t/ms` have one.
pub fn name_and_unit(name: &str) -> (&str, Option<&str>) {
    for (open, close) in [('[', ']'), ('(', ')')] {
        let inside = name.strip_suffix(close).and_then(|rest| rest.rsplit_once(open));
        if let Some((stem, unit)) = inside
            && !stem.trim().is_empty()
            && !unit.trim().is_empty()
        {
            return (stem.trim(), Some(unit.trim()));
        }
    }
    (name, None)
}

/// The unit that a name of a clock ends in, such as `time_ms`.
pub(super) fn time_suffix(name: &str) -> Option<&str> {
    let (_, suffix) = name.rsplit_once(['_', ' ', '/', '-', '.'])?;
    ["s", "sec", "ms", "us", "µs", "ns"].contains(&suffix).then_some(suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_in_brackets_are_found() {
        assert_eq!(name_and_unit("force [N]"), ("force", Some("N")));
        assert_eq!(name_and_unit("acc_x (m/s²)"), ("acc_x", Some("m/s²")));
        for name in ["force", "[N]", "f()", "a (b) c"] {
            assert_eq!(name_and_unit(name), (name, None));
        }
        assert_eq!(time_suffix("time_ms"), Some("ms"));
        assert_eq!(time_suffix("times"), None);
    }
}
