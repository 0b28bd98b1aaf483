//! `naked_asm!` for DSP instructions.

/// [`naked_asm!`](core::arch::naked_asm) with lines, a semicolon, and operands.
///
/// DSP instructions are an extension of Armv8-M, which the assembler must be told to accept. The build script
/// provides the directive for it, and the one that restores what the assembler accepts, on which assembly of
/// other crates may rely.
macro_rules! dsp_asm {
    ($($line:expr),+ $(,)?; $($operands:tt)*) => {
        core::arch::naked_asm!(
            env!("QUAVER_ACCEPT_DSP"),
            $($line,)+
            env!("QUAVER_ACCEPT_TARGET"),
            $($operands)*
        )
    };
}
