//! `naked_asm!` for Helium instructions.

/// [`naked_asm!`](core::arch::naked_asm) with lines, a semicolon, and operands, around which the assembler
/// accepts Helium instructions, as `dsp_asm` does for DSP instructions.
macro_rules! mve_asm {
    ($($line:expr),+ $(,)?; $($operands:tt)*) => {
        core::arch::naked_asm!(
            env!("QUAVER_ACCEPT_MVE"),
            $($line,)+
            env!("QUAVER_ACCEPT_TARGET"),
            $($operands)*
        )
    };
}
