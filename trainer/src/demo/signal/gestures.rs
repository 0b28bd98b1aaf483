//! Gestures of one hand, seen by the armband in sessions: the band is put on anew for each.

use super::body::{self, ELECTRODES};
use super::effort::{Effort, MAX_LAG_S, unsteady};
use super::recording::{cell, mean_absolute};
use super::rng::SignalRng;
use super::{ENVELOPE_WINDOW, RAW_RATE_HZ, electrodes};

/// The classes: rest, five gestures that are learned, and one that is not.
pub const GESTURES: [&str; 7] = ["rest", "fist", "open", "flexion", "extension", "pinch", "thumb"];

/// The gesture that a model must refuse: it is never trained on.
pub const UNSEEN_GESTURE: &str = GESTURES[6];

/// Muscles of the forearm that gestures use.
const MUSCLES: usize = 6;

/// Their positions, in radians from the first electrode.
const MUSCLE_ANGLE: [f64; MUSCLES] = [0.3, 1.3, 2.4, 3.4, 4.5, 5.4];

/// Share of each muscle in each gesture; rest has none.
const PATTERN: [[f64; MUSCLES]; 6] = [
    [0.9, 0.8, 0.2, 0.7, 0.1, 0.2],
    [0.1, 0.2, 0.9, 0.2, 0.8, 0.1],
    [1.0, 0.1, 0.1, 0.2, 0.1, 0.6],
    [0.1, 0.1, 0.3, 1.0, 0.5, 0.1],
    [0.2, 0.9, 0.5, 0.1, 0.1, 0.1],
    [0.1, 0.1, 0.1, 0.1, 0.6, 1.0],
];

/// How a session differs from others: standard deviation of the logarithm of every contact, and of the turn
/// of the band, in radians.
const CONTACT_STD_DEV: f64 = 0.15;
const TURN_STD_DEV: f64 = 0.06;

/// Shares of the rise and of the fall of an effort in which a row belongs to no class.
const UNLABELLED: f64 = 0.5;

/// One session.
#[derive(Clone, Debug)]
pub struct GestureRecording {
    /// Rows per second.
    pub rate_hz: f32,
    /// Mean absolute value of each electrode over 20 ms, in converter counts; NaN where one has lost contact.
    pub emg: Vec<[f32; ELECTRODES]>,
    /// Index into [`GESTURES`] of every row; none while one gesture changes into rest or rest into a gesture.
    pub gesture: Vec<Option<usize>>,
}

/// Generates a session of `seconds` in which gestures and rest alternate. The person is always the same;
/// `seed` determines their efforts, how the band sits, and all noise.
pub fn generate_gestures(seed: u64, seconds: f32) -> GestureRecording {
    let samples = (f64::from(seconds) * RAW_RATE_HZ).max(0.0) as usize;
    let mut root = SignalRng::from_seed(seed);
    let (activations, labels) = efforts(&mut root.branch(), samples);
    let band = Band::put_on(&mut root.branch());
    let emg = electrodes::record(&mut root, &activations, |electrode| band.pick_up(electrode));
    GestureRecording {
        rate_hz: RAW_RATE_HZ as f32 / ENVELOPE_WINDOW as f32,
        emg: emg.chunks_exact(ENVELOPE_WINDOW).map(mean_absolute).collect(),
        gesture: labels.chunks_exact(ENVELOPE_WINDOW).map(|chunk| chunk[ENVELOPE_WINDOW - 1]).collect(),
    }
}

/// How the band sits on the arm.
struct Band {
    turn: f64,
    contact: [f64; ELECTRODES],
}

impl Band {
    fn put_on(noise: &mut SignalRng) -> Self {
        let turn = TURN_STD_DEV * noise.normal();
        Self { turn, contact: core::array::from_fn(|_| libm::exp(CONTACT_STD_DEV * noise.normal())) }
    }

    fn pick_up(&self, electrode: usize) -> [f64; MUSCLES] {
        let angles = MUSCLE_ANGLE.map(|angle| angle + self.turn);
        body::pick_up_of(angles, electrode).map(|gain| gain * self.contact[electrode])
    }
}

