//! Replays the third part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_3, GOLDEN_3_ARENA, GOLDEN_3_FUTURES, GOLDEN_3_ROW);
