//! Replays the golden cases of pruned networks, as `golden` does those of others: the smallest core has no
//! room for both.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_PRUNED, GOLDEN_PRUNED_ARENA, GOLDEN_PRUNED_FUTURES, GOLDEN_PRUNED_ROW);
