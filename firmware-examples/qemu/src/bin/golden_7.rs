//! Replays the seventh part of the golden cases, as `golden` does the first: the smallest core has no room
//! for all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_7, GOLDEN_7_ARENA, GOLDEN_7_FUTURES, GOLDEN_7_ROW);
