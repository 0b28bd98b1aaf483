//! What whole layers have in common: their frame, and pre-activations and moments of tanh of four rows.

/// Saves registers below the arguments, the first four of which come in registers (AAPCS32, 6.4.2), and makes
/// room for moments.
///
/// | registers | |
/// |---|---|
/// | in | r0 to r3 and the stack: `LayerArgs` |
/// | out | the frame |
/// | clobbered | r4 to r7 |
macro_rules! begin {
    () => {
        concat!("push    {{r0-r3}}\n", save!(), "sub     sp, #32\n")
    };
}

/// Restores registers and returns.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | r4 to r11 and sp, as they were at the call |
/// | clobbered | r0 |
macro_rules! end {
    () => {
        concat!(
            "add     sp, #32\n",
            restore_upper!(),
            // Popping them would leave sp between two multiples of eight.
            "ldr     r4, [sp, #4]\n",
            "ldr     r5, [sp, #8]\n",
            "ldr     r6, [sp, #12]\n",
            "ldr     r7, [sp, #16]\n",
            "ldr     r0, [sp, #20]\n",
            "add     sp, #40\n",
            "bx      r0\n",
        )
    };
}

/// Pre-activations of the next four rows: mantissas of variances at sp, means 16 bytes above.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | the frame |
/// | clobbered | r0 to r11, lr, flags |
macro_rules! pre_activations {
    () => {
        concat!(
            "ldr     r0, [sp, #{weights}]\n",
            "ldr     r1, [sp, #{means}]\n",
            "ldr     r2, [sp, #{mean_blocks}]\n",
            "cmp     r2, #0\n",
            "bne     71f\n",
            "ldr     r3, [sp, #{ends}]\n",
            "ldmia   r3!, {{r4}}\n",
            "str     r3, [sp, #{ends}]\n",
            "ldr     r3, [sp, #{indices}]\n",
            "adds    r3, r3, r4\n",
            "str     r3, [sp, #{list_end}]\n",
            "ldr     r2, [sp, #{list}]\n",
            "bl      {sums_of_pairs}\n",
            "b       72f\n",
            "71:\n",
            "bl      {sums_of_blocks}\n",
            "72:\n",
            "add     r1, sp, #16\n",
            "stm     r1!, {{r4-r7}}\n",
            "add     r1, sp, #16\n",
            "adds    r0, #16\n",
            "bl      {scale_sums}\n",
            "str     r0, [sp, #{weights}]\n",
            "subs    r0, #32                 @ biases\n",
            "add     r1, sp, #16\n",
            "ldmia   r1!, {{r4-r7}}\n",
            "ldmia   r0!, {{r2, r3}}\n",
            "adds    r4, r4, r2\n",
            "adds    r5, r5, r3\n",
            "ldmia   r0!, {{r2, r3}}\n",
            "adds    r6, r6, r2\n",
            "adds    r7, r7, r3\n",
            "add     r1, sp, #16\n",
            "stm     r1!, {{r4-r7}}\n",
            "ldr     r0, [sp, #{squares}]\n",
            "ldr     r1, [sp, #{vars}]\n",
            "ldr     r2, [sp, #{mean_blocks}]\n",
            "cmp     r2, #0\n",
            "bne     73f\n",
            "ldr     r2, [sp, #{list}]\n",
            "ldr     r3, [sp, #{list_end}]\n",
            "str     r3, [sp, #{list}]\n",
            "bl      {sums_of_pairs}\n",
            "b       74f\n",
            "73:\n",
            "bl      {sums_of_vars}\n",
            "74:\n",
            "mov     r1, sp\n",
            "stm     r1!, {{r4-r7}}\n",
            "mov     r1, sp\n",
            "bl      {scale_sums}\n",
            "str     r0, [sp, #{squares}]\n",
            "ldr     r3, [sp, #{weight_vars}]\n",
            "cmp     r3, #0\n",
            "beq     75f\n",
            "ldr     r1, [sp, #{vars}]\n",
            "ldr     r2, [sp, #{mean_blocks}]\n",
            "mov     r0, sp\n",
            "bl      {weight_var_terms}\n",
            "75:\n",
        )
    };
}

/// Moments of tanh of a row, by the places of its moments in the frame.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | r0, r1 |
/// | clobbered | r2 to r8, lr, flags |
macro_rules! tanh_of_row {
    ($mean:literal, $var:literal) => {
        concat!(
            "ldr     r0, [sp, #", $mean, "]\n",
            "ldr     r1, [sp, #", $var, "]\n",
            "ldr     r2, [sp, #{shift}]\n",
            "bl      {tanh_moments}\n",
            "ldr     r2, [sp, #{shift}]\n",
            "lsrs    r1, r2\n",
        )
    };
}

/// The same, back to the frame.
macro_rules! replace_row {
    ($mean:literal, $var:literal) => {
        concat!(tanh_of_row!($mean, $var), "str     r0, [sp, #", $mean, "]\n", "str     r1, [sp, #", $var, "]\n")
    };
}
