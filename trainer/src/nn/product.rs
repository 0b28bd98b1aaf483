//! Matrix products on slices, with an order of summation that depends only on the sizes.

use std::ops::Range;

use super::vectorised::{self, Kernel, Processor};

/// Rows of the register tile.
const HEIGHT: usize = 4;

/// Columns of the register tile: one vector of the widest kind.
const WIDTH: usize = 16;

/// Terms summed before results are written back: as many as keep both operands in the first-level cache.
const PANEL: usize = 128;

/// Numbers of a right-hand factor that stays in the second-level cache while all rows pass by.
const CACHED: usize = 1 << 16;

/// A matrix in a slice.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    values: &'a [f32],
    /// Distance between rows, or between columns if transposed.
    stride: usize,
    transposed: bool,
}

impl<'a> Strided<'a> {
    /// A matrix in row-major order.
    pub fn rows(values: &'a [f32], columns: usize) -> Self {
        Strided { values, stride: columns, transposed: false }
    }

    /// The transpose of a row-major matrix with this number of columns.
    pub fn transposed(values: &'a [f32], columns: usize) -> Self {
        Strided { values, stride: columns, transposed: true }
    }

    /// The same matrix without its first `count` rows.
    pub fn skip_rows(self, count: usize) -> Self {
        let start = if self.transposed { count } else { count * self.stride };
        Strided { values: self.values.get(start..).unwrap_or_default(), ..self }
    }
}

/// A right-hand factor [terms, columns], packed so that a product reads it sequentially.
///
/// Tiles of 16 columns, each term by term; the last tile is padded with zeros.
#[derive(Clone, Debug)]
pub struct Packed {
    terms: usize,
    columns: usize,
    tiles: Vec<[f32; WIDTH]>,
}

impl Packed {
    /// Packs a matrix of this size.
    pub fn new(matrix: Strided<'_>, terms: usize, columns: usize) -> Self {
        let mut tiles = vec![[0.0; WIDTH]; terms * columns.div_ceil(WIDTH)];
        let (term_step, step) = if matrix.transposed { (1, matrix.stride) } else { (matrix.stride, 1) };
        for (tile, rows) in tiles.chunks_exact_mut(terms.max(1)).enumerate() {
            let first = tile * WIDTH;
            for (term, row) in rows.iter_mut().enumerate() {
                let values = &matrix.values[term * term_step + first * step..];
                let count = WIDTH.min(columns - first);
                let whole = values.first_chunk().filter(|_| step == 1 && count == WIDTH);
                if let Some(whole) = whole {
                    // One move of a vector, where a slice is a call.
                    *row = *whole;
                } else if step == 1 {
                    row[..count].copy_from_slice(&values[..count]);
                } else {
                    row[..count]
                        .iter_mut()
                        .zip(values.iter().step_by(step))
                        .for_each(|(to, from)| *to = *from);
                }
            }
        }
        Packed { terms, columns, tiles }
    }

    /// Columns of the matrix.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether the whole matrix stays in the second-level cache.
    fn is_cached(&self) -> bool {
        self.tiles.len() * WIDTH <= CACHED
    }

    /// A range of terms of `T` neighbouring tiles.
    #[inline(always)]
    fn panels<const T: usize>(&self, tile: usize, terms: Range<usize>) -> Panels<'_, T> {
        let panel = |tile: usize| &self.tiles[tile * self.terms..][terms.start..terms.end];
        std::array::from_fn(|offset| panel(tile + offset))
    }
}

/// Adds a·b to `out` [rows, columns], in row-major order.
///
/// Each result is summed term by term in the same order, whichever rows are computed with it: a product may
/// be split by rows over any number of threads and gives the same bits.
pub fn add_product(out: &mut [f32], a: Strided<'_>, b: &Packed) {
    vectorised::run(AddProduct { out, a, b });
}

struct AddProduct<'a> {
    out: &'a mut [f32],
    a: Strided<'a>,
    b: &'a Packed,
}

/// Factors of [`HEIGHT`] rows of the left-hand matrix, over one panel of terms.
trait Band<'a> {
    /// Terms of the rows from `row` on; rows beyond `rows` repeat the last one.
    fn new(matrix: Strided<'a>, row: usize, rows: usize, terms: Range<usize>) -> Self;

    /// The factors of one term.
    fn factors(&self, term: usize) -> [f32; HEIGHT];
}

/// Rows, read where they are.
struct RowBand<'a>([&'a [f32]; HEIGHT]);

impl<'a> Band<'a> for RowBand<'a> {
    #[inline(always)]
    fn new(matrix: Strided<'a>, row: usize, rows: usize, terms: Range<usize>) -> Self {
        RowBand(std::array::from_fn(|offset| {
            let start = (row + offset).min(rows - 1) * matrix.stride;
            &matrix.values[start + terms.start..start + terms.end]
        }))
    }

    #[inline(always)]
    fn factors(&self, term: usize) -> [f32; HEIGHT] {
        self.0.map(|row| row[term])
    }
}

