//! Turns rows in CSV into constants: an empty cell is NaN.

use std::fmt::Write;
use std::path::PathBuf;
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
        println!("cargo::rerun-if-changed={path}");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let rows: Vec<String> = text.lines().skip(1).map(|line| row(&path, line)).collect();
        let width = text.lines().next().map_or(0, |header| header.split(',').count());
        let (constant, count) = (name.to_uppercase(), rows.len());
        writeln!(
            source,
            "/// Rows of `{path}`.\npub static {constant}: [[f32; {width}]; {count}] = [{}];",
            rows.join(", ")
        )
        .expect("a string takes every line");
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("rows.rs"), source).expect("OUT_DIR can be written");
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
