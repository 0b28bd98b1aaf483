//! Writes the golden cases into a folder, for programs in other languages: `NAME.qvr` and `NAME.rows` (f32,
//! little-endian, row after row) of each, `index.txt` with its name, task and inputs, and `cases.S`, which
//! embeds all of them in a firmware.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

use quaver_tests::{Case, golden, golden_adaptive, golden_latent, golden_pruned, golden_text};

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).ok_or_else(|| io::Error::other("give the folder to write to"))?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let networks = golden::cases().into_iter().chain(golden_latent::cases()).chain(golden_adaptive::cases());
    let cases: Vec<Case> = networks.chain(golden_pruned::cases()).chain(golden_text::cases()).collect();
    let mut index = String::new();
    for case in &cases {
        let rows: Vec<u8> = case.stream.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(folder.join(format!("{}.qvr", case.name)), &case.model)?;
        fs::write(folder.join(format!("{}.rows", case.name)), rows)?;
        writeln!(index, "{} {} {}", case.name, task(case), case.inputs).expect("a string takes every line");
    }
    fs::write(folder.join("index.txt"), index)?;
    fs::write(folder.join("cases.S"), assembly(&cases))
}

fn task(case: &Case) -> String {
    format!("{:?}", case.task).to_lowercase()
}

/// A table of `struct golden_case` (bindings/c/tests/c/replay.h) for a core with pointers of 32 bits, and the
/// files that it refers to.
fn assembly(cases: &[Case]) -> String {
    let mut text =
        String::from("    .section .rodata\n    .global golden_cases\n    .balign 4\ngolden_cases:\n");
    for (index, case) in cases.iter().enumerate() {
        let (model, values, inputs) = (case.model.len(), case.stream.len(), case.inputs);
        let rows = values / inputs;
        writeln!(
            text,
            "    .word name_{index}, task_{index}, model_{index}, {model}, rows_{index}, {rows}, {inputs}"
        )
        .expect("a string takes every line");
    }
    writeln!(text, "    .global golden_count\ngolden_count:\n    .word {}", cases.len()).expect("as above");
    for (index, case) in cases.iter().enumerate() {
        let name = &case.name;
        write!(
            text,
            "name_{index}: .asciz \"{name}\"\ntask_{index}: .asciz \"{}\"\n    .balign 16\nmodel_{index}: .incbin \
             \"{name}.qvr\"\n    .balign 4\nrows_{index}: .incbin \"{name}.rows\"\n",
            task(case)
        )
        .expect("as above");
    }
    text
}
