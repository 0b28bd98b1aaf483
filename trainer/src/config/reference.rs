//! `docs/reference/config.md`, and the test that keeps it up to date.
//!
//! Meanings are the doc comments of the config structs, types and values their Rust types, defaults a config
//! that is written out, and ranges the tables that the checks use.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::limits::Rule;
use super::renamed;
use super::{
    AddedNoiseConfig, AugmentConfig, BagConfig, Config, DataConfig, HalvingConfig, InitConfig, LabelsConfig,
    LatentConfig, MissingConfig, ModelConfig, NoiseConfig, ReduceConfig, TrainingConfig, WeightsConfig,
    flatten,
};
use crate::files::assert_up_to_date;

/// Sections of the page: heading, prefix of the keys, and the struct whose fields they are.
const SECTIONS: [(&str, &str, &str); 21] = [
    ("Top level", "", "Config"),
    ("`[data]`", "data", "DataConfig"),
    ("Data sources", "source", "DataSource"),
    ("Lists of rows", "rows", "RowList"),
    ("Targets ahead and classes", "data.targets", "TargetsTable"),
    ("`[data.labels]`", "data.labels", "LabelsConfig"),
    ("`[data.bag]`", "data.bag", "BagConfig"),
    ("`[data.noise]`", "data.noise", "AddedNoiseConfig"),
    ("`[data.augment]`", "data.augment", "AugmentConfig"),
    ("`[data.augment.mirror]`", "data.augment.mirror", "MirrorConfig"),
    ("`[data.augment.missing]`", "data.augment.missing", "MissingConfig"),
    ("`[model]`", "model", "ModelConfig"),
    ("`[noise]`", "noise", "NoiseConfig"),
    ("`[weights]`", "weights", "WeightsConfig"),
    ("`[latent]`", "latent", "LatentConfig"),
    ("`[recognition]`", "recognition", "RecognitionConfig"),
    ("`[reduce]`", "reduce", "ReduceConfig"),
    ("`[init]`", "init", "InitConfig"),
    ("`[training]`", "training", "TrainingConfig"),
    ("`[search]`", "search", "SearchConfig"),
    ("`[search.halving]`", "search.halving", "HalvingConfig"),
];

/// A config that sets no key but required ones, with all optional sections.
const MINIMAL: &str = "latent = { family = 'storn', latents = 1 }\nrecognition = {}\n\
    [data]\ntrain = 'a.csv'\ntargets = 'next'\nnoise = { snr_db = 5 }\naugment = { mirror = {} }\nbag = {}\n";

const INTRODUCTION: &str = "# Config reference

Every key of a config: its type, default, range and meaning. A config is a TOML file; `data.train` and `data.targets` are
required, and an unknown key is an error. `--set KEY=VALUE` overrides a key on the command line. A config with nothing but
`[data]` leaves cell, layers, learning rate, schedule, batch, chunk, epochs and patience to the size of the data, and `quaver
train` prints what it chooses; the defaults below are those of every other config. This page is generated: edit the doc
comments and tables in `trainer/src/config`, then refresh it with

```sh
QUAVER_REFRESH=1 cargo test --release -p quaver-trainer --lib reference
```
";

/// A field or variant: attributes, name, type (empty for a variant), and doc comment.
struct Item {
    attributes: String,
    name: String,
    ty: String,
    doc: String,
}

/// The Rust sources of this module.
struct Sources(String);

impl Sources {
    fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config");
        let files = [folder.clone(), folder.join("data")].into_iter().flat_map(|folder| {
            let mut files: Vec<_> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            files
        });
        let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
        Sources(rust.map(|path| fs::read_to_string(path).unwrap()).collect())
    }

    /// Attributes and doc comment of a struct or enum, and its fields or variants; nothing if there is none.
    fn find(&self, name: &str) -> Option<(String, String, Vec<Item>)> {
        let places = ["struct", "enum"].map(|kind| self.0.find(&format!("{kind} {name} {{\n")));
        let place = places.into_iter().flatten().next()?;
        let (before, after) = self.0.split_at(place);
        let head = before.rsplit("\n\n").next().unwrap_or_default();
        let (attributes, doc) = parts(head);
        let body = after.split_once("{\n")?.1.split("\n}").next()?;
        let mut items = Vec::new();
        let mut above = String::new();
        for line in body.lines().map(str::trim) {
            if line.starts_with("///") || line.starts_with("#[") {
                above += &format!("{line}\n");
                continue;
            }
            let declared = line.trim_start_matches("pub ").trim_end_matches(',');
            let end = declared.find([':', '(']).unwrap_or(declared.len());
            let (attributes, doc) = parts(&above);
            let ty = declared.split_once(": ").map_or(String::new(), |(_, ty)| ty.to_string());
            items.push(Item { attributes, name: declared[..end].to_string(), ty, doc });
            above.clear();
        }
        Some((attributes, doc, items))
    }

    /// The values of an enum as they are written in a config, with their meaning.
    fn values(&self, name: &str) -> Option<Vec<(String, String)>> {
        let (attributes, _, items) = self.find(name)?;
        let kebab = attributes.contains("kebab-case");
        attributes
            .contains("rename_all")
            .then(|| items.into_iter().map(|item| (value_name(&item.name, kebab), item.doc)).collect())
    }
}

