//! Chooses the memory map of the machine that the target's runner starts.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let map = match env::var("TARGET").expect("cargo sets TARGET").as_str() {
        "thumbv6m-none-eabi" => "microbit",
        "thumbv7em-none-eabihf" => "netduinoplus2",
        "thumbv8m.main-none-eabihf" => "mps3-an547",
        other => panic!("no memory map for {other}: add one to memory/ and name it here"),
    };
    println!("cargo::rustc-check-cfg=cfg(has_vectors)");
    if map == "mps3-an547" {
        println!("cargo::rustc-cfg=has_vectors");
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::copy(format!("memory/{map}.x"), out.join("memory.x")).expect("the memory map can be copied");
    println!("cargo::rerun-if-changed=memory");
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
