//! Code in flash by kind of model, compared with a golden file.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::machine::DEFAULT_TARGET;
use crate::shell::root;
use crate::{elf, image, table};

const FILE: &str = "tests/golden/sizes.txt";
const PREAMBLE: &str = "\
# Bytes of code in flash on a Cortex-M4F of an image that steps one model and does nothing else, by kind of model
# (xtask/src/sizes.rs). A stage of cargo xtask test fails if one grows by more than 2 %.
# To refresh: cargo xtask sizes --overwrite
";
/// Growth that is accepted.
const TOLERANCE_PERCENT: u64 = 2;

/// A kind of model.
struct Kind {
    title: &'static str,
    /// The model that the image embeds (`quaver_tests::bench`).
    case: &'static str,
    image: &'static str,
    features: &'static str,
}

const fn kind(title: &'static str, case: &'static str, image: &'static str, features: &'static str) -> Kind {
    Kind { title, case, image, features }
}

const KINDS: [Kind; 15] = [
    kind("tanh, fast", "elman-8-32-fast", "static_only", "quantized"),
    kind("tanh, fast, small-code", "elman-8-32-fast", "static_only", "quantized,small-code"),
    kind("LSTM, fast", "lstm-16-64-fast", "static_only", "quantized"),
    kind("LSTM, fast, small-code", "lstm-16-64-fast", "static_only", "quantized,small-code"),
    kind("LSTM, fast, input density", "lstm-16-64-fast-density", "static_only", "quantized"),
    kind("GRU, fast", "gru-16-64-fast", "static_only", "quantized"),
    kind("LSTM, float", "lstm-16-64-f32", "static_only", "float"),
    kind("any quantized model, loaded", "lstm-16-64-fast", "step_only", "quantized"),
    kind("denoiser, tanh, fast", "vosp-tanh-16-64-fast", "static_only", "quantized"),
    kind("denoiser, tanh, fast, small-code", "vosp-tanh-16-64-fast", "static_only", "quantized,small-code"),
    kind("denoiser, LSTM, fast", "vosp-16-64-fast", "static_only", "quantized"),
    kind("denoiser, LSTM, fast, small-code", "vosp-16-64-fast", "static_only", "quantized,small-code"),
    kind("sampler, LSTM, fast", "storn-16-64-fast", "static_only", "quantized"),
    kind("any quantized denoiser, loaded", "vosp-16-64-fast", "step_only", "quantized"),
    kind("any quantized sampler, loaded", "storn-16-64-fast", "step_only", "quantized"),
];

/// Sizes by title, in order.
type Sizes = Vec<(String, u64)>;

/// Prints the sizes next to the golden ones, and compares them or rewrites the file.
pub(crate) fn run(overwrite: bool) -> Result<()> {
    let (sizes, golden) = (measured()?, golden_sizes().unwrap_or_default());
    let mut rows = vec![["kind of model", "code, bytes", "golden"].map(String::from).to_vec()];
    rows.extend(sizes.iter().map(|(title, bytes)| {
        let before = find(&golden, title).map_or("none".into(), |bytes| bytes.to_string());
        vec![title.clone(), bytes.to_string(), before]
    }));
    table::print(&rows);
    if !overwrite {
        return compare(&sizes, &golden).map(|remark| println!("{remark}"));
    }
    let lines: String = sizes.iter().map(|(title, bytes)| format!("{bytes} {title}\n")).collect();
    let (path, temporary) = (root().join(FILE), root().join(format!("{FILE}.tmp")));
    fs::write(&temporary, format!("{PREAMBLE}{lines}"))
        .with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(&temporary, &path).with_context(|| format!("cannot rename to {}", path.display()))?;
    println!("{FILE} rewritten");
    Ok(())
}

/// The stage of `cargo xtask test`.
pub(crate) fn check() -> Result<String> {
    compare(&measured()?, &golden_sizes()?)
}

fn measured() -> Result<Sizes> {
    KINDS.iter().map(|kind| Ok((kind.title.to_string(), bytes(kind)?))).collect()
}

fn bytes(kind: &Kind) -> Result<u64> {
    let build = image::build_command_with(kind.image, DEFAULT_TARGET, kind.features);
    elf::code_bytes(&image::path_of(&build.variable("QUAVER_CASE", kind.case))?)
}

fn golden_sizes() -> Result<Sizes> {
    let text = fs::read_to_string(root().join(FILE))
        .with_context(|| format!("cannot read {FILE}; to make it: cargo xtask sizes --overwrite"))?;
    Ok(parsed(&text))
}

fn parsed(text: &str) -> Sizes {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| line.split_once(' '));
    fields.filter_map(|(bytes, title)| Some((title.to_string(), bytes.parse().ok()?))).collect()
}

fn find(sizes: &Sizes, title: &str) -> Option<u64> {
    sizes.iter().find(|(known, _)| known == title).map(|(_, bytes)| *bytes)
}

/// The largest growth, or which sizes have grown too much or have no golden one.
fn compare(sizes: &Sizes, golden: &Sizes) -> Result<String> {
    let mut largest = f64::NEG_INFINITY;
    for (title, bytes) in sizes {
        let before = find(golden, title)
            .with_context(|| format!("{FILE} has no {title:?}; to add it: cargo xtask sizes --overwrite"))?;
        let growth = *bytes as f64 / before as f64 - 1.0;
        ensure!(
            100 * bytes <= (100 + TOLERANCE_PERCENT) * before,
            "code of {title:?} has grown from {before} to {bytes} bytes, by {:.1} %; if that is meant: cargo xtask \
             sizes --overwrite",
            100.0 * growth
        );
        largest = largest.max(growth);
    }
    Ok(format!("{} kinds of models, the most by {:+.1} %", sizes.len(), 100.0 * largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_beyond_the_tolerance_and_kinds_without_a_size_are_errors() {
        let golden = parsed("# comment\n10000 LSTM, fast\n5000 tanh\n");
        let sizes = |bytes| vec![("LSTM, fast".to_string(), bytes), ("tanh".to_string(), 4000)];
        assert!(compare(&sizes(10_200), &golden).is_ok());
        assert!(
            compare(&sizes(10_201), &golden).is_err_and(|error| error.to_string().contains("LSTM, fast"))
        );
        assert!(compare(&vec![("GRU".to_string(), 1)], &golden).is_err());
    }
}
