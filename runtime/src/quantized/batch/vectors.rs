//! The walk of sixteen streams, compiled for the vectors of a host and chosen when the program runs (feature
//! `vectors`). Integers have the same bits in vectors of any width.

#![allow(unsafe_code)] // instructions that not every machine has

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm256_add_epi32, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256, _mm512_add_epi32, _mm512_castsi128_si512,
    _mm512_cmplt_epu32_mask, _mm512_dpwssd_epi32, _mm512_inserti32x4, _mm512_loadu_si512, _mm512_madd_epi16,
    _mm512_mask_blend_epi32, _mm512_mask_i32gather_epi32, _mm512_mul_epi32, _mm512_set1_epi32,
    _mm512_setzero_si512, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_unpackhi_epi32,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::super::moments::{CELLS, ROOTS};
use super::calls::Calls;
use super::ints::{Ints, LaneMoments, LaneRow};
use super::rows::{LaneInput, MapRows};
use super::vector_unit::{PortableVectors, Vectors};
use super::{moments, network};
use crate::format::Cursor;
use crate::lanes::{Avx512, LANES, Lanes, Portable, StreamLanes, cpu};
use crate::spec::ModelSpec;

/// Advances all streams by a row each.
pub(crate) fn batch_step(
    spec: &ModelSpec,
    weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    if cpu::has_avx512_vnni() {
        // SAFETY: the machine has these instructions.
        unsafe { step_vnni(spec, weights, memory, streams) }
    } else if cpu::has_avx512_server() {
        // SAFETY: as above.
        unsafe { step_avx512(spec, weights, memory, streams) }
    } else if cpu::has_avx2() {
        // SAFETY: as above.
        unsafe { step_avx2(spec, weights, memory, streams) }
    } else {
        network::step::<PortableVectors, Portable>(spec, weights, memory, streams);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni")]
fn step_vnni(spec: &ModelSpec, weights: Cursor<'_>, memory: &mut [f32], streams: &mut dyn StreamLanes) {
    network::step::<Avx512Vectors<true>, Avx512>(spec, weights, memory, streams);
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn step_avx512(spec: &ModelSpec, weights: Cursor<'_>, memory: &mut [f32], streams: &mut dyn StreamLanes) {
    network::step::<Avx512Vectors<false>, Avx512>(spec, weights, memory, streams);
}

#[target_feature(enable = "avx2")]
fn step_avx2(spec: &ModelSpec, weights: Cursor<'_>, memory: &mut [f32], streams: &mut dyn StreamLanes) {
    network::step::<Avx2Vectors, Portable>(spec, weights, memory, streams);
}

/// One register of 512 bits; `VNNI` where products are added by the same instruction.
struct Avx512Vectors<const VNNI: bool>;

impl<const VNNI: bool> Vectors for Avx512Vectors<VNNI> {
    type Words = __m512i;

    #[inline(always)]
    fn zero() -> __m512i {
        // SAFETY: this type is used where the machine has these instructions, here and below.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn load(words: &Lanes) -> __m512i {
        // SAFETY: sixteen words, at any address.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn multiply_add(sums: __m512i, weights: u32, x: __m512i) -> __m512i {
        // SAFETY: as in `zero`.
        unsafe {
            let weights = _mm512_set1_epi32(weights as i32);
            if VNNI {
                _mm512_dpwssd_epi32(sums, weights, x)
            } else {
                _mm512_add_epi32(sums, _mm512_madd_epi16(weights, x))
            }
        }
    }

    #[inline(always)]
    fn to_ints(words: __m512i) -> Ints {
        let mut ints = [0; LANES];
        // SAFETY: sixteen words, at any address.
        unsafe { _mm512_storeu_si512(ints.as_mut_ptr().cast(), words) };
        ints
    }

    #[inline(always)]
    fn mul_high(a: &Ints, b: i32) -> Ints {
        // SAFETY: as in `zero`; sixteen words are read at any address.
        unsafe {
            let (even, b) = (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_set1_epi32(b));
            let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(even), b);
            let even = _mm512_srli_epi64::<32>(_mm512_mul_epi32(even, b));
            // The upper halves of odd products are where they belong.
            Self::to_ints(_mm512_mask_blend_epi32(0xAAAA, even, odd))
        }
    }

    #[inline(always)]
    fn root_words(places: &Ints) -> Ints {
        // SAFETY: as in `zero`; only places within the table are read.
        unsafe {
            let places = _mm512_loadu_si512(places.as_ptr().cast());
            let within = _mm512_cmplt_epu32_mask(places, _mm512_set1_epi32(ROOTS.len() as i32));
            let zero = _mm512_setzero_si512();
            Self::to_ints(_mm512_mask_i32gather_epi32::<4>(zero, within, places, ROOTS.as_ptr()))
        }
    }

    #[inline(always)]
    fn cells(places: &Ints) -> [Ints; 4] {
        // SAFETY: as in `zero`.
        unsafe {
            // Register k holds the cells of streams k, k + 4, k + 8 and k + 12, a quarter each.
            let [a, b, c, d] =
                [four_cells(places, 0), four_cells(places, 1), four_cells(places, 2), four_cells(places, 3)];
            let [ab, cd] = [_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d)];
            let [upper_ab, upper_cd] = [_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d)];
            [
                Self::to_ints(_mm512_unpacklo_epi64(ab, cd)),
                Self::to_ints(_mm512_unpackhi_epi64(ab, cd)),
                Self::to_ints(_mm512_unpacklo_epi64(upper_ab, upper_cd)),
                Self::to_ints(_mm512_unpackhi_epi64(upper_ab, upper_cd)),
            ]
        }
    }
}