/// Activations of all muscles and the class of every sample. Gestures come in a random order, each once
/// before any comes again.
fn efforts(noise: &mut SignalRng, samples: usize) -> (Vec<[f64; MUSCLES]>, Vec<Option<usize>>) {
    let (mut activations, mut labels) = (vec![[0.0; MUSCLES]; samples], vec![Some(0); samples]);
    let mut now_s = noise.uniform(0.5, 1.5);
    let mut order = Vec::new();
    while now_s * RAW_RATE_HZ < samples as f64 {
        if order.is_empty() {
            order = (0..PATTERN.len()).collect();
        }
        let gesture = order.swap_remove(noise.index(order.len()));
        let effort = draw(noise, now_s, gesture);
        effort.paint(&mut activations);
        label(&mut labels, &effort, gesture + 1);
        now_s = effort.end_s() + noise.uniform(0.5, 1.5);
    }
    unsteady(&mut noise.branch(), &mut activations);
    (activations, labels)
}

fn draw(noise: &mut SignalRng, start_s: f64, gesture: usize) -> Effort<MUSCLES> {
    let strength = noise.uniform(0.35, 0.8);
    Effort {
        start_s,
        rise_s: noise.uniform(0.15, 0.4),
        hold_s: noise.uniform(1.0, 2.5),
        fall_s: noise.uniform(0.15, 0.4),
        // Nobody repeats a gesture exactly.
        level: PATTERN[gesture].map(|share| (strength * share * noise.uniform(0.8, 1.2)).min(1.0)),
        lag_s: core::array::from_fn(|_| noise.uniform(0.0, MAX_LAG_S)),
    }
}

/// Labels the samples of an effort; those near its edges have no class.
fn label(labels: &mut [Option<usize>], effort: &Effort<MUSCLES>, gesture: usize) {
    let begin_s = effort.start_s + UNLABELLED * effort.rise_s + MAX_LAG_S;
    let finish_s = effort.start_s + effort.rise_s + effort.hold_s + UNLABELLED * effort.fall_s;
    let first = (effort.start_s * RAW_RATE_HZ) as usize;
    for (sample, label) in labels.iter_mut().enumerate().skip(first) {
        let t = sample as f64 / RAW_RATE_HZ;
        if t > effort.end_s() {
            break;
        }
        *label = (begin_s..finish_s).contains(&t).then_some(gesture);
    }
}

/// A session as CSV, with the header `emg1,…,emg8,gesture`; empty cells are missing values and rows without a
/// class.
pub fn gestures_to_csv(recording: &GestureRecording) -> String {
    let mut text: String = (1..=ELECTRODES).map(|electrode| format!("emg{electrode},")).collect();
    text += "gesture\n";
    for (row, gesture) in recording.emg.iter().zip(&recording.gesture) {
        row.iter().for_each(|&value| text += &(cell(value) + ","));
        text += gesture.map_or("", |gesture| GESTURES[gesture]);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gesture_occurs_about_as_often_and_rest_between_them() {
        let recording = generate_gestures(3, 300.0);
        assert_eq!((recording.rate_hz, recording.emg.len()), (50.0, 15_000));
        let mut counts = [0; GESTURES.len()];
        recording.gesture.iter().flatten().for_each(|gesture| counts[*gesture] += 1);
        assert!(counts.iter().all(|count| *count > 1200), "{counts:?}");
        let unlabelled = recording.gesture.iter().filter(|gesture| gesture.is_none()).count();
        assert!((1000..4500).contains(&unlabelled), "{unlabelled}");
        // Between two gestures there is always rest.
        let labels: Vec<usize> = recording.gesture.iter().flatten().copied().collect();
        assert!(labels.windows(2).all(|pair| pair[0] == pair[1] || pair.contains(&0)));
    }

    #[test]
    fn a_seed_gives_one_session_and_gestures_are_stronger_than_rest() {
        let text = gestures_to_csv(&generate_gestures(1, 20.0));
        assert_eq!(text, gestures_to_csv(&generate_gestures(1, 20.0)));
        assert_ne!(text, gestures_to_csv(&generate_gestures(2, 20.0)));
        assert!(text.starts_with("emg1,emg2,emg3,emg4,emg5,emg6,emg7,emg8,gesture\n"));
        let recording = generate_gestures(4, 60.0);
        let mean = |wanted: fn(usize) -> bool| {
            let rows = recording.emg.iter().zip(&recording.gesture);
            let rows = rows.filter(|(_, gesture)| gesture.is_some_and(wanted)).flat_map(|(row, _)| row);
            let values: Vec<f32> = rows.copied().filter(|value| !value.is_nan()).collect();
            values.iter().sum::<f32>() / values.len() as f32
        };
        assert!(mean(|gesture| gesture > 0) > 3.0 * mean(|gesture| gesture == 0));
    }
}