/// Attributes and text of lines that hold both.
fn parts(lines: &str) -> (String, String) {
    let (docs, attributes): (Vec<&str>, Vec<&str>) =
        lines.lines().map(str::trim).partition(|line| line.starts_with("///"));
    let text: Vec<&str> = docs.iter().map(|line| line.trim_start_matches("///").trim()).collect();
    (attributes.join("\n"), text.join("\n"))
}

/// `DenseTanh` as `dense-tanh`, or as `densetanh`.
fn value_name(variant: &str, kebab: bool) -> String {
    let mut name = String::new();
    for (index, letter) in variant.char_indices() {
        if kebab && index > 0 && letter.is_uppercase() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// The name of a Rust type on the page.
fn type_name(ty: &str) -> Option<&'static str> {
    let ty = ty.strip_prefix("Option<").map_or(ty, |inner| inner.trim_end_matches('>'));
    Some(match ty {
        "bool" => "boolean",
        "f32" | "f64" => "number",
        "u16" | "u64" | "usize" => "integer",
        "String" => "string",
        "PathBuf" => "path",
        "Vec<u16" | "Vec<u16>" => "list of integers",
        "Vec<String>" => "list of names",
        "Vec<[String; 2]>" => "list of pairs of columns",
        "Vec<DataSource>" => "path, table, or list of these",
        "Columns" | "ColumnPatterns" => "string or list of strings",
        "Targets" => "string, list of strings, or table",
        "Horizons" => "integer or list of integers",
        "Vec<ColumnPatterns>" => "list of sensors",
        "[usize; 2]" | "[u16; 2]" => "pair of integers",
        "BTreeMap<String, String>" => "table of names",
        "[f32; 2]" => "pair of numbers",
        "Missing" => "table, `\"on\"` or `\"off\"`",
        "RowRange" => "range",
        "RowSelection" => "range or table",
        _ if ty.ends_with("Config") => "table",
        _ => return None,
    })
}

fn ranges() -> BTreeMap<String, String> {
    fn of<S>(section: &str, rules: &[Rule<S>]) -> Vec<(String, String)> {
        rules.iter().map(|rule| (format!("{section}.{}", rule.key), rule.limits.to_string())).collect()
    }
    let mut ranges: BTreeMap<String, String> = [
        of("data", &DataConfig::RULES),
        of("data.bag", &BagConfig::RULES),
        of("data.noise", &AddedNoiseConfig::RULES),
        of("data.augment", &AugmentConfig::RULES),
        of("data.augment.missing", &MissingConfig::RULES),
        of("model", &ModelConfig::RULES),
        of("noise", &NoiseConfig::RULES),
        of("weights", &WeightsConfig::RULES),
        of("latent", &LatentConfig::RULES),
        of("data.labels", &LabelsConfig::RULES),
        of("reduce", &ReduceConfig::RULES),
        of("recognition", &ModelConfig::RULES[..1]),
        of("init", &InitConfig::RULES),
        of("training", &TrainingConfig::RULES),
        of("search.halving", &HalvingConfig::RULES),
    ]
    .concat()
    .into_iter()
    .collect();
    ranges.insert("data.envelope".into(), "odd".into());
    ranges.insert("init.sparse".into(), "0 up to the units of the smallest layer".into());
    ranges.insert("search.halving.first_epochs".into(), "from 1 to `training.epochs`".into());
    ranges
}

struct ReferencePage {
    sources: Sources,
    defaults: BTreeMap<String, String>,
    ranges: BTreeMap<String, String>,
}

impl ReferencePage {
    fn new() -> Self {
        let mut defaults = Config::parse("minimal.toml", MINIMAL, &[]).unwrap().settings().unwrap();
        defaults.insert("search.halving.factor".into(), HalvingConfig::default().factor.to_string());
        let gaps = toml::Value::try_from(MissingConfig::default()).unwrap();
        flatten("data.augment.missing", &gaps, &mut defaults);
        let labels = toml::Value::try_from(LabelsConfig::default()).unwrap();
        flatten("data.labels", &labels, &mut defaults);
        let reduce = toml::Value::try_from(ReduceConfig::default()).unwrap();
        flatten("reduce", &reduce, &mut defaults);
        defaults.insert("rows.line".into(), "0".into());
        defaults.remove("data.noise.snr_db");
        ReferencePage { sources: Sources::read(), defaults, ranges: ranges() }
    }

    fn text(&self) -> String {
        let mut text = INTRODUCTION.to_string();
        for (heading, prefix, name) in SECTIONS {
            let (attributes, doc, items) =
                self.sources.find(name).unwrap_or_else(|| panic!("a section without its struct {name}"));
            write!(text, "\n## {heading}\n\n{}\n", markdown(&doc)).unwrap();
            if prefix == "search" {
                text += &self.distributions();
                continue;
            }
            text += "\n| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
            for item in &items {
                text += &self.row(prefix, item, attributes.contains("serde(default"));
            }
            for item in items.iter().filter(|item| prefix != "recognition" || item.name == "noise") {
                text += &self.meanings(prefix, item);
            }
        }
        text + &old_names()
    }

    fn row(&self, prefix: &str, item: &Item, section_has_defaults: bool) -> String {
        let key = match prefix {
            "" => item.name.clone(),
            prefix => format!("{prefix}.{}", item.name),
        };
        let ty = match self.values(item) {
            Some(values) => {
                values.iter().map(|(value, _)| format!("`\"{value}\"`")).collect::<Vec<_>>().join(", ")
            }
            None => type_name(&item.ty)
                .unwrap_or_else(|| panic!("{key}: no name for type {}", item.ty))
                .to_string(),
        };
        let optional = section_has_defaults
            || item.ty.starts_with("Option<")
            || item.attributes.contains("serde(default");
        let default = match self.defaults.get(&key) {
            _ if !optional => "required".to_string(),
            Some(default) if ty != "table" => format!("`{default}`"),
            _ if ty == "table" && !item.ty.starts_with("Option<") => "its defaults".to_string(),
            _ => "none".to_string(),
        };
        let integer = if ty == "integer" { "0 or above" } else { "" };
        let range = self.ranges.get(&key).map_or(integer, String::as_str);
        let name = if ["source", "rows"].contains(&prefix) { &item.name } else { &key };
        let meaning = markdown(&item.doc).replace('\n', " ").replace('|', "\\|");
        format!("| `{name}` | {ty} | {default} | {range} | {meaning} |\n")
    }

    fn values(&self, item: &Item) -> Option<Vec<(String, String)>> {
        let written_as = item.attributes.split("with = \"").nth(1).and_then(|rest| rest.split('"').next());
        let ty =
            item.ty.strip_prefix("Option<").map_or(item.ty.as_str(), |inner| inner.trim_end_matches('>'));
        self.sources.values(written_as.unwrap_or(ty))
    }

    /// What the values of a key mean, if that is documented.
    fn meanings(&self, prefix: &str, item: &Item) -> String {
        let values = self.values(item).unwrap_or_default();
        let documented = values.iter().filter(|(_, doc)| !doc.is_empty());
        let lines: String = documented
            .map(|(value, doc)| format!("- `\"{value}\"`: {}\n", markdown(doc).replace('\n', " ")))
            .collect();
        if lines.is_empty() { lines } else { format!("\nValues of `{prefix}.{}`:\n\n{lines}", item.name) }
    }

    fn distributions(&self) -> String {
        let (_, _, items) = self.sources.find("Distribution").unwrap();
        let line = |item: &Item| format!("- {}\n", markdown(&item.doc).replace('\n', " "));
        format!("\nDistributions:\n\n{}", items.iter().map(line).collect::<String>())
    }
}

fn old_names() -> String {
    let mut text =
        String::from("\n## Old names\n\nThese names are still read, and written as the new ones:\n\n");
    text += "| old | new |\n|---|---|\n";
    for (old, new) in renamed::KEYS {
        writeln!(text, "| `{old}` | `{new}` |").unwrap();
    }
    for (key, old, new) in renamed::VALUES {
        writeln!(text, "| `{key} = \"{old}\"` | `{key} = \"{new}\"` |").unwrap();
    }
    text + "| `lead` of a data source | `burn_in` |\n"
}

/// A doc comment without links of rustdoc.
fn markdown(doc: &str) -> String {
    let mut text = String::new();
    let mut rest = doc;
    while let Some((before, after)) = rest.split_once("[`") {
        let (name, after) = after.split_once("`]").expect("a link of rustdoc is closed");
        text += &format!("{before}`{name}`");
        rest = match after.strip_prefix('(') {
            Some(target) => target.split_once(')').expect("the target of a link is closed").1,
            None => after,
        };
    }
    text + rest
}

#[test]
fn the_reference_of_the_config_is_up_to_date() {
    assert_up_to_date("docs/reference/config.md", &ReferencePage::new().text());
}

#[test]
fn every_key_is_in_the_reference() {
    let reference = ReferencePage::new();
    let text = reference.text();
    let shared = |key: &str| key.starts_with("data.train") || key.starts_with("recognition.noise.");
    for key in reference.defaults.keys().filter(|key| !shared(key)) {
        let in_a_table = |key: &str| text.contains(&format!("| `{key}` |"));
        assert!(in_a_table(key) || key.starts_with("rows."), "{key}");
    }
    for key in reference.ranges.keys() {
        assert!(text.contains(&format!("| `{key}` |")), "{key}");
    }
}
