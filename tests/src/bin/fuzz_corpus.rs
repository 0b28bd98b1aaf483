//! Writes the models of the golden cases to `fuzz/corpus`, as seeds of the fuzz targets that load
//! checkpoints.

use std::path::Path;
use std::{fs, io};

use quaver_tests::{Case, golden, golden_latent};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    write(&corpus.join("checkpoint"), &golden::cases())?;
    write(&corpus.join("latent"), &golden_latent::cases())
}

fn write(folder: &Path, cases: &[Case]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    cases.iter().try_for_each(|case| fs::write(folder.join(&case.name), &case.model))?;
    println!("{} models in {}", cases.len(), folder.display());
    Ok(())
}
