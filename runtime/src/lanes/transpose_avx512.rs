//! Transposition in registers of 512 bits; its portable twin is `transpose`.

#![allow(unsafe_code)] // instructions that not every machine has

use core::arch::x86_64::{
    __m512, _mm512_castpd_ps, _mm512_castps_pd, _mm512_loadu_ps, _mm512_setzero_ps, _mm512_shuffle_f32x4,
    _mm512_storeu_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

use super::Lanes;
use super::transpose::{Block, Transpose};

/// Transposition by shuffles of registers: 64 for 256 numbers. Compilers make scattered stores of loops,
/// which take four times as long.
pub(crate) struct Avx512;

impl Transpose for Avx512 {
    #[inline(always)]
    fn transpose(block: &mut Block) {
        // SAFETY: this type is named by functions alone that run where the machine has these instructions.
        unsafe { transpose_avx512(block) }
    }
}

#[target_feature(enable = "avx512f")]
fn transpose_avx512(block: &mut Block) {
    // Pairs of rows, then four rows: lane `l` of `fours[4 i + j]` is column 4 l + j of rows 4 i to 4 i + 3.
    let mut pairs = [_mm512_setzero_ps(); 16];
    for i in 0..8 {
        let [a, b] = [load(&block[2 * i]), load(&block[2 * i + 1])];
        (pairs[2 * i], pairs[2 * i + 1]) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    }
    let mut fours = [_mm512_setzero_ps(); 16];
    for i in 0..4 {
        for half in 0..2 {
            let [a, b] = [pairs[4 * i + half], pairs[4 * i + half + 2]].map(|row| _mm512_castps_pd(row));
            fours[4 * i + 2 * half] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            fours[4 * i + 2 * half + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    }
    // Then the quarters of registers.
    for j in 0..4 {
        let [a, b, c, d] = [fours[j], fours[4 + j], fours[8 + j], fours[12 + j]];
        let (even, odd) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
        let (last_even, last_odd) = (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xdd>(c, d));
        store(&mut block[j], _mm512_shuffle_f32x4::<0x88>(even, last_even));
        store(&mut block[4 + j], _mm512_shuffle_f32x4::<0x88>(odd, last_odd));
        store(&mut block[8 + j], _mm512_shuffle_f32x4::<0xdd>(even, last_even));
        store(&mut block[12 + j], _mm512_shuffle_f32x4::<0xdd>(odd, last_odd));
    }
}

#[target_feature(enable = "avx512f")]
fn load(row: &Lanes) -> __m512 {
    // SAFETY: sixteen numbers, at any address.
    unsafe { _mm512_loadu_ps(row.as_ptr()) }
}

#[target_feature(enable = "avx512f")]
fn store(row: &mut Lanes, value: __m512) {
    // SAFETY: as above.
    unsafe { _mm512_storeu_ps(row.as_mut_ptr(), value) };
}

#[cfg(test)]
mod tests {
    use super::super::Portable;
    use super::*;

    #[test]
    fn shuffles_transpose_as_loops_do() {
        let block: Block = core::array::from_fn(|row| core::array::from_fn(|col| (16 * row + col) as f32));
        let mut expected = block;
        Portable::transpose(&mut expected);
        assert_eq!(expected[3][5], block[5][3]);
        if std::is_x86_feature_detected!("avx512f") {
            let mut found = block;
            Avx512::transpose(&mut found);
            assert_eq!(found, expected);
        }
    }
}
