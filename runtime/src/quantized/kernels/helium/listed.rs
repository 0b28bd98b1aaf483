//! Sums over listed pairs of columns (layout `sparse`): 11 instructions for four pairs, of which the
//! activations are gathered.

/// Sums of the groups of a turn over one stream of listed pairs, and where their scales are. The stream, its
/// activations, the sums and the addresses of scales are at offsets from sp; `$between` is the number of
/// bytes between the blocks of a group and those of the next.
///
/// | registers | |
/// |---|---|
/// | in | q6: −32, −24, −16, −8; the frame, in it four times the groups of the turn |
/// | out | r8, r9: the next list, and where its end is; the frame |
/// | clobbered | r0 to r7, r10, r12, lr, q0 to q5, flags |
macro_rules! listed_sums {
    ($stream:literal, $input:literal, $sums:literal, $at:literal, $between:literal) => {
        concat!(
            "ldr     r1, [sp, #", $stream, "]\n",
            "ldr     r8, [sp, #{list}]\n",
            "ldrd    r9, r12, [sp, #{ends}]\n",
            "mov     r10, #0\n",
            "5:\n",
            "ldr     r7, [r9], #4\n",
            "mov     r3, r8\n",
            "add     r8, r7, r12\n",
            "sub     r7, r8, r3\n",
            "ldr     r5, [sp, #", $input, "]\n",
            "vadd.i32 q5, q6, r1\n",
            "add     r1, r1, r7, lsl #3\n",
            "movs    r0, #0\n",
            "movs    r2, #0\n",
            "movs    r4, #0\n",
            "movs    r6, #0\n",
            "wlstp.32 lr, r7, 7f\n",
            "6:\n",
            "vldrb.u32 q0, [r3], #4\n",
            "vldrw.u32 q2, [q5, #32]!\n",
            "vldrw.u32 q1, [r5, q0, uxtw #2]\n",
            "vldrw.u32 q3, [q5, #4]\n",
            "vmladava.s16 r0, q2, q1\n",
            "vmovlb.s8 q0, q2\n",
            "vmladava.s16 r4, q3, q1\n",
            "vmovlb.s8 q4, q3\n",
            "vmladava.s16 r2, q0, q1\n",
            "vmladava.s16 r6, q4, q1\n",
            "letp    lr, 6b\n",
            "7:\n",
            "add     r3, sp, #(", $sums, ")\n",
            "add     r3, r3, r10, lsl #2\n",
            "stm     r3, {{r0, r2, r4, r6}}\n",
            "add     r3, sp, #", $at, "\n",
            "str     r1, [r3, r10]\n",
            "ldr     r3, [sp, #{first}]\n",
            "add     r1, r1, #", $between, "\n",
            "add     r10, r10, #4\n",
            "cmp     r10, r3\n",
            "bne     5b\n",
            "str     r1, [sp, #", $stream, "]\n",
        )
    };
}

/// Sums of up to four groups of rows over both streams, as `turns::layer` does for blocks.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | the frame: sums, addresses of scales, streams and lists behind these groups |
/// | clobbered | r0 to r10, r12, lr, q0 to q6, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. Lists must be as `lstm::lstm_layer` says.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn listed_four() {
    frame_asm!(
        "str     lr, [sp, #{return_to}]",
        "ldr     r0, [sp, #{left}]",
        "cmp     r0, #4",
        "it      gt",
        "movgt   r0, #4",
        "lsls    r0, r0, #2",
        "str     r0, [sp, #{first}]",
        "mvn     r0, #31",
        "vidup.u32 q6, r0, #8",
        listed_sums!("{weights}", "{input}", "{sums}", "{biases_at}", "32"),
        listed_sums!("{squares}", "({input} + 8)", "{sums} + {to_vars}", "{scales_at}", "16"),
        "str     r8, [sp, #{list}]",
        "str     r9, [sp, #{ends}]",
        "ldr     pc, [sp, #{return_to}]";
        weights, squares;
        ;
        list = crate::quantized::kernels::layer_args::LIST, ends = crate::quantized::kernels::layer_args::ENDS
    )
}
