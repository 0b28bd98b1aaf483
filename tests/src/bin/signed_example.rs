//! Writes the signed model of `runtime/examples`: `grip_force.qvr` in an envelope, with the key of
//! `tests/src/signing.rs`.

use std::path::Path;
use std::{fs, io};

use quaver_tests::signing::{EXAMPLE_COUNTER, public_key, sealed};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/examples");
    let path = folder.join("grip_force.qvs");
    fs::write(&path, sealed(&fs::read(folder.join("grip_force.qvr"))?, EXAMPLE_COUNTER))?;
    println!("{}, public key {:02x?}", path.display(), public_key().as_bytes());
    Ok(())
}
