//! Affine maps of the quantized layouts, from the specification of the format.

use quaver::checkpoint::Layout;

use super::dice::{Dice, Style};
use super::frame::pad;
use super::pairs::PairLists;
use super::shape::MapShape;

/// One map: scales that all rows share, and its groups of four rows.
#[derive(Clone, Debug)]
pub struct QuantizedMap {
    /// Codes per unit, largest code of an input, bits of variances, exponent.
    pub params: [u32; 4],
    /// Of weight variances: bits of squared means, exponent, shift of the variances of biases, 0.
    pub weight_var_params: [u32; 4],
    /// Groups of four rows.
    pub groups: Vec<Group>,
    /// Pairs of columns that the groups hold; in the layout `sparse` alone.
    pub lists: Option<PairLists>,
}

/// Four rows. Codes are column by column, padding included.
#[derive(Clone, Debug)]
pub struct Group {
    /// Codes of weights.
    pub weights: Vec<[i32; 4]>,
    /// Biases.
    pub biases: [i32; 4],
    /// Scales of means.
    pub mean_scales: [i32; 4],
    /// Codes of squares; empty unless they are stored.
    pub squares: Vec<[i32; 4]>,
    /// Scales of variances.
    pub var_scales: [i32; 4],
    /// Codes of weight variances; empty without weight variances.
    pub weight_vars: Vec<[i32; 4]>,
    /// Scales of weight variances.
    pub weight_var_scales: [i32; 4],
    /// Variances of biases.
    pub bias_vars: [i32; 4],
}

/// Which rows and columns of a group are not padding.
#[derive(Clone, Debug)]
struct GroupShape {
    rows: usize,
    cols: Vec<bool>,
}

fn groups(shape: &MapShape) -> Vec<GroupShape> {
    let state = shape.cols - shape.inputs;
    let real = |count: usize, width: usize| (0..width).map(move |col| col < count);
    let Some(units) = shape.gru_units else {
        let inputs = shape.inputs.next_multiple_of(2);
        let width = (inputs + state).next_multiple_of(8);
        let cols: Vec<bool> = real(shape.inputs, inputs).chain(real(state, width - inputs)).collect();
        let rows = (0..shape.rows).step_by(4).map(|first| (shape.rows - first).min(4));
        return rows.map(|rows| GroupShape { rows, cols: cols.clone() }).collect();
    };
    let (inputs, width) = (shape.inputs.next_multiple_of(8), state.next_multiple_of(8));
    let from_input: Vec<bool> = real(shape.inputs, inputs).collect();
    let from_state: Vec<bool> = real(state, width).collect();
    let all = [from_input.clone(), from_state.clone()].concat();
    let fours = (0..units).step_by(4).map(|first| (units - first).min(4));
    fours
        .flat_map(|rows| [&all, &all, &from_input, &from_state].map(|cols| (rows, cols.clone())))
        .map(|(rows, cols)| GroupShape { rows, cols })
        .collect()
}

/// Whether squares of weights have bytes of their own.
fn stores_squares(shape: &MapShape) -> bool {
    matches!(shape.layout, Layout::Fast | Layout::Sparse)
}

/// Sums of a row's squares times 2^bits stay within this.
fn square_limit(shape: &MapShape) -> u64 {
    if stores_squares(shape) { (1 << 23) - 1 } else { (1 << 31) - 1 }
}

/// A map with numbers at their bounds.
pub fn craft(shape: &MapShape, dice: &mut Dice) -> QuantizedMap {
    let (weight_style, square_style, scale_style) = (dice.style(), dice.style(), dice.style());
    let stores_squares = shape.propagates && stores_squares(shape);
    let varied = has_weight_vars(shape);
    let var_scale_limit = if varied { (1 << 30) - 1 } else { i32::MAX.into() };
    let mut groups: Vec<Group> = groups(shape)
        .iter()
        .map(|group| Group {
            weights: codes(group, dice, [-127, 127], weight_style),
            biases: row_words(group, dice, [1 - (1 << 29), (1 << 29) - 1], scale_style),
            mean_scales: row_words(group, dice, [i32::MIN.into(), i32::MAX.into()], scale_style),
            squares: if stores_squares { codes(group, dice, [0, 127], square_style) } else { Vec::new() },
            var_scales: if shape.propagates {
                row_words(group, dice, [0, var_scale_limit], scale_style)
            } else {
                [0; 4]
            },
            weight_vars: if varied { codes(group, dice, [0, 127], square_style) } else { Vec::new() },
            weight_var_scales: row_words_if(varied, group, dice, (1 << 29) - 1, scale_style),
            bias_vars: row_words_if(varied, group, dice, (1 << 28) - 1, scale_style),
        })
        .collect();
    let is_sparse = shape.layout == Layout::Sparse;
    if is_sparse {
        prune(&mut groups, dice);
    }
    let bits = variance_bits(shape, &groups, dice);
    let exponent = dice.integer([(38 - bits).clamp(20, 34), 34], Style::Mixed);
    let params = [
        dice.number([1.0, 16383.0], Style::Mixed).to_bits(),
        dice.integer([0, 32767], Style::Mixed) as u32,
        bits as u32,
        exponent as u32,
    ];
    let weight_var_params = if varied { weight_var_params(&groups, params[0], dice) } else { [0; 4] };
    let mut lists = is_sparse.then(|| PairLists::compress(&mut groups, shape));
    if let Some(lists) = lists.as_mut().filter(|_| dice.oversteps()) {
        lists.spoil(dice);
    }
    QuantizedMap { params, weight_var_params, groups, lists }
}

