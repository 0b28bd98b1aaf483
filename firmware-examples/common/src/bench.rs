//! How long a step takes on this board, in cycles of its clock.

use core::hint::black_box;

use quaver::{Arena, Error, Model};

/// Steps that are measured of each kind.
const STEPS: u32 = 200;

/// Cycles of many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// Fewest of one step.
    pub least: u32,
    /// Of all steps, on average.
    pub mean: u32,
    /// Most of one step.
    pub most: u32,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Checksum of the checkpoint.
    pub model: u32,
    /// Whether kernels in assembler ran.
    pub is_accelerated: bool,
    /// Steps with complete rows.
    pub complete: Cycles,
    /// Steps with all channels missing: the worst rows.
    pub missing: Cycles,
}

/// Steps a model with the rows, and counts cycles by `clock`, which may wrap around to 0 after `mask`, 2ⁿ −
/// 1.
///
/// # Errors
/// If the model does not load, or needs a larger arena.
pub fn run<const N: usize, const WORDS: usize>(
    model: &[u8],
    arena: &mut Arena<WORDS>,
    rows: &[[f32; N]],
    clock: impl Fn() -> u32,
    mask: u32,
) -> Result<Report, Error> {
    let model = Model::load(model)?;
    let mut state = model.start(arena)?;
    // What it takes to read the clock is not the model's.
    let overhead = (0..8).map(|_| elapsed(&clock, mask, || ())).min().unwrap_or(0);
    let mut measure = |hide: bool| {
        let mut cycles = Cycles { least: u32::MAX, mean: 0, most: 0 };
        let mut total = 0_u64;
        for row in
            rows.iter().filter(|row| !row.iter().any(|value| value.is_nan())).cycle().take(STEPS as usize)
        {
            let row = if hide { [f32::NAN; N] } else { *row };
            let step = elapsed(&clock, mask, || _ = black_box(model.step(&mut state, black_box(&row))));
            let step = step.saturating_sub(overhead);
            (cycles.least, cycles.most) = (cycles.least.min(step), cycles.most.max(step));
            total += u64::from(step);
        }
        cycles.mean = (total / u64::from(STEPS)) as u32;
        cycles
    };
    let (complete, missing) = (measure(false), measure(true));
    Ok(Report { model: model.checkpoint().crc(), is_accelerated: model.is_accelerated(), complete, missing })
}

fn elapsed(clock: &impl Fn() -> u32, mask: u32, work: impl FnOnce()) -> u32 {
    let begin = clock();
    work();
    clock().wrapping_sub(begin) & mask
}

/// The line to send in: `docs/how-to/flash-a-board.md` says where.
#[cfg(feature = "defmt")]
pub fn print(board: &str, clock_hz: u32, report: &Report) {
    let Report { model, is_accelerated, complete, missing } = report;
    defmt::info!(
        "BENCH board={=str} hz={=u32} model={=u32:08x} accelerated={=bool} complete={=u32}/{=u32}/{=u32} missing={=u32}/{=u32}/{=u32} cycles (least/mean/most)",
        board,
        clock_hz,
        *model,
        *is_accelerated,
        complete.least,
        complete.mean,
        complete.most,
        missing.least,
        missing.mean,
        missing.most
    );
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::models::{GRIP_FORCE, GripForceArena};

    /// A clock that advances by ten at every look: a step costs nothing but the look itself.
    #[test]
    fn the_clock_itself_is_not_counted() {
        let (time, mut arena) = (Cell::new(u32::MAX - 25), GripForceArena::new());
        let clock = || {
            time.set(time.get().wrapping_add(10));
            time.get()
        };
        let report = run(GRIP_FORCE, &mut arena, &crate::rows::GRIP_FORCE, clock, u32::MAX).expect("a model");
        assert_eq!(report.complete, Cycles { least: 0, mean: 0, most: 0 });
        assert_eq!(report.missing, report.complete);
    }
}
