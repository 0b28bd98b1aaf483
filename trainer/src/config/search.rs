//! The section `[search]`: the distributions that trials are drawn from, and successive halving.
//!
//! ```toml
//! [search]
//! training.learning_rate = { log_uniform = [1e-4, 1e-1] }
//! model.layers = { choice = [[32], [64], [32, 32]] }
//! noise.recurrent_keep = { uniform = [0.5, 1.0] }
//! halving = { first_epochs = 3, factor = 3 }
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid, optional};

/// The section `[search]`: every key of the config that is searched, with a distribution as its value, such
/// as `training.learning_rate = { log_uniform = [1e-4, 1e-1] }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Table")]
pub struct SearchConfig {
    /// When bad trials are stopped.
    pub halving: HalvingConfig,
    /// The distribution of every searched key, by its dotted name.
    #[serde(flatten)]
    pub space: BTreeMap<String, Distribution>,
}

/// The table `search.halving`: successive halving. Of all trials, which train for `first_epochs` epochs, the
/// best 1/`factor` train for `factor` times as long, and so on until `training.epochs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HalvingConfig {
    /// Epochs that every trial trains for; a ninth of `training.epochs` if not set.
    pub first_epochs: Option<usize>,
    /// Of this many trials, one continues, for this many times the epochs; 1 trains every trial to its end.
    pub factor: usize,
}

impl Default for HalvingConfig {
    fn default() -> Self {
        HalvingConfig { first_epochs: None, factor: 3 }
    }
}

/// The distribution that a value is drawn from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// `{ uniform = [low, high] }`: a real number.
    Uniform([f64; 2]),
    /// `{ log_uniform = [low, high] }`: a real number whose logarithm is uniform.
    LogUniform([f64; 2]),
    /// `{ uniform_variance = [low, high] }`: a standard deviation whose square is uniform.
    UniformVariance([f64; 2]),
    /// `{ normal = [mean, std_dev] }`: a real number.
    Normal([f64; 2]),
    /// `{ integer = [low, high] }`: an integer, both ends included.
    Integer([i64; 2]),
    /// `{ log_integer = [low, high] }`: an integer whose logarithm is about uniform, both ends included.
    LogInteger([i64; 2]),
    /// `{ choice = [...] }`: one of the values listed.
    Choice(Vec<Value>),
    /// `{ list = [{...}, {...}] }`: a list with one draw per entry, such as the units of each layer.
    List(Vec<Distribution>),
}

const NAMES: [&str; 8] =
    ["uniform", "log_uniform", "uniform_variance", "normal", "integer", "log_integer", "choice", "list"];

impl TryFrom<Table> for SearchConfig {
    type Error = String;

    fn try_from(mut table: Table) -> Result<Self, String> {
        let mut search = SearchConfig::default();
        if let Some(halving) = table.remove("halving") {
            search.halving = halving.try_into().map_err(|error| format!("`search.halving`: {error}"))?;
        }
        collect("", table, &mut search.space)?;
        Ok(search)
    }
}

/// Collects the distributions from nested tables, so that keys may be dotted, quoted or in tables of their
/// own.
fn collect(prefix: &str, table: Table, space: &mut BTreeMap<String, Distribution>) -> Result<(), String> {
    for (name, value) in table {
        if name.is_empty() {
            return Err("`search`: a key has an empty part; name the keys to search".into());
        }
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) if inner.keys().any(|name| NAMES.contains(&name.as_str())) => {
                space.insert(key.clone(), distribution(&key, inner)?);
            }
            Value::Table(inner) => collect(&key, inner, space)?,
            other => return Err(not_a_distribution(&key, &other)),
        }
    }
    Ok(())
}

fn not_a_distribution(key: &str, found: &Value) -> String {
    format!(
        "`search.{key}`: expected a distribution such as {{ uniform = [0.5, 1.0] }} (one of {}), found {found}; \
         a value that is not searched belongs outside `[search]`",
        NAMES.join(", ")
    )
}

fn distribution(key: &str, table: Table) -> Result<Distribution, String> {
    let mut entries = table.into_iter();
    let (Some((name, value)), None) = (entries.next(), entries.next()) else {
        return Err(format!("`search.{key}`: expected one distribution, found several"));
    };
    let explain = |error: toml::de::Error| format!("`search.{key}.{name}`: {}", error.message());
    Ok(match name.as_str() {
        "uniform" => Distribution::Uniform(value.try_into().map_err(explain)?),
        "log_uniform" => Distribution::LogUniform(value.try_into().map_err(explain)?),
        "uniform_variance" => Distribution::UniformVariance(value.try_into().map_err(explain)?),
        "normal" => Distribution::Normal(value.try_into().map_err(explain)?),
        "integer" => Distribution::Integer(value.try_into().map_err(explain)?),
        "log_integer" => Distribution::LogInteger(value.try_into().map_err(explain)?),
        "choice" => Distribution::Choice(value.try_into().map_err(explain)?),
        _ => {
            let parts: Vec<Table> = value.try_into().map_err(explain)?;
            let parts = parts.into_iter().map(|part| distribution(key, part));
            Distribution::List(parts.collect::<Result<_, _>>()?)
        }
    })
}