/// Sets pairs of columns to zero: all, some or none.
fn prune(groups: &mut [Group], dice: &mut Dice) {
    let every = dice.pick(&[1, 2, 5, 50, 1_000_000]);
    for Group { weights, squares, weight_vars, .. } in groups {
        for pair in 0..weights.len() / 2 {
            if dice.below(every) == 0 {
                continue;
            }
            for codes in [&mut *weights, &mut *squares, &mut *weight_vars] {
                // What is left in one of them keeps the pair.
                let columns = if dice.oversteps() { 1 } else { 2 };
                codes.iter_mut().skip(2 * pair).take(columns).for_each(|codes| *codes = [0; 4]);
            }
        }
    }
}

/// Whether the section of weight variances is there.
pub(super) fn has_weight_vars(shape: &MapShape) -> bool {
    shape.weight_variance && shape.propagates
}

/// Scales of weight variances at and beyond their bounds: squares of the codes of units, `unit` codes each,
/// must fit 2^(bits + exponent − 20).
fn weight_var_params(groups: &[Group], unit: u32, dice: &mut Dice) -> [u32; 4] {
    let row_sum = |group: &Group, row: usize| -> u64 {
        group.weight_vars.iter().map(|codes| u64::from(codes[row].unsigned_abs())).sum()
    };
    let bits = bits_for(largest_sum(groups, row_sum), (1 << 23) - 1, dice);
    let unit = f64::from(f32::from_bits(unit)).clamp(1.0, 16383.0);
    let least = 20 + (unit * unit).log2().ceil() as i64 - bits;
    let exponent = dice.integer([least.clamp(22, 53), 53], Style::Mixed);
    let reserved = u32::from(dice.oversteps());
    [bits as u32, exponent as u32, dice.integer([0, 12], Style::Mixed) as u32, reserved]
}

/// Bits of variances for the sums of squares.
fn variance_bits(shape: &MapShape, groups: &[Group], dice: &mut Dice) -> i64 {
    let row_sum = |group: &Group, row: usize| -> u64 {
        let stored = group.squares.iter().map(|codes| u64::from(codes[row].unsigned_abs()));
        let squared = group.weights.iter().map(|codes| u64::from(codes[row].pow(2).unsigned_abs()));
        if stores_squares(shape) { stored.sum() } else { squared.sum() }
    };
    bits_for(largest_sum(groups, row_sum), square_limit(shape), dice)
}

fn largest_sum(groups: &[Group], row_sum: impl Fn(&Group, usize) -> u64) -> u64 {
    groups.iter().flat_map(|group| (0..4).map(|row| row_sum(group, row))).max().unwrap_or(0)
}

/// As many bits as a largest sum leaves room for within a limit, or fewer; at times one too many.
fn bits_for(largest: u64, limit: u64, dice: &mut Dice) -> i64 {
    let room = (limit / largest.max(1)).max(1).ilog2().min(14);
    if dice.oversteps() {
        return i64::from(room) + 1;
    }
    match dice.below(4) {
        0 => dice.integer([4, 14], Style::Mixed),
        // One bit too many is refused, or wraps around.
        1 => (i64::from(room) + 1).min(14),
        _ => i64::from(room),
    }
}

fn codes(group: &GroupShape, dice: &mut Dice, range: [i64; 2], style: Style) -> Vec<[i32; 4]> {
    let mut column = |real: bool| {
        [0, 1, 2, 3].map(|row| match real && row < group.rows {
            true => dice.integer(range, style).clamp(-127, 127) as i32,
            false => i32::from(dice.oversteps()),
        })
    };
    group.cols.iter().map(|real| column(*real)).collect()
}

fn row_words(group: &GroupShape, dice: &mut Dice, range: [i64; 2], style: Style) -> [i32; 4] {
    [0, 1, 2, 3].map(|row| match row < group.rows {
        true => dice.integer(range, style) as i32,
        false => i32::from(dice.oversteps()),
    })
}

/// Words from 0 to `limit` for the rows of a group; zeros if there are none.
fn row_words_if(present: bool, group: &GroupShape, dice: &mut Dice, limit: i64, style: Style) -> [i32; 4] {
    if present { row_words(group, dice, [0, limit], style) } else { [0; 4] }
}

