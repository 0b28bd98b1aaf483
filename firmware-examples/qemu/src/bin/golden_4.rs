//! Replays the fourth part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_4, GOLDEN_4_ARENA, GOLDEN_4_FUTURES, GOLDEN_4_ROW);
