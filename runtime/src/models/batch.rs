//! One step of many streams of one model.

use core::borrow::BorrowMut;
use core::marker::PhantomData;

use super::emitter::Emitter;
use super::input::RawRow;
use super::model::Model;
use super::row_step::RowStep;
use super::state::State;
use crate::backend;
use crate::lanes::{LANES, Lanes, States, StreamLanes};
use crate::limits::UNIT_LIMIT;
use crate::moments::Moments;
use crate::step_io::{InputPairs, StepIo};

/// Fewer streams than this are faster one by one.
const WORTHWHILE: usize = LANES / 2;

impl Model<'_> {
    /// Words of memory with which [`step_batch`](Self::step_batch) runs streams side by side; 0 for a model
    /// whose streams it steps one by one.
    pub fn batch_words(&self) -> usize {
        backend::batch_words(self.spec()).unwrap_or(0)
    }

    /// Reads one row for each of many streams, and predicts for each: the bits of a [`step`](Self::step) of
    /// every stream, in less time. For servers, evaluation and Monte Carlo.
    ///
    /// `rows` holds the rows one after the other, that of the first stream first. Sixteen streams share the
    /// vectors of a host, whatever the layout of the model and the sizes of its layers. On a microcontroller
    /// streams of a quantized model are stepped one by one, by its kernels. Streams are ordinary ones, before
    /// and after: any of them may also be stepped alone, reset, saved or restored, and `streams` may be
    /// references to some of many.
    ///
    /// `memory` has [`batch_words`](Self::batch_words) words and is used during the call alone. With fewer,
    /// streams are stepped one by one.
    ///
    /// ```
    /// # static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvr");
    /// use quaver::Model;
    ///
    /// let model = Model::load(MODEL)?;
    /// let words = model.spec().arena_words();
    /// let (mut arenas, mut memory) = (vec![0.0; 1000 * words], vec![0.0; model.batch_words()]);
    /// let mut streams: Vec<_> =
    ///     arenas.chunks_exact_mut(words).map(|arena| model.start_in(arena)).collect::<Result<_, _>>()?;
    ///
    /// let rows = vec![10.0; 1000 * 8]; // eight channels of each stream
    /// model.step_batch(&mut streams, &rows, &mut memory);
    /// let force = model.prediction(&streams[999]).get(0).expect("one output");
    /// # let mut alone = vec![0.0; words];
    /// # let mut alone = model.start_in(&mut alone)?;
    /// # assert_eq!(force, model.step(&mut alone, &[10.0; 8]).get(0).expect("one output"));
    /// # Ok::<(), quaver::Error>(())
    /// ```
    pub fn step_batch<'a>(
        &self,
        streams: &mut [impl BorrowMut<State<'a>>],
        rows: &[f32],
        memory: &mut [f32],
    ) {
        self.step_batch_uncertain(streams, rows, &[], memory);
    }

    /// Like [`step_batch`](Self::step_batch), for rows whose values are themselves uncertain: one variance
    /// per value, in squared raw units, or none at all.
    pub fn step_batch_uncertain<'a>(
        &self,
        streams: &mut [impl BorrowMut<State<'a>>],
        rows: &[f32],
        vars: &[f32],
        memory: &mut [f32],
    ) {
        let width = usize::from(self.spec().inputs);
        let fits = backend::batch_words(self.spec()).is_some_and(|words| words <= memory.len());
        let (mut rows, mut vars) = (rows, vars);
        for streams in streams.chunks_mut(LANES) {
            let block = [&mut rows, &mut vars].map(|list| take(list, width * streams.len()));
            if !fits || streams.len() < WORTHWHILE {
                self.step_each(streams, block);
                continue;
            }
            let mut block =
                Block { model: self, streams, states: PhantomData, rows: block[0], vars: block[1] };
            backend::batch_step(self.spec(), self.held.parts.weights, memory, &mut block);
        }
    }

    /// Steps streams one by one.
    fn step_each<'a>(&self, streams: &mut [impl BorrowMut<State<'a>>], [mut rows, mut vars]: [&[f32]; 2]) {
        let width = usize::from(self.spec().inputs);
        for stream in streams {
            let [row, var] = [&mut rows, &mut vars].map(|list| take(list, width));
            self.step_uncertain(stream.borrow_mut(), row, var);
        }
    }
}

