//! The way of a row, without a board: queue, stepping task, line, decoder.

use std::vec::Vec;

use embassy_futures::block_on;
use embassy_futures::select::{Either, select};
use quaver_telemetry::{Channel, Decoder, Item};

use crate::models::{EMG_CHANNELS, GRIP_FORCE, GripForceArena, grip_force_labels};
use crate::{Line, Load, Row, RowQueue, Stepper, rows, step};

/// A port that keeps the bytes.
struct Kept(Vec<u8>);

impl embedded_io_async::ErrorType for Kept {
    type Error = core::convert::Infallible;
}

impl embedded_io_async::Write for Kept {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        self.0.extend(bytes);
        Ok(bytes.len())
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn row(index: u64) -> Row<EMG_CHANNELS> {
    Row { time_us: index, values: rows::GRIP_FORCE[index as usize] }
}

/// Runs a future that does not end, until it waits.
fn until_it_waits(future: impl Future<Output = core::convert::Infallible>) {
    let Either::Second(()) = block_on(select(future, async {}));
}

#[test]
fn rows_become_frames_in_order() {
    static QUEUE: RowQueue<EMG_CHANNELS> = RowQueue::new();
    static LINE: Line<2048> = Line::new();
    let mut arena = GripForceArena::new();
    let mut stepper = Stepper::load(GRIP_FORCE, &mut arena, grip_force_labels("test")).expect("a model");
    (0..3).for_each(|index| QUEUE.offer(row(index)));
    until_it_waits(async { step::run(&mut stepper, &QUEUE, &LINE).await });
    let mut port = Kept(Vec::new());
    until_it_waits(async { LINE.drain(&mut port).await });
    let items = Decoder::new().read(&port.0);
    let [Item::Hello(hello), Item::Sample(first), Item::Sample(_), Item::Sample(last)] = &items[..] else {
        panic!("{items:?}")
    };
    assert_eq!(hello.outputs, [Channel { name: "force_n".into(), unit: "N".into() }]);
    assert_eq!(hello.inputs[7], Channel { name: "emg8".into(), unit: "counts".into() });
    assert_eq!((first.time_us, last.time_us), (0, 2));
    // Two rows were waiting when the first was taken, one at the second, none at the last.
    assert_eq!((first.late, last.late, last.dropped), (1, 2, 0));
}

#[test]
fn a_sampler_does_not_wait_for_the_model() {
    let queue: RowQueue<EMG_CHANNELS, 2> = RowQueue::new();
    (0..5).for_each(|index| queue.offer(row(index)));
    assert_eq!(queue.load(), Load { is_late: true, dropped: 3 });
    assert_eq!(block_on(queue.next()).time_us, 0);
    assert_eq!(block_on(queue.next()).time_us, 1);
    assert_eq!(queue.load(), Load { is_late: false, dropped: 3 });
}

#[test]
fn a_full_line_leaves_out_whole_frames() {
    let line: Line<256> = Line::new();
    let mut arena = GripForceArena::new();
    let mut stepper = Stepper::load(GRIP_FORCE, &mut arena, grip_force_labels("test")).expect("a model");
    let mut port = Kept(Vec::new());
    for index in 0..40 {
        stepper.step(&row(index), Load::default(), || 0, |frame| line.offer(frame));
        // The port is slow at first.
        if index > 20 {
            until_it_waits(async { line.drain(&mut port).await });
        }
    }
    let mut decoder = Decoder::new();
    let arrived = decoder.read(&port.0).len() as u64;
    let counts = decoder.counts();
    assert_eq!((counts.damaged, counts.frames, counts.frames + counts.lost), (0, arrived, 41));
    assert!(counts.lost > 10, "{counts:?}");
}