/// Columns of a transposed matrix, copied: where they are, they may all fall on a few lines of the cache.
struct ColumnBand([[f32; HEIGHT]; PANEL]);

impl<'a> Band<'a> for ColumnBand {
    #[inline(always)]
    fn new(matrix: Strided<'a>, row: usize, rows: usize, terms: Range<usize>) -> Self {
        let mut band = [[0.0; HEIGHT]; PANEL];
        let columns = matrix.values[terms.start * matrix.stride..].chunks(matrix.stride);
        for (factors, column) in band[..terms.len()].iter_mut().zip(columns) {
            *factors = match column[row.min(rows - 1)..rows].first_chunk() {
                Some(factors) => *factors,
                None => std::array::from_fn(|offset| column[(row + offset).min(rows - 1)]),
            };
        }
        ColumnBand(band)
    }

    #[inline(always)]
    fn factors(&self, term: usize) -> [f32; HEIGHT] {
        self.0[term]
    }
}

/// Terms of `T` tiles.
type Panels<'a, const T: usize> = [&'a [[f32; WIDTH]]; T];

/// Results of [`HEIGHT`] rows and `T` tiles.
type Block<const T: usize> = [[[f32; WIDTH]; T]; HEIGHT];

impl Kernel for AddProduct<'_> {
    #[inline(always)]
    fn run<P: Processor>(mut self) {
        if self.out.is_empty() {
            return;
        }
        if self.a.transposed {
            self.panels_and_bands::<P, ColumnBand>();
        } else {
            self.panels_and_bands::<P, RowBand<'_>>();
        }
    }
}

impl<'a> AddProduct<'a> {
    /// All panels of terms for some rows, then the next rows; or, if the right-hand factor is read anew for
    /// every row, some of its terms for all rows, then the next terms.
    #[inline(always)]
    fn panels_and_bands<P: Processor, B: Band<'a>>(&mut self) {
        let (panels, bands) = (self.b.terms.div_ceil(PANEL), self.rows().div_ceil(2 * HEIGHT));
        if self.b.is_cached() {
            for (band, panel) in (0..bands).flat_map(|band| (0..panels).map(move |panel| (band, panel))) {
                self.band::<P, B>(band, panel);
            }
        } else {
            for (panel, band) in (0..panels).flat_map(|panel| (0..bands).map(move |band| (panel, band))) {
                self.band::<P, B>(band, panel);
            }
        }
    }

    fn rows(&self) -> usize {
        self.out.len() / self.b.columns
    }

    /// One panel of terms of twice [`HEIGHT`] rows, or of as many as are left.
    #[inline(always)]
    fn band<P: Processor, B: Band<'a>>(&mut self, band: usize, panel: usize) {
        let (rows, row, columns) = (self.rows(), 2 * HEIGHT * band, self.b.columns);
        let terms = panel * PANEL..self.b.terms.min((panel + 1) * PANEL);
        let out = &mut self.out[row * columns..rows.min(row + 2 * HEIGHT) * columns];
        let (above, below) = out.split_at_mut(out.len().min(HEIGHT * columns));
        let upper = B::new(self.a, row, rows, terms.clone());
        if below.is_empty() {
            return one_band::<P, B>(above, &upper, self.b, terms);
        }
        let lower = B::new(self.a, row + HEIGHT, rows, terms.clone());
        // Processors with the widest vectors have twice as many registers, too: they hold four blocks at
        // once.
        if P::lanes() >= WIDTH {
            two_bands::<P, B>([above, below], [&upper, &lower], self.b, terms);
        } else {
            one_band::<P, B>(above, &upper, self.b, terms.clone());
            one_band::<P, B>(below, &lower, self.b, terms);
        }
    }
}

/// One panel of terms of [`HEIGHT`] rows.
#[inline(always)]
fn one_band<'a, P: Processor, B: Band<'a>>(out: &mut [f32], band: &B, b: &Packed, terms: Range<usize>) {
    let tiles = b.columns.div_ceil(WIDTH);
    let pairs = if P::lanes() >= WIDTH { tiles / 2 } else { 0 };
    for tile in (0..2 * pairs).step_by(2) {
        let sums = block::<P, B, 2>(band, b.panels(tile, terms.clone()));
        add_block(out, b.columns, tile, &sums);
    }
    for tile in 2 * pairs..tiles {
        let sums = block::<P, B, 1>(band, b.panels(tile, terms.clone()));
        add_block(out, b.columns, tile, &sums);
    }
}

/// The same for twice as many rows.
#[inline(always)]
fn two_bands<'a, P: Processor, B: Band<'a>>(
    [above, below]: [&mut [f32]; 2],
    bands: [&B; 2],
    b: &Packed,
    terms: Range<usize>,
) {
    let tiles = b.columns.div_ceil(WIDTH);
    for tile in (0..tiles - tiles % 2).step_by(2) {
        let [upper, lower] = two_blocks::<P, B, 2>(bands, b.panels(tile, terms.clone()));
        add_block(above, b.columns, tile, &upper);
        add_block(below, b.columns, tile, &lower);
    }
    if tiles % 2 == 1 {
        let [upper, lower] = two_blocks::<P, B, 1>(bands, b.panels(tiles - 1, terms));
        add_block(above, b.columns, tiles - 1, &upper);
        add_block(below, b.columns, tiles - 1, &lower);
    }
}

