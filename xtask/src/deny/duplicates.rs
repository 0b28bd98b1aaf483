//! No dependency is built in two versions, but for those that `bans.skip` lists.

use super::FILE;
use super::config::Config;
use super::dependency::Dependency;

/// One line for each crate with several versions that are not skipped. Dependencies are sorted by name.
pub(super) fn problems(config: &Config, dependencies: &[Dependency]) -> Vec<String> {
    let is_skipped = |one: &Dependency| config.skip.iter().any(|spec| spec.matches(&one.name, &one.version));
    let counted: Vec<&Dependency> = dependencies.iter().filter(|one| !is_skipped(one)).collect();
    let groups = counted.chunk_by(|a, b| a.name == b.name).filter(|versions| versions.len() > 1);
    groups.map(problem).collect()
}

fn problem(versions: &[&Dependency]) -> String {
    let name = &versions[0].name;
    let numbers: Vec<String> = versions.iter().map(|one| one.version.to_string()).collect();
    format!(
        "{name} is built in the versions {}; agree on one, or add the older to bans.skip in {FILE} (who needs it: \
         cargo tree --workspace -i {name}@{})",
        numbers.join(" and "),
        numbers[0]
    )
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::*;

    fn found(skip: &str) -> Vec<String> {
        let config =
            Config::parse(&format!("[licenses]\nallow = []\n[bans]\nskip = [{skip}]\n")).expect("a config");
        let of = |name: &str, major| Dependency {
            name: name.into(),
            version: Version::new(major, 0, 0),
            licence: String::new(),
        };
        problems(&config, &[of("a", 1), of("b", 1), of("b", 2), of("c", 2)])
    }

    #[test]
    fn two_versions_are_named() {
        let problems = found("");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("b is built in the versions 1.0.0 and 2.0.0"), "{problems:?}");
    }

    #[test]
    fn a_skipped_version_does_not_count() {
        assert!(found("{ crate = \"b:1\", reason = \"old\" }").is_empty());
        assert_eq!(found("{ crate = \"b:3\" }").len(), 1);
    }
}
