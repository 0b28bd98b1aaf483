//! Pairs of columns that are left in maps of the layout `sparse`, from the specification of the format.

use super::dice::Dice;
use super::quantized::{Group, has_weight_vars};
use super::shape::MapShape;

/// Pairs that a byte can name.
const SPAN: usize = 256;

/// How a map is stored, and which pairs of columns it holds.
#[derive(Clone, Debug)]
pub struct PairLists {
    /// Form, number of pairs, reserved.
    pub head: [u32; 4],
    /// Where each list ends, in pairs; empty in a dense map, as are the indices.
    pub ends: Vec<u32>,
    /// The lists.
    pub indices: Vec<u8>,
}

impl PairLists {
    const DENSE: PairLists = PairLists { head: [0; 4], ends: Vec::new(), indices: Vec::new() };

    /// Drops pairs that are zero in all rows of a group, if the map gets shorter by it.
    pub fn compress(groups: &mut [Group], shape: &MapShape) -> Self {
        let lists: Vec<Vec<usize>> = groups.iter().map(pairs_left).collect();
        let pairs = lists.iter().map(Vec::len).sum();
        if listed_bytes(groups, shape, pairs) >= dense_bytes(groups, shape) {
            return Self::DENSE;
        }
        Self::listed(groups, shape, &lists)
    }

    fn listed(groups: &mut [Group], shape: &MapShape, lists: &[Vec<usize>]) -> Self {
        let (mut ends, mut indices) = (Vec::new(), Vec::new());
        for (group, list) in groups.iter_mut().zip(lists) {
            group.weights = kept(&group.weights, list);
            group.squares = kept(&group.squares, list);
            group.weight_vars = kept(&group.weight_vars, list);
            for span in 0..spans(shape) {
                indices.extend(list.iter().filter(|pair| **pair / SPAN == span).map(|pair| *pair as u8));
                ends.push(indices.len() as u32);
            }
        }
        PairLists { head: [1, indices.len() as u32, 0, 0], ends, indices }
    }

    /// Oversteps one of the rules.
    pub fn spoil(&mut self, dice: &mut Dice) {
        let place = |dice: &mut Dice, count: usize| dice.below(count.max(1));
        let (end, index) = (place(dice, self.ends.len()), place(dice, self.indices.len()));
        let any = dice.pick(&[0, 1, 2, 127, 128, 254, 255]);
        let far = dice.pick(&[0, 1, 256, 1 << 16, 1 << 30, u32::MAX - 1, u32::MAX]);
        match dice.below(9) {
            0 => self.head[0] = dice.pick(&[0, 1, 2, 256]),
            1 => self.head[1] = far,
            2 => self.head[dice.pick(&[2, 3])] = 1,
            3 => self.ends.iter_mut().skip(end).take(1).for_each(|end| *end = end.wrapping_add(1)),
            4 => self.ends.iter_mut().skip(end).take(1).for_each(|end| *end = end.wrapping_sub(1)),
            5 => self.ends.iter_mut().skip(end).take(1).for_each(|end| *end = far),
            6 => self.indices.iter_mut().skip(index).take(1).for_each(|byte| *byte = any),
            7 => self.indices.reverse(),
            // The last index twice, where padding leaves room for it.
            _ => self.indices.extend(self.indices.last().copied()),
        }
    }

    /// Columns that group `index` holds, of `cols` columns of which some are padding.
    pub fn columns(&self, index: usize, shape: &MapShape, cols: &[bool]) -> Option<Vec<bool>> {
        if self.head[0] == 0 {
            return Some(cols.to_vec());
        }
        let spans = spans(shape);
        let mut real = Vec::new();
        for span in 0..spans {
            let list = index * spans + span;
            let start = if list == 0 { 0 } else { *self.ends.get(list - 1)? } as usize;
            for byte in self.indices.get(start..*self.ends.get(list)? as usize)? {
                let first = 2 * (SPAN * span + usize::from(*byte));
                real.extend(cols.get(first..first + 2)?);
            }
        }
        Some(real)
    }

    /// The section of lists behind a head, and the rest.
    pub fn decode<'p>(
        head: [u32; 4],
        rest: &'p [u8],
        groups: usize,
        shape: &MapShape,
    ) -> Option<(Self, &'p [u8])> {
        if head[0] == 0 {
            return Some((Self::DENSE, rest));
        }
        let (ends, pairs) = (4 * groups * spans(shape), head[1] as usize);
        let (section, rest) = rest.split_at_checked((ends + pairs).next_multiple_of(16))?;
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let indices = section[ends..ends + pairs].to_vec();
        Some((PairLists { head, ends: section[..ends].chunks(4).map(word).collect(), indices }, rest))
    }
}

/// Lists of each group.
fn spans(shape: &MapShape) -> usize {
    let state = shape.cols - shape.inputs;
    let inputs = shape.inputs.next_multiple_of(if shape.gru_units.is_some() { 8 } else { 2 });
    ((inputs + state).next_multiple_of(8) / 2).div_ceil(SPAN)
}

fn pairs_left(group: &Group) -> Vec<usize> {
    let is_zero =
        |codes: &[[i32; 4]], pair: usize| codes.iter().skip(2 * pair).take(2).all(|column| *column == [0; 4]);
    let pairs = 0..group.weights.len() / 2;
    let streams = [&group.weights, &group.squares, &group.weight_vars];
    pairs.filter(|pair| !streams.iter().all(|codes| is_zero(codes, *pair))).collect()
}

fn kept(codes: &[[i32; 4]], list: &[usize]) -> Vec<[i32; 4]> {
    let pair = |pair: &usize| codes.iter().skip(2 * pair).take(2).copied().collect::<Vec<_>>();
    list.iter().flat_map(pair).collect()
}

fn dense_bytes(groups: &[Group], shape: &MapShape) -> usize {
    let squares = if shape.propagates { 16 } else { 0 };
    let weight_vars = if has_weight_vars(shape) { 32 } else { 0 };
    let bytes = |group: &Group| {
        4 * (group.weights.len() + group.squares.len() + group.weight_vars.len()) + 32 + squares + weight_vars
    };
    groups.iter().map(bytes).sum()
}

fn listed_bytes(groups: &[Group], shape: &MapShape, pairs: usize) -> usize {
    let groups = groups.len();
    let squares = if shape.propagates { 8 * pairs + 16 * groups } else { 0 };
    let weight_vars = if has_weight_vars(shape) { 8 * pairs + 32 * groups } else { 0 };
    [4 * groups * spans(shape) + pairs, 8 * pairs + 32 * groups, squares, weight_vars]
        .map(|bytes| bytes.next_multiple_of(16))
        .iter()
        .sum()
}
