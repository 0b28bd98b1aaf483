//! Writes the reducer of `runtime/examples`, which is made by hand (`tests/src/forearm.rs`).

use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/examples/reducer.qvr");
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, quaver_tests::forearm::reducer()?)?;
    fs::rename(&temporary, &path)?;
    println!("{}", path.display());
    Ok(())
}