/// Cells of the table of moments for streams `first`, `first` + 4, and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn four_cells(places: &Ints, first: usize) -> __m512i {
    let cell = |index: usize| -> *const __m128i {
        let place = places.get(first + 4 * index).copied().unwrap_or(0);
        let cell: &[i32; 4] = &CELLS[place as u32 as usize % CELLS.len()];
        cell.as_ptr().cast()
    };
    // SAFETY: a cell is four words, at any address.
    unsafe {
        let cells = _mm512_castsi128_si512(_mm_loadu_si128(cell(0)));
        let cells = _mm512_inserti32x4::<1>(cells, _mm_loadu_si128(cell(1)));
        let cells = _mm512_inserti32x4::<2>(cells, _mm_loadu_si128(cell(2)));
        _mm512_inserti32x4::<3>(cells, _mm_loadu_si128(cell(3)))
    }
}

/// Two registers of 256 bits; named by [`step_avx2`] alone.
struct Avx2Vectors;

impl Vectors for Avx2Vectors {
    type Words = [__m256i; 2];

    #[inline(always)]
    fn zero() -> [__m256i; 2] {
        // SAFETY: this type is used where the machine has these instructions, here and below.
        [unsafe { _mm256_setzero_si256() }; 2]
    }

    #[inline(always)]
    fn load(words: &Lanes) -> [__m256i; 2] {
        let halves = words.as_chunks::<{ LANES / 2 }>().0;
        let [first, second] = [halves[0].as_ptr(), halves[1].as_ptr()];
        // SAFETY: eight words each, at any address.
        unsafe { [_mm256_loadu_si256(first.cast()), _mm256_loadu_si256(second.cast())] }
    }

    #[inline(always)]
    fn multiply_add([first, second]: [__m256i; 2], weights: u32, x: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: as in `zero`.
        unsafe {
            let weights = _mm256_set1_epi32(weights as i32);
            [
                _mm256_add_epi32(first, _mm256_madd_epi16(weights, x[0])),
                _mm256_add_epi32(second, _mm256_madd_epi16(weights, x[1])),
            ]
        }
    }

    #[inline(always)]
    fn to_ints(words: [__m256i; 2]) -> Ints {
        let mut ints = [0; LANES];
        for (half, words) in ints.as_chunks_mut::<{ LANES / 2 }>().0.iter_mut().zip(words) {
            // SAFETY: eight words, at any address.
            unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), words) };
        }
        ints
    }
}

/// Compiles [`Calls`] for the instructions of a kind of vectors.
macro_rules! calls {
    ($vectors:ty, $features:literal) => {
        impl Calls for $vectors {
            fn tanh(row: &LaneRow) -> LaneMoments {
                #[inline(never)]
                #[target_feature(enable = $features)]
                fn call(row: &LaneRow) -> LaneMoments {
                    moments::tanh::<$vectors>(row)
                }
                // SAFETY: this type is used where the machine has these instructions, here and below.
                unsafe { call(row) }
            }

            fn group(rows: &mut MapRows<'_>, index: usize, input: &LaneInput<'_>) -> [LaneRow; 4] {
                #[inline(never)]
                #[target_feature(enable = $features)]
                fn call(rows: &mut MapRows<'_>, index: usize, input: &LaneInput<'_>) -> [LaneRow; 4] {
                    rows.group::<$vectors>(index, input)
                }
                // SAFETY: as above.
                unsafe { call(rows, index, input) }
            }
        }
    };
}

calls!(Avx512Vectors<true>, "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni");
calls!(Avx512Vectors<false>, "avx512f,avx512bw,avx512cd,avx512dq,avx512vl");
calls!(Avx2Vectors, "avx2");

#[cfg(test)]
mod tests;