/// One block of results, over one panel of terms.
#[inline(always)]
fn block<'a, P: Processor, B: Band<'a>, const T: usize>(band: &B, panels: Panels<'_, T>) -> Block<T> {
    let mut sums = [[[0.0; WIDTH]; T]; HEIGHT];
    let terms = panels[0].len();
    for term in 0..terms {
        // Copies rather than references: only then does the compiler load each tile as one vector.
        let values = panels.map(|panel| panel[term]);
        add_term::<P, T>(&mut sums, band.factors(term), &values);
    }
    sums
}

/// Two blocks, one above the other: each tile is loaded once for both.
#[inline(always)]
fn two_blocks<'a, P: Processor, B: Band<'a>, const T: usize>(
    [upper, lower]: [&B; 2],
    panels: Panels<'_, T>,
) -> [Block<T>; 2] {
    // Two variables rather than an array of two: only then does the compiler keep all sums in registers.
    let mut above = [[[0.0; WIDTH]; T]; HEIGHT];
    let mut below = [[[0.0; WIDTH]; T]; HEIGHT];
    let terms = panels[0].len();
    for term in 0..terms {
        let values = panels.map(|panel| panel[term]);
        add_term::<P, T>(&mut above, upper.factors(term), &values);
        add_term::<P, T>(&mut below, lower.factors(term), &values);
    }
    [above, below]
}

/// Adds one term to every result of a block.
#[inline(always)]
fn add_term<P: Processor, const T: usize>(
    sums: &mut Block<T>,
    factors: [f32; HEIGHT],
    values: &[[f32; WIDTH]; T],
) {
    for (sums, factor) in sums.iter_mut().zip(factors) {
        for (sums, values) in sums.iter_mut().zip(values) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = P::multiply_add(factor, *value, *sum);
            }
        }
    }
}

/// Adds the part of a block that lies within the matrix.
#[inline(always)]
fn add_block<const T: usize>(out: &mut [f32], columns: usize, tile: usize, sums: &Block<T>) {
    for (row, sums) in out.chunks_exact_mut(columns).zip(sums) {
        for (out, sums) in row[tile * WIDTH..].chunks_mut(WIDTH).zip(sums) {
            for (out, sum) in out.iter_mut().zip(sums) {
                *out += sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(length: usize, step: f32) -> Vec<f32> {
        (0..length).map(|i| ((i * 7 + 3) % 11) as f32 * step - 1.0).collect()
    }

    fn slow(a: &[f32], b: &[f32], (rows, terms, columns): (usize, usize, usize)) -> Vec<f64> {
        let mut out = vec![0.0; rows * columns];
        for (index, out) in out.iter_mut().enumerate() {
            let (row, column) = (index / columns, index % columns);
            *out =
                (0..terms).map(|k| f64::from(a[row * terms + k]) * f64::from(b[k * columns + column])).sum();
        }
        out
    }

    #[test]
    fn products_of_odd_and_even_sizes_agree_with_the_definition() {
        for (rows, terms, columns) in [(1, 1, 1), (4, 8, 8), (5, 300, 19), (7, 129, 8), (8, 3, 40)] {
            let (a, b) = (ramp(rows * terms, 0.25), ramp(terms * columns, 0.125));
            let expected = slow(&a, &b, (rows, terms, columns));
            let mut transposed = vec![0.0; a.len()];
            for (index, value) in a.iter().enumerate() {
                transposed[index % terms * rows + index / terms] = *value;
            }
            for a in [Strided::rows(&a, terms), Strided::transposed(&transposed, rows)] {
                let mut out = vec![1.0; rows * columns];
                add_product(&mut out, a, &Packed::new(Strided::rows(&b, columns), terms, columns));
                for (out, expected) in out.iter().zip(&expected) {
                    assert!((f64::from(*out) - 1.0 - expected).abs() < 1e-3, "{out} against {expected}");
                }
            }
        }
    }

    #[test]
    fn splitting_by_rows_changes_no_bit() {
        let (rows, terms, columns) = (10, 200, 21);
        let (a, b) = (ramp(rows * terms, 0.3), ramp(terms * columns, 0.7));
        let (a, b) = (Strided::rows(&a, terms), Packed::new(Strided::rows(&b, columns), terms, columns));
        let mut whole = vec![0.0; rows * columns];
        add_product(&mut whole, a, &b);
        let mut parts = vec![0.0; rows * columns];
        let (upper, lower) = parts.split_at_mut(3 * columns);
        add_product(upper, a, &b);
        add_product(lower, a.skip_rows(3), &b);
        assert_eq!(whole, parts);
    }
}
