//! Turns rows in CSV into constants: an empty cell is NaN.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

const FILES: [&str; 1] = ["grip_force"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(armv6m)");
    if env::var("TARGET").is_ok_and(|target| target.starts_with("thumbv6m")) {
        println!("cargo::rustc-cfg=armv6m");
    }
    let mut source = String::new();
    for name in FILES {
        let path = format!("rows/{name}.csv");
        source += &constant(&name.to_uppercase(), &Rows::read(Path::new(&path)));
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("rows.rs"), source).expect("OUT_DIR can be written");
    println!("cargo::rerun-if-env-changed=QUAVER_FIT");
    let replayed = match env::var("QUAVER_FIT") {
        Ok(folder) => fitted(Path::new(&folder)),
        Err(_) => include_str!("rows/grip_force.rs.in").into(),
    };
    fs::write(out.join("replayed.rs"), replayed).expect("OUT_DIR can be written");
}

/// Rows of numbers below a header, and what lines with `#` before it say.
struct Rows {
    path: String,
    notes: Vec<(String, String)>,
    header: Vec<String>,
    rows: Vec<String>,
}

impl Rows {
    fn read(path: &Path) -> Self {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.display().to_string();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let is_note = |line: &&str| line.starts_with('#');
        let note = |line: &str| {
            let (key, value) = line[1..].split_once('=').unwrap_or_else(|| panic!("{name}: `{line}`"));
            (key.trim().to_string(), value.trim().to_string())
        };
        let mut lines = text.lines().filter(|line| !is_note(line));
        let header = lines.next().unwrap_or_default().split(',').map(String::from).collect();
        let rows = lines.map(|line| row(&name, line)).collect();
        Rows { notes: text.lines().filter(is_note).map(note).collect(), header, rows, path: name }
    }

    fn note(&self, key: &str) -> &str {
        let found = self.notes.iter().find(|(name, _)| name == key);
        found.map_or_else(|| panic!("{}: no line `# {key} = …`", self.path), |(_, value)| value)
    }
}

/// Rows as a constant.
fn constant(name: &str, rows: &Rows) -> String {
    let mut source = String::new();
    let (width, count) = (rows.header.len(), rows.rows.len());
    writeln!(
        source,
        "/// Rows of `{}`.\npub static {name}: [[f32; {width}]; {count}] = [{}];",
        rows.path,
        rows.rows.join(", ")
    )
    .expect("a string takes every line");
    source
}

/// The constants of a folder of `quaver fit`.
fn fitted(folder: &Path) -> String {
    assert!(
        folder.is_absolute(),
        "QUAVER_FIT={}: give the whole path of a folder of `quaver fit`",
        folder.display()
    );
    let (model, rows) = (folder.join("model.qvr"), Rows::read(&folder.join("replay.csv")));
    println!("cargo::rerun-if-changed={}", model.display());
    let units = |key: &str| {
        let units: Vec<String> = rows.note(key).split(',').map(|unit| format!("{:?}", unit.trim())).collect();
        format!("&[{}]", units.join(", "))
    };
    let mut source = constant("ROWS", &rows);
    write!(
        source,
        "/// The checkpoint.\npub static MODEL: &[u8] = quaver::include_checkpoint!({model:?});\n\
         /// Inputs of the model.\npub const CHANNELS: usize = {};\n\
         /// Rows per second.\npub const RATE_HZ: u32 = {};\n\
         const INPUT_UNITS: &[&str] = {};\nconst OUTPUT_UNITS: &[&str] = {};\n",
        rows.header.len(),
        rows.note("rate_hz"),
        units("input_units"),
        units("output_units")
    )
    .expect("a string takes every line");
    source
}

fn row(path: &str, line: &str) -> String {
    let cell = |cell: &str| match cell {
        "" => "f32::NAN".into(),
        _ => {
            format!("{:?}f32", cell.parse::<f32>().unwrap_or_else(|error| panic!("{path}: {cell}: {error}")))
        }
    };
    format!("[{}]", line.split(',').map(cell).collect::<Vec<String>>().join(", "))
}
