//! Whole sequences, over threads, without the interpreter.

use std::sync::Mutex;
use std::thread;

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use quaver::Prediction;

use crate::errors::refused;
use crate::floats::{from_bytes, to_bytes};
use crate::handle::{AdaptSettings, Handle, Start, StreamCell, adapt_options};
use crate::model::Model;
use crate::reduce::{Class, ClassBytes};

/// Numbers of a row besides those of its outputs: surprise, novelty, score of an anomaly.
const SCORES: usize = 3;
/// Numbers of an output: mean, variance, epistemic and aleatoric variance.
const PARTS: usize = 4;
/// Parts of the work per thread: enough that the last thread does not work long alone.
const PARTS_PER_THREAD: usize = 4;

/// Divides sequences, each with its number of rows, into parts of about the same number of rows.
fn parts<T>(sequences: Vec<(usize, T)>, threads: usize) -> Vec<Vec<T>> {
    let total: usize = sequences.iter().map(|(rows, _)| rows).sum();
    let share = total.div_ceil(threads * PARTS_PER_THREAD).max(1);
    let mut parts: Vec<Vec<T>> = Vec::new();
    let mut rows_of_last = share;
    for (rows, sequence) in sequences {
        if rows_of_last >= share {
            parts.push(Vec::new());
            rows_of_last = 0;
        }
        rows_of_last += rows;
        parts.last_mut().expect("the first part was made").push(sequence);
    }
    parts
}

/// Runs `work` on every sequence, each with a stream that has read nothing, and returns when all are done.
fn for_each_sequence<T: Send>(
    model: &Model,
    start: Start,
    sequences: Vec<(usize, T)>,
    threads: usize,
    work: impl Fn(&mut Handle<'_>, T) + Sync,
) -> Result<(), quaver::Error> {
    // Whatever keeps a stream from starting is reported before any work.
    StreamCell::start(model, start)?;
    let parts = Mutex::new(parts(sequences, threads));
    let next_part = || parts.lock().expect("no thread panics while it takes a part").pop();
    let work_on_parts = || -> Result<(), quaver::Error> {
        while let Some(part) = next_part() {
            let mut stream = StreamCell::start(model, start)?;
            for sequence in part {
                // What an output layer has learned would stay after a reset.
                if matches!(start, Start::Adaptive(_)) {
                    stream = StreamCell::start(model, start)?;
                }
                stream.with(|handle| {
                    handle.reset();
                    work(handle, sequence);
                });
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system starts no more threads, those that there are do all of it.
            drop(thread::Builder::new().spawn_scoped(scope, work_on_parts));
        }
        work_on_parts()
    })
}

fn write_record(prediction: &Prediction<'_>, record: &mut [f32]) {
    let (outputs, scores) = record.split_at_mut(record.len() - SCORES);
    let width = outputs.len() / PARTS;
    for (index, output) in prediction.iter().enumerate() {
        let parts = [output.mean, output.variance, output.epistemic, output.aleatoric];
        parts.iter().enumerate().for_each(|(part, value)| outputs[part * width + index] = *value);
    }
    scores[0] = prediction.surprise().map_or(f32::NAN, |surprise| surprise.nll);
    scores[1] = prediction.novelty().map_or(f32::NAN, |novelty| novelty.distance);
    scores[2] = prediction.anomaly().map_or(f32::NAN, |anomaly| anomaly.score);
}

/// Reads a sequence row by row, writes a record of each prediction, and then learns from the label, if there
/// are any.
fn follow(
    handle: &mut Handle<'_>,
    [rows, labels]: [&[f32]; 2],
    inputs: usize,
    records: &mut [f32],
    width: usize,
) {
    let outputs = (width - SCORES) / PARTS;
    for (index, (row, record)) in rows.chunks_exact(inputs).zip(records.chunks_exact_mut(width)).enumerate() {
        if let Some(prediction) = handle.step(row, &[]) {
            write_record(&prediction, record);
        }
        if let (Handle::Adaptive(predictor), Some(label)) = (&mut *handle, labels.get(index * outputs..)) {
            predictor.learn(&label[..outputs.min(label.len())]);
        }
    }
}

/// Records of the predictions of all rows, sequence after sequence: of each row mean, variance, epistemic and
/// aleatoric variance of all outputs, then surprise, novelty and score of an anomaly; NaN where there is
/// none.
#[pyfunction]
#[pyo3(signature = (model, rows, lengths, threads, adapt=None))]
pub(crate) fn predict<'py>(
    py: Python<'py>,
    model: &Model,
    rows: &[u8],
    lengths: Vec<usize>,
    threads: usize,
    adapt: Option<(AdaptSettings, Vec<u8>)>,
) -> PyResult<Bound<'py, PyByteArray>> {
    let (start, labels) = match adapt {
        Some((settings, labels)) => (Start::Adaptive(adapt_options(settings)?), from_bytes(&labels)),
        None => (Start::Plain, Vec::new()),
    };
    let records = py.detach(|| {
        let rows = from_bytes(rows);
        let width = PARTS * model.outputs + SCORES;
        let mut records = vec![f32::NAN; lengths.iter().sum::<usize>() * width];
        let (mut rows_left, mut labels_left, mut records_left) = (&rows[..], &labels[..], &mut records[..]);
        let mut sequences = Vec::new();
        for length in lengths {
            let (sequence, later) = rows_left.split_at((length * model.inputs).min(rows_left.len()));
            let (truth, truth_later) = labels_left.split_at((length * model.outputs).min(labels_left.len()));
            let (written, unwritten) = std::mem::take(&mut records_left).split_at_mut(length * width);
            (rows_left, labels_left, records_left) = (later, truth_later, unwritten);
            sequences.push((length, ([sequence, truth], written)));
        }
        for_each_sequence(model, start, sequences, threads, |handle, (values, records)| {
            follow(handle, values, model.inputs, records, width);
        })?;
        Ok(records)
    });
    Ok(to_bytes(py, records.map_err(refused)?))
}

