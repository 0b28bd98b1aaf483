//! What whole layers have in common: their frame, and pre-activations and moments of tanh of four rows.

/// Saves registers and takes the arguments, to which a0 points (RISC-V calling conventions: aggregates of
/// more than two words are passed by reference). The frame has the mantissas of four variances at sp, four
/// means behind them, and the saved registers.
///
/// | registers | |
/// |---|---|
/// | in | a0: `LayerArgs` |
/// | out | s0: cells of the layer; s1: squares; s2: means; s3: bytes of them; s4: variances; s5: weights; s6 to s8: what moments read; s9: arguments; s10, s11: units and their end |
/// | clobbered | none |
macro_rules! begin {
    () => {
        concat!(
            "addi    sp, sp, -96\n",
            saved!("sw"),
            "mv      s9, a0\n",
            "lw      s0, {lstm_cells}(s9)\n",
            "lw      s1, {squares}(s9)\n",
            "lw      s2, {means}(s9)\n",
            "lw      s3, {means_end}(s9)\n",
            "sub     s3, s3, s2\n",
            "lw      s4, {vars}(s9)\n",
            "lw      s5, {weights}(s9)\n",
            "lw      s6, {cells}(s9)\n",
            "la      s7, {zeros}\n",
            "li      s8, 0x7FFF\n",
            "lw      s10, {units}(s9)\n",
            "lw      s11, {units_end}(s9)\n",
        )
    };
}

/// Loads or stores ra and s0 to s11.
///
/// | registers | |
/// |---|---|
/// | in, out | sp: the frame |
/// | clobbered | none |
macro_rules! saved {
    ($instruction:literal) => {
        concat!(
            $instruction, "      ra, 32(sp)\n",
            $instruction, "      s0, 36(sp)\n",
            $instruction, "      s1, 40(sp)\n",
            $instruction, "      s2, 44(sp)\n",
            $instruction, "      s3, 48(sp)\n",
            $instruction, "      s4, 52(sp)\n",
            $instruction, "      s5, 56(sp)\n",
            $instruction, "      s6, 60(sp)\n",
            $instruction, "      s7, 64(sp)\n",
            $instruction, "      s8, 68(sp)\n",
            $instruction, "      s9, 72(sp)\n",
            $instruction, "      s10, 76(sp)\n",
            $instruction, "      s11, 80(sp)\n",
        )
    };
}

/// Restores registers and returns.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | s0 to s11 and sp, as they were at the call |
/// | clobbered | none |
macro_rules! end {
    () => {
        concat!(saved!("lw"), "addi    sp, sp, 96\n", "ret\n")
    };
}

/// Pre-activations of the next four rows: mantissas of variances at sp, means 16 bytes above.
///
/// | registers | |
/// |---|---|
/// | in | as [`begin`] gives them |
/// | out | s1, s5: the next four rows; a5 to a7: what moments of rows read |
/// | clobbered | a0 to a4, t0 to t4, ra |
macro_rules! pre_activations {
    () => {
        concat!(
            "mv      a0, s5\n",
            "mv      a1, s2\n",
            "lw      t0, {mean_blocks}(s9)\n",
            "beqz    t0, 71f\n",
            "add     a2, s2, s3\n",
            "call    {sums_of_blocks}\n",
            "72:\n",
            scaled_mean!("a3", "0", "16", "16"),
            scaled_mean!("a4", "4", "20", "20"),
            scaled_mean!("a5", "8", "24", "24"),
            scaled_mean!("a6", "12", "28", "28"),
            "addi    s5, a0, 32\n",
            "mv      a0, s1\n",
            "mv      a1, s4\n",
            "lw      t0, {mean_blocks}(s9)\n",
            "beqz    t0, 73f\n",
            "add     a2, s4, s3\n",
            "call    {sums_of_blocks}\n",
            "74:\n",
            scaled_var!("a3", "0"),
            scaled_var!("a4", "4"),
            scaled_var!("a5", "8"),
            scaled_var!("a6", "12"),
            "addi    s1, a0, 16\n",
            "lw      a7, {weight_vars}(s9)\n",
            "beqz    a7, 75f\n",
            "call    {weight_var_terms}\n",
            "75:\n",
            "lw      a5, {offset}(s9)\n",
            "lw      a6, {roots}(s9)\n",
            "lw      a7, {shift}(s9)\n",
        )
    };
}

/// Where [`pre_activations`] goes for maps that hold listed pairs, behind the end of a layer.
///
/// | registers | |
/// |---|---|
/// | in | a0: weights; a1: activations; s9: arguments |
/// | out | as [`sums_of_pairs`]; the arguments: at the next list |
/// | clobbered | a2, a7, t0 to t5, ra |
macro_rules! listed {
    () => {
        concat!(
            "71:\n",
            "lw      t0, {ends}(s9)\n",
            "lw      a7, 0(t0)\n",
            "addi    t0, t0, 4\n",
            "sw      t0, {ends}(s9)\n",
            "lw      t0, {indices}(s9)\n",
            "add     a7, a7, t0\n",
            "sw      a7, {list_end}(s9)\n",
            "lw      a2, {list}(s9)\n",
            "call    {sums_of_pairs}\n",
            "j       72b\n",
            "73:\n",
            "lw      a2, {list}(s9)\n",
            "lw      a7, {list_end}(s9)\n",
            "sw      a7, {list}(s9)\n",
            "call    {sums_of_pairs}\n",
            "j       74b\n",
        )
    };
}

/// The mean of a row, from its sum, to the frame.
///
/// | registers | |
/// |---|---|
/// | in | a0: biases and scales; `$sum` |
/// | out | none |
/// | clobbered | `$sum`, t0, t1 |
macro_rules! scaled_mean {
    ($sum:literal, $bias:literal, $scale:literal, $place:literal) => {
        concat!(
            "lw      t0, ", $bias, "(a0)\n",
            "lw      t1, ", $scale, "(a0)\n",
            "mulh    ", $sum, ", ", $sum, ", t1\n",
            "add     ", $sum, ", ", $sum, ", t0\n",
            "sw      ", $sum, ", ", $place, "(sp)\n",
        )
    };
}

/// The mantissa of a row's variance, from its sum, to the frame.
///
/// | registers | |
/// |---|---|
/// | in | a0: scales; `$sum` |
/// | out | none |
/// | clobbered | `$sum`, t0 |
macro_rules! scaled_var {
    ($sum:literal, $place:literal) => {
        concat!(
            "lw      t0, ", $place, "(a0)\n",
            "mulh    ", $sum, ", ", $sum, ", t0\n",
            "sw      ", $sum, ", ", $place, "(sp)\n",
        )
    };
}

/// Moments of tanh of a row, by the places of its moments in the frame.
///
/// | registers | |
/// |---|---|
/// | in | the frame; what moments read |
/// | out | a3, a4 |
/// | clobbered | a0, a1, t0 to t6, ra |
macro_rules! tanh_of_row {
    ($mean:literal, $var:literal) => {
        concat!("lw      a3, ", $mean, "(sp)\n", "lw      a4, ", $var, "(sp)\n", "call    {tanh_moments}\n")
    };
}

/// The same, back to the frame.
macro_rules! replace_row {
    ($mean:literal, $var:literal) => {
        concat!(tanh_of_row!($mean, $var), "sw      a3, ", $mean, "(sp)\n", "sw      a4, ", $var, "(sp)\n")
    };
}
