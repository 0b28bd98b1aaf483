//! Replays the ninth part of the golden cases, as `golden` does the first: the smallest core has no room
//! for all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_9, GOLDEN_9_ARENA, GOLDEN_9_FUTURES, GOLDEN_9_ROW);
