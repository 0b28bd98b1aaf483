//! Keys and values that have been renamed. Old configs, and the `config.toml` of old run folders, use the old
//! names.

use anyhow::{Result, bail};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys: old name, new name. Both lie in the same table.
pub(super) const KEYS: [(&str, &str); 7] = [
    ("data.noise.db", "data.noise.snr_db"),
    ("init.bias_std", "init.bias_std_dev"),
    ("init.input_std", "init.input_std_dev"),
    ("init.recurrent_std", "init.recurrent_std_dev"),
    ("init.weight_deviation", "init.weight_std_dev"),
    ("latent.gaps", "latent.max_gap"),
    ("weights.noise_std", "weights.noise_std_dev"),
];

/// Values: key, old name, new name.
pub(super) const VALUES: [(&str, &str, &str); 6] = [
    ("latent.variance", "carried", "propagated"),
    ("model.cell", "dense-rectifier", "dense-relu"),
    ("model.cell", "rectifier", "relu"),
    ("model.output", "plain", "mean-only"),
    ("recognition.cell", "dense-rectifier", "dense-relu"),
    ("recognition.cell", "rectifier", "relu"),
];

/// The present name of a dotted key.
pub(super) fn present(key: &str) -> Option<&'static str> {
    KEYS.iter().find(|(old, _)| *old == key).map(|(_, new)| *new)
}

/// The first name that a dotted key has had. What a search draws for a key depends on its name, and must not
/// change when the key is renamed.
pub(crate) fn original(key: &str) -> &str {
    KEYS.iter().find(|(_, new)| *new == key).map_or(key, |(old, _)| old)
}

/// Replaces old names in a config.
///
/// # Errors
/// When a key is there under both of its names.
pub(super) fn replace(table: &mut DeTable<'_>) -> Result<()> {
    for (old, new) in KEYS {
        let (section, old_name) = split(old);
        let (_, new_name) = split(new);
        let Some(section) = descend(table, section) else { continue };
        let Some((key, value)) = section.remove_entry(old_name) else { continue };
        if section.contains_key(new_name) {
            bail!("`{old}` is the old name of `{new}`, which is set as well; remove one of them");
        }
        section.insert(Spanned::new(key.span(), new_name.into()), value);
    }
    for (key, old, new) in VALUES {
        let (section, name) = split(key);
        let value = descend(table, section).and_then(|section| section.get_mut(name)).map(Spanned::get_mut);
        if let Some(DeValue::String(text)) = value
            && text == old
        {
            *text = new.into();
        }
    }
    Ok(())
}

/// A dotted key as its table and its name there.
fn split(key: &'static str) -> (&'static str, &'static str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// The table with a dotted name, if it is there.
fn descend<'t, 'a>(mut table: &'t mut DeTable<'a>, name: &str) -> Option<&'t mut DeTable<'a>> {
    for part in name.split('.').filter(|part| !part.is_empty()) {
        table = match table.get_mut(part).map(Spanned::get_mut) {
            Some(DeValue::Table(inner)) => inner,
            _ => return None,
        };
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{CellName, Config};
    use quaver::checkpoint::OutputMode;

    const OLD: &str = "[data]\ntrain = 'a.csv'\ntargets = 'next'\nnoise = { db = 5 }\n\
        [model]\ncell = 'rectifier'\noutput = 'plain'\n[init]\ninput_std = 0.25\nbias_std = 0.5\n";

    #[test]
    fn old_names_are_read_and_new_ones_written() {
        let config = Config::parse("old.toml", OLD, &[]).unwrap();
        assert_eq!((config.init.input_std_dev, config.init.bias_std_dev), (Some(0.25), 0.5));
        assert_eq!((config.model.cell, config.model.output), (CellName::Relu, OutputMode::MeanOnly));
        assert_eq!(config.data.noise.unwrap().snr_db, Some(5.0));
        let written = config.to_toml().unwrap();
        assert!(!written.contains("input_std =") && written.contains("mean-only"), "{written}");
    }

    #[test]
    fn overrides_may_use_either_name_and_win() {
        let set = |text: &str| {
            let config = Config::parse("old.toml", OLD, &[text.to_string()]).unwrap();
            (config.init.input_std_dev, config.model.output, config.data.noise.unwrap().snr_db)
        };
        assert_eq!(set("init.input_std=1"), (Some(1.0), OutputMode::MeanOnly, Some(5.0)));
        assert_eq!(set("init.input_std_dev=1"), (Some(1.0), OutputMode::MeanOnly, Some(5.0)));
        assert_eq!(set("data.noise={ db = 3 }").2, Some(3.0));
        assert_eq!(set("data.noise.db=3").2, Some(3.0));
    }

    #[test]
    fn both_names_at_once_are_refused() {
        let error = Config::parse("old.toml", &format!("{OLD}input_std_dev = 1\n"), &[]).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "old.toml: `init.input_std` is the old name of `init.input_std_dev`, which is set as well; remove one of them"
        );
    }

    #[test]
    fn names_go_both_ways() {
        assert_eq!(present("init.input_std"), Some("init.input_std_dev"));
        assert_eq!((present("init.sparse"), original("init.sparse")), (None, "init.sparse"));
        assert_eq!(original("init.input_std_dev"), "init.input_std");
    }
}
