//! Replays the eighth part of the golden cases, as `golden` does the first: the smallest core has no room
//! for all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_8, GOLDEN_8_ARENA, GOLDEN_8_FUTURES, GOLDEN_8_ROW);
