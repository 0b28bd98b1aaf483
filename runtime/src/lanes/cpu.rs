//! Vector units of an x86-64 host: what the processor has and the operating system saves (Intel, "Software
//! Developer's Manual", volume 1, 14.3, 14.7.1 and 15.2).
//!
//! The standard library has a macro for it. A library that is linked into C programs has no standard library:
//! it would bring a heap and panics along.

#![allow(unsafe_code)] // an instruction that not every machine has

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

const ASKED: u8 = 1;
const AVX2: u8 = 2;
const AVX512F: u8 = 4;
const AVX512_SERVER: u8 = 8;
const AVX512_VNNI: u8 = 16;

/// Whether AVX2 can be used.
#[inline]
pub(crate) fn has_avx2() -> bool {
    found() & AVX2 != 0
}

/// Whether the foundation of AVX-512 can be used.
#[cfg_attr(not(feature = "float"), allow(dead_code))] // for vectors of floating point
#[inline]
pub(crate) fn has_avx512f() -> bool {
    found() & AVX512F != 0
}

/// Whether the AVX-512 of servers can be used, which has integers of every width: F, BW, CD, DQ and VL.
#[cfg_attr(not(feature = "quantized"), allow(dead_code))] // for vectors of integers
#[inline]
pub(crate) fn has_avx512_server() -> bool {
    found() & AVX512_SERVER != 0
}

/// Whether that of [`has_avx512_server`] can be used, and instructions that multiply and add halfwords: VNNI.
#[cfg_attr(not(feature = "quantized"), allow(dead_code))]
#[inline]
pub(crate) fn has_avx512_vnni() -> bool {
    found() & AVX512_VNNI != 0
}

#[inline]
fn found() -> u8 {
    static FOUND: AtomicU8 = AtomicU8::new(0);
    match FOUND.load(Ordering::Relaxed) {
        0 => {
            // Asked twice by two threads, the machine gives the same answer.
            let found = ASKED | ask();
            FOUND.store(found, Ordering::Relaxed);
            found
        }
        found => found,
    }
}

#[cold]
fn ask() -> u8 {
    const OS_SAVES_STATE: u32 = 1 << 27;
    const AVX: u32 = 1 << 28;
    let bit = |word: u32, index: u32| word >> index & 1 != 0;
    // Miri interprets no instructions of a processor.
    if cfg!(miri) {
        return 0;
    }
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & (OS_SAVES_STATE | AVX) != OS_SAVES_STATE | AVX {
        return 0;
    }
    let more = __cpuid_count(7, 0);
    let features = more.ebx;
    let saved = saved_state();
    // SSE and AVX registers; for AVX-512 also masks and both parts of its registers.
    let avx2 = saved & 0x06 == 0x06 && bit(features, 5);
    let avx512f = saved & 0xE6 == 0xE6 && bit(features, 16);
    // DQ, CD, BW, VL.
    let avx512_server = avx512f && [17, 28, 30, 31].into_iter().all(|index| bit(features, index));
    (if avx2 { AVX2 } else { 0 })
        | (if avx512f { AVX512F } else { 0 })
        | (if avx512_server { AVX512_SERVER } else { 0 })
        | (if avx512_server && bit(more.ecx, 11) { AVX512_VNNI } else { 0 })
}

/// The registers that the operating system saves.
fn saved_state() -> u64 {
    #[target_feature(enable = "xsave")]
    fn read() -> u64 {
        // SAFETY: register 0 exists wherever the instruction does.
        unsafe { _xgetbv(0) }
    }
    // SAFETY: the caller has seen the bit that says that the instruction may be used.
    unsafe { read() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_answer_is_that_of_the_standard_library() {
        assert_eq!(super::has_avx2(), std::is_x86_feature_detected!("avx2"));
        assert_eq!(super::has_avx512f(), std::is_x86_feature_detected!("avx512f"));
        let server = std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512cd")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl");
        assert_eq!(super::has_avx512_server(), super::has_avx512f() && server);
        let vnni = std::is_x86_feature_detected!("avx512vnni");
        assert_eq!(super::has_avx512_vnni(), super::has_avx512_server() && vnni);
    }
}
