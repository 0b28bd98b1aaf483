//! Replays the sixth part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_6, GOLDEN_6_ARENA, GOLDEN_6_FUTURES, GOLDEN_6_ROW);
