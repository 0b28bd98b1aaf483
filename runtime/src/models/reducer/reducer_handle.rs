//! Online reduction of sequences to points and classes.

use super::classification::{Classification, Embedding};
use super::model::ReducerModel;
use super::state::ReducerState;
use super::taught::Taught;
use crate::arena::Arena;
use crate::format::{Error, Part};
use crate::models::handle::{loading, state_methods};
use crate::spec::{ClassifierSpec, MAX_WIDTH};

/// A reducer with one stream: rows in, one uncertain point out, and its class.
///
/// The network reads rows as a [`Predictor`](crate::Predictor) does, missing channels and plausible ranges
/// included. After each row its units or outputs are added to a pool, whose memory does not grow. At any time
/// the pool is an [`Embedding`], a mean and a variance for each component, and that a [`Classification`]:
/// probabilities of the classes, and whether it is any of them.
///
/// The checkpoint's [`Window`](crate::checkpoint::Window) decides how far back the pool reaches: to
/// [`begin`](Self::begin), for sequences that somebody cuts out, or over a stream without end, with
/// exponential forgetting or as a ring of sub-pools. In all cases there is an answer after every row.
///
/// ```
/// use quaver::{Arena, Reducer};
///
/// // Two muscles of a forearm, a window of 50 rows, three gestures.
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../../examples/reducer.qvr");
///
/// let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
/// let mut memory = [0.0; 3 + 1 + 2 * 3]; // one new class, two examples
/// let mut reducer = Reducer::load(MODEL, &mut arena)?.teach_in(&mut memory, 1)?;
///
/// (0..50).for_each(|_| reducer.step(&[86.0, 27.0])); // µV; NaN for an electrode that has come off
/// let gesture = reducer.classify().expect("rows were read");
/// assert_eq!((gesture.name(), gesture.known), (Some("fist"), true));
/// assert!(gesture.probability() > 0.99);
///
/// (0..50).for_each(|_| reducer.step(&[95.0, 90.0])); // both muscles at once
/// assert!(!reducer.classify().expect("rows were read").known, "none of these");
/// reducer.teach(3); // no training: the embedding becomes a prototype
/// let gesture = reducer.classify().expect("rows were read");
/// assert_eq!((gesture.class, gesture.known), (3, true));
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Debug)]
pub struct Reducer<'m, 'a> {
    model: ReducerModel<'m>,
    state: ReducerState<'a>,
    taught: Option<Taught<'a>>,
}

impl<'m, 'a> Reducer<'m, 'a> {
    loading!(ReducerModel);

    fn start(model: ReducerModel<'m>, words: &'a mut [f32]) -> Result<Self, Error> {
        let state = model.start(words)?;
        Ok(Reducer { model, state, taught: None })
    }

    /// Begins a sequence: forgets all rows, and keeps what was taught.
    pub fn begin(&mut self) {
        self.model.reset(&mut self.state);
    }

    /// Reads one row in raw units and adds it to the pool. Missing and implausible channels are those of
    /// [`Model::step`](crate::Model::step).
    pub fn step(&mut self, row: &[f32]) {
        self.model.step(&mut self.state, row, &[]);
    }

    /// Like [`step`](Self::step), for a row whose values are themselves uncertain: one variance per channel,
    /// in squared raw units.
    pub fn step_uncertain(&mut self, mean: &[f32], var: &[f32]) {
        self.model.step(&mut self.state, mean, var);
    }

    /// The embedding of the rows in the window; `None` before the first.
    pub fn embedding(&mut self) -> Option<Embedding<'_>> {
        let any = self.model.embed(&mut self.state);
        any.then_some(Embedding { mean: self.state.mean, var: self.state.var })
    }

    /// The class of the rows in the window; `None` before the first, without a classifier, and without any
    /// prototype.
    pub fn classify(&mut self) -> Option<Classification<'_>> {
        let Reducer { model, state, taught } = self;
        if !model.embed(state) {
            return None;
        }
        model.classify(state, taught)
    }

    /// Number of implausible values since the sequence began; see
    /// [`Model::implausible_count`](crate::Model::implausible_count).
    pub fn implausible_count(&self) -> u32 {
        self.model.network().implausible_count(&self.state.network)
    }

    /// Provides memory for prototypes that are [taught](Self::teach), and for `new_classes` classes beyond
    /// those of the checkpoint: one word for each class, new and old, and one more than
    /// [dimensions](ReducerModel::dimensions) for each prototype; as many as fit.
    ///
    /// # Errors
    /// If there is not room for one prototype, if there would be more than 4096 classes, or if the checkpoint
    /// does not tell classes apart by prototypes.
    pub fn teach_in(self, words: &'a mut [f32], new_classes: u16) -> Result<Self, Error> {
        let nearest = matches!(self.model.spec().classifier, ClassifierSpec::Nearest { .. });
        let invalid = |field, allowed| Error::Invalid { part: Part::Classifier, field, allowed };
        if !nearest {
            return Err(invalid("classifier", "nearest prototypes to be taught"));
        }
        let classes = self.model.classes() + usize::from(new_classes);
        if classes > MAX_WIDTH.into() {
            return Err(invalid("classes", "at most 4096 with those to be taught"));
        }
        let (needed, found) = (classes + self.model.dimensions() + 1, words.len());
        match Taught::carve(words, classes).filter(|_| needed <= found) {
            Some(taught) => Ok(Reducer { taught: Some(taught), ..self }),
            None => Err(Error::Arena { needed, found }),
        }
    }

    /// Teaches that the sequence just read is an example of a class: its embedding becomes a prototype.
    /// Nothing is trained. Classes from the number of the checkpoint's on are new ones.
    ///
    /// `false` if nothing was taught: no row has been read, there is no such class, or no memory
    /// ([`teach_in`](Self::teach_in)) is left.
    pub fn teach(&mut self, class: usize) -> bool {
        let any = self.model.embed(&mut self.state);
        match &mut self.taught {
            Some(taught) if any => taught.add(class, self.state.mean),
            _ => false,
        }
    }

    /// What was taught, to be stored and [restored](Self::restore_taught) later: for each prototype its
    /// class, as a number, and its components.
    pub fn taught(&self) -> &[f32] {
        self.taught.as_ref().map_or(&[], |taught| taught.words())
    }

    /// Takes over what was [taught](Self::taught) before, with this checkpoint, and forgets what was taught
    /// since; `false`, without a change, if it cannot be that, or there is no room.
    pub fn restore_taught(&mut self, words: &[f32]) -> bool {
        let dims = self.model.dimensions();
        self.taught.as_mut().is_some_and(|taught| taught.restore(words, dims))
    }

    /// Forgets what was taught.
    pub fn forget_taught(&mut self) {
        self.taught.iter_mut().for_each(Taught::clear);
    }

    state_methods!(ReducerModel<'m>, "[`ReducerModel::saved_words`]");
}
