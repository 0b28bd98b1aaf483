//! Writes the latent models of `runtime/examples`, which are made by hand (`tests/src/leg.rs`).

use std::fs;
use std::path::Path;

use quaver_tests::leg;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/examples");
    for (name, networks) in leg::examples() {
        let (path, temporary) = (folder.join(name), folder.join(format!("{name}.tmp")));
        fs::write(&temporary, networks.write()?)?;
        fs::rename(&temporary, &path)?;
        println!("{}", path.display());
    }
    Ok(())
}
