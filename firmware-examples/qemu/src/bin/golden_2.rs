//! Replays the second part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_2, GOLDEN_2_ARENA, GOLDEN_2_FUTURES, GOLDEN_2_ROW);
