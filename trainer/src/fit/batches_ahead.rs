//! Batches that are prepared while the network learns from those before them.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::data::batch::{Batch, Batches};

/// Batches that may wait: one would do if all took equally long; a long one is no reason to stop.
const WAITING: usize = 2;

/// Hands `learn` the batches in their order. On two threads or more, another thread prepares the next ones
/// meanwhile; where the system starts none, each is prepared when it is requested, as on one thread.
pub(super) fn with_batches_ahead<R>(
    threads: usize,
    mut batches: Batches<'_>,
    learn: impl FnOnce(&mut dyn Iterator<Item = Batch>) -> R,
) -> R {
    if threads < 2 {
        return learn(&mut batches);
    }
    let (sender, receiver) = sync_channel(WAITING);
    let mut prepared = batches.clone();
    thread::scope(|scope| {
        // It ends when all are prepared, or at the next one after `learn` has returned.
        let prepare = move || {
            let _ = prepared.all(|batch| sender.send(batch).is_ok());
        };
        match thread::Builder::new().spawn_scoped(scope, prepare) {
            Ok(_) => learn(&mut receiver.into_iter()),
            Err(_) => learn(&mut batches),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::batch::training;
    use crate::data::{Rows, Scaling, Sequence};
    use crate::random::{Purpose, stream};

    fn sequences() -> Vec<Sequence> {
        let values = |len: u16| (0..len).map(f32::from).collect();
        [90, 41, 7].map(|len| Sequence::next(Rows { channels: 1, values: values(len) })).to_vec()
    }

    fn batches<'a>(sequences: &'a [Sequence], scaling: &'a Scaling) -> Batches<'a> {
        training(sequences, scaling, 5, 2, &mut stream(3, Purpose::Shuffle { epoch: 1 }))
    }

    #[test]
    fn they_are_the_same_in_the_same_order_on_any_number_of_threads() {
        let sequences = sequences();
        let scaling = Scaling::fit(&sequences);
        let expected: Vec<Batch> = batches(&sequences, &scaling).collect();
        assert!(expected.len() > 4 * WAITING);
        for threads in [1, 2, 8] {
            let all = |ahead: &mut dyn Iterator<Item = Batch>| ahead.collect::<Vec<_>>();
            assert_eq!(with_batches_ahead(threads, batches(&sequences, &scaling), all), expected);
        }
    }

    #[test]
    fn learning_may_stop_before_the_last_one() {
        let sequences = sequences();
        let scaling = Scaling::fit(&sequences);
        let first = |ahead: &mut dyn Iterator<Item = Batch>| ahead.next().map(|batch| batch.steps);
        for threads in [1, 2] {
            assert_eq!(with_batches_ahead(threads, batches(&sequences, &scaling), first), Some(5));
        }
    }
}
