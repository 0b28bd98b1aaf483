//! Random numbers from the caller.

use core::convert::Infallible;
use core::ffi::c_void;

use quaver::FeedMode;
use rand_core::TryRng;

use crate::boundary::{Output, call};
use crate::codes::{QUAVER_FEED_DRAW, QUAVER_FEED_MEAN};
use crate::status::Status;

/// A generator of the caller: 32 random bits per call.
pub(crate) struct CallerRng {
    next: extern "C" fn(*mut c_void) -> u32,
    state: *mut c_void,
}

impl CallerRng {
    pub(crate) fn new(
        next: Option<extern "C" fn(*mut c_void) -> u32>,
        state: *mut c_void,
    ) -> Result<Self, Status> {
        Ok(CallerRng { next: next.ok_or(Status::NULL)?, state })
    }

    fn bits(&mut self) -> u32 {
        (self.next)(self.state)
    }
}

impl TryRng for CallerRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.bits())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from(self.bits()) | u64::from(self.bits()) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| (self.bits() >> 24) as u8);
        Ok(())
    }
}

/// What is fed back, from its number.
pub(crate) fn feed_mode(feed: i32) -> Result<FeedMode, Status> {
    match feed {
        QUAVER_FEED_MEAN => Ok(FeedMode::Mean),
        QUAVER_FEED_DRAW => Ok(FeedMode::Draw),
        _ => Err(Status::RANGE),
    }
}

/// A generator for those who have none: SplitMix64 (Steele, Lea and Flood 2014), the upper half of each number.
/// `state` points to a `uint64_t` that holds the seed at first. Returns 0 for a state that is null or
/// misaligned.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_splitmix64(state: Output<c_void>) -> u32 {
    call(state.kept::<u64>(), |state| {
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Ok(((z ^ (z >> 31)) >> 32) as u32)
    })
    .unwrap_or(0)
}
