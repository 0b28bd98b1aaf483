//! Writes the models of the golden cases to `fuzz/corpus`, as seeds of the fuzz targets that load
//! checkpoints, and the small ones in envelopes for the target that opens them.

use std::path::Path;
use std::{fs, io};

use quaver_tests::{Case, golden, golden_latent, signing};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    write(&corpus.join("checkpoint"), &golden::cases())?;
    write(&corpus.join("latent"), &golden_latent::cases())?;
    let mut signed = golden::cases();
    signed.retain(|case| case.model.len() < 1000);
    signed.iter_mut().for_each(|case| case.model = signing::sealed(&case.model, 1));
    write(&corpus.join("signed"), &signed)
}

fn write(folder: &Path, cases: &[Case]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    cases.iter().try_for_each(|case| fs::write(folder.join(&case.name), &case.model))?;
    println!("{} models in {}", cases.len(), folder.display());
    Ok(())
}
