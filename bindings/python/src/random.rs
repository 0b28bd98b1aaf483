//! The generator of draws.

use std::convert::Infallible;

use pyo3::prelude::*;
use rand_core::TryRng;

/// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators", fig. 16), the
/// upper half of each number: the draws of `quaver_splitmix64` in C.
#[pyclass(module = "quaver")]
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

#[pymethods]
impl Random {
    #[new]
    fn new(seed: u64) -> Self {
        Random { state: seed }
    }
}

impl Random {
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| (self.bits() >> 56) as u8);
        Ok(())
    }
}
