//! A state file of a run of any content is refused, or is the state that it says: written down again, it
//! gives what can be read again.
#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc};
use libfuzzer_sys::fuzz_target;
use quaver::checkpoint::ModelSpec;
use quaver_trainer::fit::{Architecture, RunState};
use quaver_trainer::latent::LatentNets;

fuzz_target!(|bytes: &[u8]| {
    read::<ModelSpec>(bytes);
    read::<LatentNets>(bytes);
});

fn read<A: Architecture>(bytes: &[u8]) {
    _ = RunState::<A>::decode(bytes);
    // With magic and checksum in place, the contents are reached.
    let mut mended = [A::MAGIC.as_slice(), bytes.strip_prefix(A::MAGIC).unwrap_or(bytes)].concat();
    if let Some((content, crc)) = mended.split_last_chunk_mut::<4>() {
        *crc = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(content).to_le_bytes();
    }
    if let Ok(state) = RunState::<A>::decode(&mended) {
        let written = state.encode().expect("what was read can be written");
        assert!(RunState::<A>::decode(&written).is_ok(), "and read again");
    }
}
