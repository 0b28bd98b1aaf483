//! What is sent arrives, in chunks of any size.

use proptest::prelude::*;

use super::*;
use crate::{Hello, List, VERSION, hello_bytes};

/// Compares bits, so that NaN equals itself.
fn bits(sample: &Sample<Vec<f32>>) -> (Vec<u32>, Option<u32>, [u64; 5]) {
    let lists = [&sample.row, &sample.mean, &sample.epistemic, &sample.aleatoric];
    let numbers = lists.into_iter().flatten().map(|value| value.to_bits()).collect();
    let Sample { time_us, step_ns, late, dropped, anomalous, .. } = *sample;
    let counters = [time_us, step_ns.into(), late.into(), dropped.into(), anomalous.into()];
    (numbers, sample.surprise.map(f32::to_bits), counters)
}

fn any_sample() -> impl Strategy<Value = Sample<Vec<f32>>> {
    // By bits, so that every NaN, infinity and subnormal number is among them.
    let values = |count| proptest::collection::vec(any::<u32>().prop_map(f32::from_bits), count);
    let counters = (any::<u64>(), any::<[u32; 3]>(), any::<Option<u32>>(), any::<bool>());
    let sizes = (0_usize..40, 0_usize..40);
    (sizes, counters).prop_flat_map(move |((inputs, outputs), counters)| {
        let lists = (values(inputs), values(outputs), values(outputs), values(outputs));
        lists.prop_map(move |(row, mean, epistemic, aleatoric)| {
            let (time_us, [step_ns, late, dropped], surprise, anomalous) = counters;
            let surprise = surprise.map(f32::from_bits);
            Sample { time_us, step_ns, late, dropped, surprise, anomalous, row, mean, epistemic, aleatoric }
        })
    })
}

proptest! {
    #[test]
    fn every_sample_arrives_with_its_bits(sent in proptest::collection::vec(any_sample(), 1..6), chunk in 1_usize..50) {
        let mut encoder = Encoder::new();
        let bytes: Vec<u8> = sent.iter().flat_map(|sample| encoded(&mut encoder, sample)).collect();
        let mut decoder = Decoder::new();
        let arrived = samples(bytes.chunks(chunk).flat_map(|chunk| decoder.read(chunk)).collect());
        prop_assert_eq!(arrived.iter().map(bits).collect::<Vec<_>>(), sent.iter().map(bits).collect::<Vec<_>>());
        let counts = decoder.counts();
        prop_assert_eq!(counts.frames, sent.len() as u64);
        prop_assert_eq!([counts.lost, counts.damaged, counts.unknown, counts.restarts], [0; 4]);
    }

    #[test]
    fn chunks_of_any_bytes_give_the_same_items(bytes in proptest::collection::vec(any::<u8>(), 0..400), chunk in 1_usize..50) {
        let (mut at_once, mut in_chunks) = (Decoder::new(), Decoder::new());
        let items: Vec<Item> = bytes.chunks(chunk).flat_map(|chunk| in_chunks.read(chunk)).collect();
        prop_assert_eq!(at_once.read(&bytes), items);
        prop_assert_eq!(at_once.counts(), in_chunks.counts());
    }
}

#[test]
fn a_greeting_names_the_channels() {
    let fingers = ["index finger", "middle finger"].map(|name| Channel { name, unit: "µV" });
    let force = [Channel { name: "force", unit: "N" }];
    let hello = Hello {
        version: VERSION,
        device: "board",
        model: 0xDEAD_BEEF,
        rate_hz: 50.0,
        inputs: List(fingers.iter()),
        outputs: &force[..],
    };
    let mut buffer = [0; hello_bytes(3, 100)];
    let bytes = Encoder::new().hello(&hello, &mut buffer).expect("enough room").to_vec();
    let expected = Hello {
        version: VERSION,
        device: "board".into(),
        model: 0xDEAD_BEEF,
        rate_hz: 50.0,
        inputs: owned(&fingers),
        outputs: owned(&force),
    };
    assert_eq!(Decoder::new().read(&bytes), [Item::Hello(expected)]);
    let unknown = Hello { version: VERSION + 1, ..hello };
    let mut decoder = Decoder::new();
    assert_eq!(decoder.read(Encoder::new().hello(&unknown, &mut buffer).expect("enough room")), []);
    assert_eq!(decoder.counts().unknown, 1);
}

#[test]
fn the_largest_numbers_fit_the_promised_bytes() {
    let most = f32::from_bits(u32::MAX);
    let lists = [std::vec![most; 300], std::vec![most; 70]];
    let sample = Sample {
        time_us: u64::MAX,
        step_ns: u32::MAX,
        late: u32::MAX,
        dropped: u32::MAX,
        surprise: Some(most),
        anomalous: true,
        row: lists[0].clone(),
        mean: lists[1].clone(),
        epistemic: lists[1].clone(),
        aleatoric: lists[1].clone(),
    };
    let mut encoder = Encoder { sequence: u32::MAX };
    assert!(encoded(&mut encoder, &sample).len() <= sample_bytes(300, 70));
    let mut short = [0; 40];
    assert_eq!(encoder.sample(&borrowed(&sample), &mut short), Err(crate::Error::TooShort));
    assert_eq!(encoder.sample(&borrowed(&sample), &mut []), Err(crate::Error::TooShort));
}

#[test]
fn a_frame_that_did_not_fit_counts_as_lost() {
    let mut encoder = Encoder::new();
    let first = encoded(&mut encoder, &numbered(0));
    assert!(encoder.sample(&borrowed(&numbered(1)), &mut [0; 9]).is_err());
    let last = encoded(&mut encoder, &numbered(2));
    let mut decoder = Decoder::new();
    assert_eq!(samples(decoder.read(&[first, last].concat())).len(), 2);
    assert_eq!(decoder.counts().lost, 1);
}

/// The bytes in `docs/reference/line-protocol.md`.
#[test]
fn the_documented_frame_is_the_encoded_one() {
    let page = include_str!("../../../docs/reference/line-protocol.md");
    let example =
        page.split("<!-- frame").nth(1).and_then(|rest| rest.split("```").nth(1)).expect("an example");
    let documented: Vec<&str> = example.split_whitespace().collect();
    let sample = Sample {
        time_us: 20_000,
        step_ns: 890_000,
        row: Vec::from([14.0, f32::NAN]),
        mean: Vec::from([51.5]),
        epistemic: Vec::from([2.0]),
        aleatoric: Vec::from([20.0]),
        ..Sample::default()
    };
    let bytes = encoded(&mut Encoder::new(), &sample);
    assert_eq!(documented, bytes.iter().map(|byte| std::format!("{byte:02x}")).collect::<Vec<_>>());
}
