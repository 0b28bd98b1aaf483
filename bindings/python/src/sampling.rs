//! Sampled continuations of a stream.

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use quaver::{FeedMode, Futures, Sampler};

use crate::errors::{invalid, refused};
use crate::floats::to_bytes;
use crate::handle::Handle;
use crate::random::Random;
use crate::stream::{Stream, only_for};

fn feed_mode(name: &str) -> PyResult<FeedMode> {
    match name {
        "draw" => Ok(FeedMode::Draw),
        "mean" => Ok(FeedMode::Mean),
        other => Err(invalid(format!("feed must be \"draw\" or \"mean\", found {other:?}"))),
    }
}

/// Numbers of many futures: values by step, future and channel; means and standard deviations by step and
/// channel; quantiles by level, step and channel.
#[derive(Default)]
struct Statistics {
    values: Vec<f32>,
    means: Vec<f32>,
    std_devs: Vec<f32>,
    quantiles: Vec<Vec<f32>>,
}

/// Extends `count` futures by `steps` rows. The sampler stays where it is.
fn roll_out(
    sampler: &mut Sampler<'_, '_>,
    (count, steps): (usize, usize),
    rng: &mut Random,
    feed: FeedMode,
    levels: &[f32],
) -> Result<Statistics, quaver::Error> {
    let mut words = vec![0.0; count.saturating_mul(sampler.model().future_words())];
    let mut futures = Futures::start(sampler.model(), &mut words, count)?;
    let mut found = Statistics { quantiles: vec![Vec::new(); levels.len()], ..Statistics::default() };
    for _ in 0..steps {
        futures.advance(sampler, rng, feed);
        let (model, channels) = (sampler.model(), 0..sampler.model().channels());
        let columns: Vec<Vec<f32>> =
            channels.clone().map(|channel| futures.values(model, channel).collect()).collect();
        found.values.extend((0..count).flat_map(|future| columns.iter().map(move |column| column[future])));
        for channel in channels {
            found.means.extend(futures.mean(model, channel));
            found.std_devs.extend(futures.std_dev(model, channel));
            for (level, quantiles) in levels.iter().zip(&mut found.quantiles) {
                quantiles.extend(futures.quantile(model, channel, *level));
            }
        }
    }
    Ok(found)
}

/// Rows by step and channel, each fed back.
#[pyfunction]
pub(crate) fn sample<'py>(
    py: Python<'py>,
    stream: &mut Stream,
    steps: usize,
    rng: &mut Random,
    feed: &str,
) -> PyResult<Bound<'py, PyByteArray>> {
    let feed = feed_mode(feed)?;
    let rows = py.detach(|| {
        stream.cell.with(|handle| {
            let Handle::Sampler(sampler) = handle else { return None };
            let mut rows = Vec::new();
            (0..steps).for_each(|_| rows.extend_from_slice(sampler.sample(rng, feed)));
            Some(rows)
        })
    });
    Ok(to_bytes(py, rows.ok_or_else(|| only_for("sampler", "sample"))?))
}

/// Values, means, standard deviations and quantiles of many futures.
#[pyfunction]
pub(crate) fn futures<'py>(
    py: Python<'py>,
    stream: &mut Stream,
    size: (usize, usize),
    rng: &mut Random,
    feed: &str,
    levels: Vec<f32>,
) -> PyResult<[Bound<'py, PyByteArray>; 4]> {
    let feed = feed_mode(feed)?;
    let found = py.detach(|| {
        stream.cell.with(|handle| match handle {
            Handle::Sampler(sampler) => Some(roll_out(sampler, size, rng, feed, &levels)),
            _ => None,
        })
    });
    let found = found.ok_or_else(|| only_for("sampler", "futures"))?.map_err(refused)?;
    let quantiles = found.quantiles.concat();
    Ok([found.values, found.means, found.std_devs, quantiles].map(|values| to_bytes(py, values)))
}
