mod damage;
mod round_trip;
mod text;

use std::string::String;
use std::vec::Vec;

use crate::{Channel, Decoder, Encoder, Item, Sample, sample_bytes};

/// A sample with numbers that follow from its index.
fn numbered(index: u32) -> Sample<Vec<f32>> {
    let value = |offset: u32| (index * 10 + offset) as f32;
    Sample {
        time_us: u64::from(index) * 20_000,
        step_ns: 890_000 + index,
        late: index / 7,
        dropped: 0,
        surprise: index.is_multiple_of(2).then(|| value(9)),
        anomalous: index.is_multiple_of(5),
        row: (0..8).map(value).collect(),
        mean: Vec::from([value(1)]),
        epistemic: Vec::from([0.0]),
        aleatoric: Vec::from([value(3)]),
    }
}

fn borrowed(sample: &Sample<Vec<f32>>) -> Sample<&[f32]> {
    let Sample { time_us, step_ns, late, dropped, surprise, anomalous, .. } = *sample;
    Sample {
        time_us,
        step_ns,
        late,
        dropped,
        surprise,
        anomalous,
        row: &sample.row,
        mean: &sample.mean,
        epistemic: &sample.epistemic,
        aleatoric: &sample.aleatoric,
    }
}

fn encoded(encoder: &mut Encoder, sample: &Sample<Vec<f32>>) -> Vec<u8> {
    let mut buffer = std::vec![0xAA; sample_bytes(sample.row.len(), sample.mean.len())];
    encoder.sample(&borrowed(sample), &mut buffer).expect("enough room").to_vec()
}

/// Frames of the samples 0, 1, …
fn stream(count: u32) -> Vec<Vec<u8>> {
    let mut encoder = Encoder::new();
    (0..count).map(|index| encoded(&mut encoder, &numbered(index))).collect()
}

fn samples(items: Vec<Item>) -> Vec<Sample<Vec<f32>>> {
    let sample = |item| if let Item::Sample(sample) = item { Some(sample) } else { None };
    items.into_iter().filter_map(sample).collect()
}

fn owned(channels: &[Channel<&str>]) -> Vec<Channel<String>> {
    channels.iter().map(|channel| Channel { name: channel.name.into(), unit: channel.unit.into() }).collect()
}