impl HalvingConfig {
    pub(super) const RULES: [Rule<Self>; 2] = [
        Rule::new("factor", Limits::closed(1.0, 100.0), |halving| vec![halving.factor as f64]),
        Rule::new("first_epochs", Limits::closed(1.0, u32::MAX as f64), |halving| {
            optional(halving.first_epochs.map(|epochs| epochs as f64))
        }),
    ];
}

impl SearchConfig {
    /// Whether nothing is searched, and nothing set.
    pub(super) fn is_default(&self) -> bool {
        *self == SearchConfig::default()
    }

    pub(super) fn check(&self, epochs: usize) -> Result<(), InvalidValue> {
        check_rules("search.halving", &self.halving, &HalvingConfig::RULES)?;
        if let Some(first) = self.halving.first_epochs.filter(|first| *first > epochs) {
            let problem = format!("must be at most `training.epochs`, {epochs}, found {first}");
            return Err(invalid("search.halving.first_epochs", problem));
        }
        if self.space.contains_key("training.epochs") {
            let problem =
                "cannot be searched: halving allots the epochs. Set their maximum in `training.epochs`";
            return Err(invalid("search.training.epochs", problem));
        }
        self.space.iter().try_for_each(|(key, distribution)| distribution.check(&format!("search.{key}")))
    }
}

impl Distribution {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        match self {
            Distribution::Uniform(ends) => ascending(key, *ends),
            Distribution::LogUniform(ends) => {
                Limits::POSITIVE.check(key, ends[0]).and_then(|()| ascending(key, *ends))
            }
            Distribution::UniformVariance(ends) if ends[0] < 0.0 => {
                Err(invalid(key, format!("is a variance: it must not be below 0, found {}", ends[0])))
            }
            Distribution::UniformVariance(ends) => ascending(key, *ends),
            Distribution::Normal([mean, std_dev]) => {
                Limits::FINITE.check(key, *mean).and_then(|()| Limits::POSITIVE.check(key, *std_dev))
            }
            Distribution::Integer(ends) => ascending(key, *ends),
            Distribution::LogInteger(ends) => Limits::closed(1.0, i64::MAX as f64)
                .check(key, ends[0] as f64)
                .and_then(|()| ascending(key, *ends)),
            Distribution::Choice(values) if values.is_empty() => {
                Err(invalid(key, "has nothing to choose from"))
            }
            Distribution::Choice(values) => values.iter().try_for_each(|value| finite(key, value)),
            Distribution::List(parts) => parts.iter().try_for_each(|part| part.check(key)),
        }
    }
}

/// Refuses infinities and NaN, which no key takes, in a value of any kind.
fn finite(key: &str, value: &Value) -> Result<(), InvalidValue> {
    match value {
        Value::Float(number) => Limits::FINITE.check(key, *number),
        Value::Array(values) => values.iter().try_for_each(|value| finite(key, value)),
        Value::Table(table) => table.values().try_for_each(|value| finite(key, value)),
        _ => Ok(()),
    }
}

