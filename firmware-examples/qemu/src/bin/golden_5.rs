//! Replays the fifth part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_5, GOLDEN_5_ARENA, GOLDEN_5_FUTURES, GOLDEN_5_ROW);
