//! Square roots in `f32`: one instruction on Arm cores with a floating-point unit, where the function of
//! `libm` takes 476 bytes of flash.
//!
//! IEEE 754 defines the root of every number to the last bit, so that both agree. The firmware image
//! `golden_text` compares them on every emulated core.

/// √x for x ≥ 0.
#[cfg(quaver_vsqrt)]
#[allow(unsafe_code)] // no stable function without `std` becomes this instruction
#[inline(always)]
pub(super) fn sqrt(x: f32) -> f32 {
    /// This ABI passes a number in `s0`, which only a floating-point unit has, and expects one there.
    #[unsafe(naked)]
    extern "C" fn root(x: f32) -> f32 {
        // `vsqrt.f32 s0, s0`, which the assembler of a naked function refuses: it does not know of the unit.
        core::arch::naked_asm!(".inst.w 0xeeb10ac0", "bx lr")
    }
    root(x)
}

/// √x for x ≥ 0.
#[cfg(not(quaver_vsqrt))]
#[cfg_attr(not(feature = "vectors"), inline(never))] // one copy in flash for all its callers
#[cfg_attr(feature = "vectors", inline(always))]
pub(super) fn sqrt(x: f32) -> f32 {
    libm::sqrtf(x)
}