/// The bytes of a map.
pub fn encode(map: &QuantizedMap, shape: &MapShape) -> Vec<u8> {
    let mut bytes: Vec<u8> = map.params.iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Some(PairLists { head, ends, indices }) = &map.lists {
        bytes.extend(head.iter().chain(ends).flat_map(|word| word.to_le_bytes()));
        bytes.extend(indices);
        pad(&mut bytes);
    }
    for group in &map.groups {
        blocks(&mut bytes, &group.weights);
        words(&mut bytes, group.biases);
        words(&mut bytes, group.mean_scales);
    }
    pad(&mut bytes);
    if shape.propagates {
        for group in &map.groups {
            blocks(&mut bytes, &group.squares);
            words(&mut bytes, group.var_scales);
        }
    }
    pad(&mut bytes);
    if has_weight_vars(shape) {
        words(&mut bytes, map.weight_var_params.map(|word| word as i32));
        for group in &map.groups {
            blocks(&mut bytes, &group.weight_vars);
            words(&mut bytes, group.weight_var_scales);
            words(&mut bytes, group.bias_vars);
        }
    }
    bytes
}

fn words(bytes: &mut Vec<u8>, words: [i32; 4]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn blocks(bytes: &mut Vec<u8>, columns: &[[i32; 4]]) {
    for pair in columns.chunks(2) {
        for rows in [0, 2] {
            for column in pair {
                bytes.extend(((256 * column[rows] + column[rows + 1]) as i16).to_le_bytes());
            }
        }
    }
}

/// The map at the start of a payload, without what is in its padding, and the rest.
pub fn decode<'p>(payload: &'p [u8], shape: &MapShape) -> Option<(QuantizedMap, &'p [u8])> {
    let mut rest = payload;
    let params = read_words(&mut rest)?.map(|word| word as u32);
    let mut map = QuantizedMap { params, weight_var_params: [0; 4], groups: Vec::new(), lists: None };
    let mut shapes = groups(shape);
    if shape.layout == Layout::Sparse {
        let head = read_words(&mut rest)?.map(|word| word as u32);
        let (lists, behind) = PairLists::decode(head, rest, shapes.len(), shape)?;
        for (index, group) in shapes.iter_mut().enumerate() {
            group.cols = lists.columns(index, shape, &group.cols)?;
        }
        (map.lists, rest) = (Some(lists), behind);
    }
    for group in &shapes {
        map.groups.push(Group {
            weights: read_codes(&mut rest, group)?,
            biases: read_rows(&mut rest, group)?,
            mean_scales: read_rows(&mut rest, group)?,
            squares: Vec::new(),
            var_scales: [0; 4],
            weight_vars: Vec::new(),
            weight_var_scales: [0; 4],
            bias_vars: [0; 4],
        });
    }
    skip_padding(payload, &mut rest)?;
    if shape.propagates {
        for (group, shape_of_group) in map.groups.iter_mut().zip(&shapes) {
            if stores_squares(shape) {
                group.squares = read_codes(&mut rest, shape_of_group)?;
            }
            group.var_scales = read_rows(&mut rest, shape_of_group)?;
        }
    }
    skip_padding(payload, &mut rest)?;
    if has_weight_vars(shape) {
        map.weight_var_params = read_words(&mut rest)?.map(|word| word as u32);
        for (group, shape_of_group) in map.groups.iter_mut().zip(&shapes) {
            group.weight_vars = read_codes(&mut rest, shape_of_group)?;
            group.weight_var_scales = read_rows(&mut rest, shape_of_group)?;
            group.bias_vars = read_rows(&mut rest, shape_of_group)?;
        }
    }
    skip_padding(payload, &mut rest)?;
    Some((map, rest))
}

/// Goes on to the next multiple of 16 bytes of the payload.
fn skip_padding(payload: &[u8], rest: &mut &[u8]) -> Option<()> {
    let read = payload.len() - rest.len();
    *rest = rest.get(read.next_multiple_of(16) - read..)?;
    Some(())
}

fn read_words(rest: &mut &[u8]) -> Option<[i32; 4]> {
    let (bytes, left) = rest.split_at_checked(16)?;
    *rest = left;
    let mut words = bytes.chunks(4).map(|word| i32::from_le_bytes(word.try_into().expect("four bytes")));
    Some([(); 4].map(|()| words.next().expect("four words")))
}

fn read_rows(rest: &mut &[u8], group: &GroupShape) -> Option<[i32; 4]> {
    let words = read_words(rest)?;
    Some([0, 1, 2, 3].map(|row| if row < group.rows { words[row] } else { 0 }))
}

fn read_codes(rest: &mut &[u8], group: &GroupShape) -> Option<Vec<[i32; 4]>> {
    let (bytes, left) = rest.split_at_checked(4 * group.cols.len())?;
    *rest = left;
    let mut columns = Vec::new();
    for pairs in bytes.chunks(8) {
        let pair = |place: usize| {
            let pair = i16::from_le_bytes([pairs[2 * place], pairs[2 * place + 1]]);
            let lower = i32::from(pairs[2 * place] as i8);
            [(i32::from(pair) - lower) >> 8, lower]
        };
        let [first, second, third, fourth] = [0, 1, 2, 3].map(pair);
        columns.push([first[0], first[1], third[0], third[1]]);
        columns.push([second[0], second[1], fourth[0], fourth[1]]);
    }
    for (codes, real) in columns.iter_mut().zip(&group.cols) {
        for (row, code) in codes.iter_mut().enumerate() {
            *code = if *real && row < group.rows { *code } else { 0 };
        }
    }
    Some(columns)
}