fn ascending<T: PartialOrd + std::fmt::Display>(key: &str, [low, high]: [T; 2]) -> Result<(), InvalidValue> {
    if low < high {
        return Ok(());
    }
    Err(invalid(key, format!("goes from {low} to {high}: the first must be below the second")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const SHORT: &str = "[data]\ntrain = 'a.csv'\ntargets = 'force'\n";

    fn parse(search: &str) -> anyhow::Result<SearchConfig> {
        Ok(Config::parse("run.toml", &format!("{SHORT}[search]\n{search}"), &[])?.search)
    }

    #[test]
    fn keys_may_be_written_in_any_of_tomls_ways() {
        let forms = [
            "noise.input_keep = { uniform = [0.5, 1] }",
            "\"noise.input_keep\" = { uniform = [0.5, 1.0] }",
            "noise.input_keep.uniform = [0.5, 1]",
            "[search.noise]\ninput_keep = { uniform = [0.5, 1] }",
        ];
        for form in forms {
            let search = parse(form).unwrap();
            assert_eq!(search.halving, HalvingConfig { first_epochs: None, factor: 3 });
            assert_eq!(search.space["noise.input_keep"], Distribution::Uniform([0.5, 1.0]), "{form}");
        }
    }

    #[test]
    fn every_distribution_is_read() {
        let search = parse(
            "a = { log_uniform = [1e-4, 1] }\nb = { uniform_variance = [0, 1] }\nc = { normal = [0, 2] }\n\
             d = { integer = [1, 9] }\ne = { log_integer = [1, 9] }\nf = { choice = ['x', 2, [3]] }\n\
             g = { list = [{ integer = [1, 2] }, { choice = [7] }] }\nhalving = { first_epochs = 2, factor = 4 }",
        );
        let search = search.unwrap();
        assert_eq!(search.halving, HalvingConfig { first_epochs: Some(2), factor: 4 });
        assert_eq!(search.space.len(), 7);
        let parts = vec![Distribution::Integer([1, 2]), Distribution::Choice(vec![Value::Integer(7)])];
        assert_eq!(search.space["g"], Distribution::List(parts));
    }

    #[test]
    fn the_config_as_run_has_no_search() {
        let text = format!("{SHORT}[search]\nseed = {{ integer = [1, 9] }}");
        let config = Config::parse("run.toml", &text, &[]).unwrap();
        assert!(!config.search.space.is_empty() && config.to_toml().unwrap().contains("[search.seed]"));
        assert!(!config.settled().to_toml().unwrap().contains("search"));
    }

    #[test]
    fn a_search_reads_back_as_it_was_written() {
        for search in [
            "a = { log_uniform = [1e-4, 1] }\nb.c = { uniform_variance = [0, 1] }\n\"d\" = { normal = [0, 2] }",
            "e = { integer = [1, 9] }\nf = { log_integer = [1, 9] }\nuniform = { uniform = [0, 1] }",
            "g = { choice = ['x', 2, [3.5], { k = 1 }, true, 1979-05-27] }\nhalving = { factor = 4 }",
            "h = { list = [{ integer = [1, 2] }, { list = [{ choice = [7] }] }] }",
            "halving = { first_epochs = 2 }",
        ] {
            let config = Config::parse("a.toml", &format!("{SHORT}[search]\n{search}"), &[]).unwrap();
            let written = config.to_toml().unwrap();
            let again = Config::parse("b.toml", &written, &[]).map_err(|error| format!("{error}\n{written}"));
            assert_eq!(again, Ok(config), "{written}");
        }
    }

    #[test]
    fn errors_name_key_place_and_what_is_allowed() {
        for (line, names) in [
            ("noise.input_keep = 0.5", ["`search.noise.input_keep`", "log_uniform"]),
            (
                "noise.input_keep = { unifrom = [0, 1] }",
                ["`search.noise.input_keep.unifrom`", "uniform_variance"],
            ),
            (
                "noise.input_keep = { uniform = [0, 1], choice = [1] }",
                ["`search.noise.input_keep`", "several"],
            ),
            ("noise.input_keep = { uniform = [1] }", ["`search.noise.input_keep.uniform`", "length"]),
            (
                "noise.input_keep = { uniform = [1, 0.5] }",
                ["run.toml:5:20: `search.noise.input_keep`", "below"],
            ),
            ("init.input_std_dev = { log_uniform = [0, 1] }", ["`search.init.input_std_dev`", "above 0"]),
            (
                "init.input_std_dev = { uniform_variance = [-1, 1] }",
                ["`search.init.input_std_dev`", "variance"],
            ),
            ("init.input_std_dev = { normal = [0, 0] }", ["`search.init.input_std_dev`", "above 0"]),
            ("init.sparse = { log_integer = [0, 9] }", ["`search.init.sparse`", "from 1"]),
            ("init.sparse = { choice = [] }", ["`search.init.sparse`", "nothing"]),
            ("init.sparse = { choice = [1, [nan]] }", ["`search.init.sparse`", "finite"]),
            ("init.input_std_dev = { normal = [nan, 1] }", ["`search.init.input_std_dev`", "finite"]),
            ("init.\"\" = { uniform = [0, 1] }", ["`search`", "empty"]),
            ("training.epochs = { integer = [1, 9] }", ["`search.training.epochs`", "halving"]),
            ("halving = { factor = 0 }", ["`search.halving.factor`", "from 1 to 100"]),
            (
                "halving = { first_epochs = 31 }",
                ["`search.halving.first_epochs`", "at most `training.epochs`, 30"],
            ),
            ("halving = { firts = 3 }", ["`search.halving`", "first_epochs"]),
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(names.iter().all(|name| error.contains(name)) && error.contains("run.toml:"), "{error}");
        }
    }
}