/// What is done with a stream of a block.
impl Model<'_> {
    /// Everything before the network reads a row; returns whether the row is plain.
    fn prepare(&self, state: &mut State<'_>, mean: &[f32], var: &[f32]) -> bool {
        let mut implausible = core::mem::take(&mut state.outputs.implausible);
        let row = RawRow::new(mean, var, self.check_row(mean, &mut implausible));
        self.examine(state, &row);
        let is_plain = row.is_plain();
        state.outputs.implausible = implausible;
        is_plain
    }

    /// Reads the inputs of one stream, whatever they are.
    fn read_lane(
        &self,
        state: &mut State<'_>,
        (mean, var): (&[f32], &[f32]),
        lane: usize,
        [means, vars]: [&mut [Lanes]; 2],
    ) {
        let State { outputs, row: standardised, .. } = state;
        let implausible = core::mem::take(&mut outputs.implausible);
        let row = RawRow::new(mean, var, implausible.channels());
        let emitter = Emitter::new(&self.held, outputs.slices());
        let step = RowStep { row: Some(&row), imputed: standardised.view(), emitter };
        let pairs = (0..means.len().div_ceil(2)).flat_map(|pair| step.any(pair));
        for ((means, vars), input) in means.iter_mut().zip(vars).zip(pairs) {
            let Moments { mean, var } = input;
            for (lanes, value) in [(means, mean), (vars, var)] {
                if let Some(place) = lanes.get_mut(lane) {
                    *place = value;
                }
            }
        }
        outputs.implausible = implausible;
    }

    /// Everything after the network has read a row.
    fn finish(
        &self,
        state: &mut State<'_>,
        (mean, var): (&[f32], &[f32]),
        rows: impl Iterator<Item = Moments>,
    ) {
        let implausible = core::mem::take(&mut state.outputs.implausible);
        let row = RawRow::new(mean, var, implausible.channels());
        self.emit(state, Some(&row), |step, _, _| rows.for_each(|row| step.output(row)));
        state.outputs.implausible = implausible;
    }
}

/// The next numbers of a list, at most `count`.
fn take<'r>(list: &mut &'r [f32], count: usize) -> &'r [f32] {
    let (next, rest) = list.split_at_checked(count).unwrap_or((list, &[]));
    *list = rest;
    next
}

/// Streams that share vectors, with a row for each.
struct Block<'b, 'm, 'a, S> {
    model: &'b Model<'m>,
    streams: &'b mut [S],
    /// What a stream borrows.
    states: PhantomData<&'b State<'a>>,
    /// Rows of all streams, and their variances.
    rows: &'b [f32],
    vars: &'b [f32],
}

impl<'a, S: BorrowMut<State<'a>>> StreamLanes for Block<'_, '_, 'a, S> {
    fn inputs(&mut self, [means, vars]: [&mut [Lanes]; 2]) {
        let Block { model, .. } = *self;
        // As if all rows were plain; those that are not are flagged and read once more.
        means.fill([0.0; LANES]);
        vars.fill([0.0; LANES]);
        let width = usize::from(model.spec().inputs);
        let (mut rows, mut row_vars) = (self.rows, self.vars);
        let mut plain = [true; LANES];
        for (lane, (stream, plain)) in self.streams.iter_mut().zip(&mut plain).enumerate() {
            let [row, var] = [&mut rows, &mut row_vars].map(|list| take(list, width));
            *plain = model.prepare(stream.borrow_mut(), row, var) && row.len() == width;
            for (lanes, value) in means.iter_mut().zip(row) {
                if let Some(place) = lanes.get_mut(lane) {
                    *place = *value;
                }
            }
        }
        let within = standardise(means, model);
        let (mut rows, mut row_vars) = (self.rows, self.vars);
        for (lane, (stream, plain)) in self.streams.iter_mut().zip(plain).enumerate() {
            let [row, var] = [&mut rows, &mut row_vars].map(|list| take(list, width));
            if !plain || !within.get(lane).is_some_and(|within| *within) {
                model.read_lane(stream.borrow_mut(), (row, var), lane, [&mut *means, &mut *vars]);
            }
        }
    }

    fn recurrent(&mut self) -> States<'_> {
        let mut streams = self.streams.iter_mut();
        [(); LANES].map(|_| match streams.next() {
            Some(stream) => {
                let state: &mut State<'a> = stream.borrow_mut();
                &mut *state.recurrent
            }
            None => &mut [],
        })
    }

    fn outputs(&mut self, [means, vars]: [&[Lanes]; 2]) {
        let (mut rows, mut row_vars) = (self.rows, self.vars);
        let width = usize::from(self.model.spec().inputs);
        for (lane, stream) in self.streams.iter_mut().enumerate() {
            let [row, var] = [&mut rows, &mut row_vars].map(|list| take(list, width));
            let at = |lanes: &Lanes| lanes.get(lane).copied().unwrap_or(0.0);
            let outputs = means.iter().zip(vars).map(|(mean, var)| Moments { mean: at(mean), var: at(var) });
            self.model.finish(stream.borrow_mut(), (row, var), outputs);
        }
    }
}

/// Standardises the values of all streams; returns which have only values within the limits of inputs.
fn standardise(values: &mut [Lanes], model: &Model<'_>) -> [bool; LANES] {
    let mut largest = [0; LANES];
    let parts = &model.held.parts;
    let scales = parts.input_mean.iter().zip(parts.input_std_dev.iter());
    for (lanes, (mean, std_dev)) in values.iter_mut().zip(scales) {
        for (value, largest) in lanes.iter_mut().zip(&mut largest) {
            *value = (*value - mean) / std_dev;
            // Magnitudes are in the order of their bits, with infinities and NaN at the end.
            *largest = value.abs().to_bits().max(*largest);
        }
    }
    largest.map(|largest| largest < UNIT_LIMIT.to_bits())
}