/// Means and variances of the embeddings of whole sequences, and their classes.
#[pyfunction]
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    model: &Model,
    rows: &[u8],
    lengths: Vec<usize>,
    threads: usize,
) -> PyResult<(Bound<'py, PyByteArray>, Vec<Option<ClassBytes<'py>>>)> {
    let (embeddings, classes) = py
        .detach(|| {
            let rows = from_bytes(rows);
            let mut embeddings = vec![f32::NAN; lengths.len() * 2 * model.outputs];
            let mut classes: Vec<Option<Class>> = lengths.iter().map(|_| None).collect();
            let (mut left, mut sequences) = (&rows[..], Vec::new());
            let results = embeddings.chunks_exact_mut((2 * model.outputs).max(1)).zip(&mut classes);
            for (length, result) in lengths.iter().zip(results) {
                let (sequence, later) = left.split_at((length * model.inputs).min(left.len()));
                left = later;
                sequences.push((*length, (sequence, result)));
            }
            for_each_sequence(
                model,
                Start::Plain,
                sequences,
                threads,
                |handle, (rows, (embedding, class))| {
                    rows.chunks_exact(model.inputs).for_each(|row| {
                        handle.step(row, &[]);
                    });
                    let Handle::Reducer(reducer) = handle else { return };
                    if let Some(found) = reducer.embedding() {
                        let numbers = found.mean.iter().chain(found.var);
                        embedding.iter_mut().zip(numbers).for_each(|(word, value)| *word = *value);
                    }
                    *class = reducer.classify().map(Class::from);
                },
            )?;
            Ok((embeddings, classes))
        })
        .map_err(refused)?;
    let classes = classes.into_iter().map(|class| class.map(|class| class.for_python(py))).collect();
    Ok((to_bytes(py, embeddings), classes))
}
