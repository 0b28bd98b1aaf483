//! Every dependency's licence is one of those allowed.

use spdx::{Expression, Licensee, ParseMode};

use super::FILE;
use super::config::Config;
use super::dependency::Dependency;

/// One line for each dependency whose licence is not allowed.
pub(super) fn problems(config: &Config, dependencies: &[Dependency]) -> Vec<String> {
    dependencies.iter().filter_map(|dependency| problem(config, dependency)).collect()
}

fn problem(config: &Config, dependency: &Dependency) -> Option<String> {
    let Dependency { name, version, licence } = dependency;
    if licence.is_empty() {
        return Some(format!("{name} {version} names no licence"));
    }
    // Older manifests write `MIT/Apache-2.0`.
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
        return Some(format!("{name} {version} has the licence `{licence}`, which is no SPDX expression"));
    };
    let exceptions = config.exceptions.iter().filter(|(spec, _)| spec.matches(name, version));
    let allowed: Vec<&Licensee> = exceptions.flat_map(|(_, allow)| allow).chain(&config.allow).collect();
    let is_allowed = expression.evaluate(|requirement| allowed.iter().any(|one| one.satisfies(requirement)));
    (!is_allowed).then(|| {
        format!("{name} {version} has the licence `{licence}`, which licenses.allow in {FILE} does not list")
    })
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::*;

    fn found(licence: &str) -> Vec<String> {
        let text = "[licenses]\nallow = [\"MIT\", \"Unicode-3.0\"]\n\
                    exceptions = [{ crate = \"odd:1\", allow = [\"MPL-2.0\"] }]\n[bans]\n";
        let config = Config::parse(text).expect("a config");
        let of = |name: &str| Dependency {
            name: name.into(),
            version: Version::new(1, 0, 0),
            licence: licence.into(),
        };
        problems(&config, &[of("odd"), of("other")])
    }

    #[test]
    fn alternatives_need_one_and_conjunctions_both() {
        assert!(found("MIT OR Apache-2.0").is_empty());
        assert!(found("MIT/Apache-2.0").is_empty());
        assert!(found("(MIT OR Apache-2.0) AND Unicode-3.0").is_empty());
        assert_eq!(found("MIT AND Apache-2.0").len(), 2);
    }

    #[test]
    fn an_exception_is_for_one_crate() {
        let problems = found("MPL-2.0");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("other 1.0.0 has the licence `MPL-2.0`"), "{problems:?}");
    }

    #[test]
    fn a_missing_or_unreadable_licence_is_found() {
        assert!(found("")[0].contains("names no licence"));
        assert!(found("all rights reserved")[0].contains("no SPDX expression"));
    }
}
