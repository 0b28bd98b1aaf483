//! What loading and stepping cost: for each model a line `model NAME`, then one line `name value` per figure,
//! `n/a` for what this core cannot measure.

#![no_std]
#![no_main]

use core::fmt::Display;
use core::hint::black_box;
use core::panic::PanicInfo;

use quaver::Arena;
use quaver_qemu::jobs::{
    CHOSEN, CHOSEN_ARENA, CHOSEN_ROW, Chosen, Job, READS_ROWS, ROLLOUT_WORDS, load, work,
};
use quaver_qemu::meter::{Meter, PaintedStack, marked};
use quaver_qemu::{done, entry, fail};
use quaver_streams::numbers::Numbers;
use semihosting::println;

#[entry]
fn main() -> ! {
    let meter = Meter::calibrate();
    for job in &CHOSEN {
        println!("model {}", job.name);
        // Hidden from the optimiser: what is measured must not be made for one model.
        measure_job(black_box(job), &meter);
    }
    done()
}

fn measure_job(job: &Job, meter: &Option<Meter>) {
    let mut arena = Arena::<CHOSEN_ARENA>::new();

    let mut loaded = None;
    let stack = PaintedStack::paint();
    let load_instructions = measure(meter, || loaded = Some(load(job.model, &mut arena)));
    let load_stack = stack.depth();
    let mut stream = match loaded {
        Some(Ok(stream)) => stream,
        Some(Err(error)) => fail(error),
        None => fail("the model was not loaded"),
    };

    #[cfg(feature = "signed")]
    measure_opening(meter);

    let mut intact = true;
    let recheck_instructions = measure(meter, || intact &= stream.model().recheck().finish().is_ok());
    let check_state_instructions = measure(meter, || intact &= stream.check_state().is_ok());
    if !intact {
        fail("the model or its stream has changed");
    }

    let (mut futures, mut rng) = (Arena::<ROLLOUT_WORDS>::new(), Numbers::new("bench"));
    let mut whole = Counts::default();
    let mut worst = 0;
    let stack = PaintedStack::paint();
    for rows in Rows::all() {
        let mut counts = Counts::default();
        let varied = core::iter::repeat_with(|| job.rows::<CHOSEN_ROW>()).flatten().zip(factors());
        for (mut row, factor) in varied.take(rows.steps()) {
            if counts.total.is_some_and(|total| total > rows.most_instructions()) {
                break;
            }
            row.iter_mut().for_each(|value| *value *= factor);
            let row = &mut row[..job.inputs];
            rows.hide(row);
            let vars = if rows.uncertain { &[0.25; CHOSEN_ROW][..job.inputs] } else { &[] };
            counts.add(measure(meter, || marked(|| work(&mut stream, row, vars, &mut futures, &mut rng))));
        }
        worst = counts.most.max(worst);
        if rows.is_whole() {
            whole = counts;
        } else if let (false, Some(mean)) = (rows.uncertain, counts.mean()) {
            println!("step_instructions_missing_{} {mean}", rows.missing);
        }
    }
    let step_stack = stack.depth();

    line("model_bytes", Some(job.model.len()));
    line("arena_bytes", Some(4 * (job.arena + ROLLOUT_WORDS)));
    line("handle_bytes", Some(size_of::<Chosen<'_, '_>>()));
    line("load_instructions", load_instructions);
    line("load_stack_bytes", load_stack);
    line("recheck_instructions", recheck_instructions);
    line("check_state_instructions", check_state_instructions);
    line("step_instructions", whole.mean());
    line("step_instructions_least", whole.total.map(|_| whole.least));
    line("step_instructions_most", whole.total.map(|_| whole.most));
    line("step_instructions_worst", whole.total.map(|_| worst));
    line("step_stack_bytes", step_stack);
}

/// What verifying the envelope of the model costs, before it is loaded.
#[cfg(feature = "signed")]
fn measure_opening(meter: &Option<Meter>) {
    use quaver::signed::{PublicKey, open};
    use quaver_qemu::jobs::{CHOSEN_SIGNED, SIGNED_COUNTER, SIGNED_KEY};

    let mut is_open = false;
    let key = PublicKey::new(SIGNED_KEY);
    let stack = PaintedStack::paint();
    let instructions =
        measure(meter, || is_open = open(black_box(CHOSEN_SIGNED), &key, SIGNED_COUNTER).is_ok());
    line("open_instructions", instructions);
    line("open_stack_bytes", stack.depth());
    if !is_open {
        fail("the envelope does not open");
    }
}

/// Rows of one kind.
#[derive(Clone, Copy)]
struct Rows {
    /// How many channels are missing, the first ones: from there on a row is read channel by channel.
    missing: usize,
    /// Whether every channel has a variance.
    uncertain: bool,
}

/// Numbers of missing channels.
const MISSING: [usize; 5] = [0, 1, 4, 8, CHOSEN_ROW];

impl Rows {
    /// Complete rows first; these alone where rows are not read.
    fn all() -> impl Iterator<Item = Rows> {
        let every = MISSING
            .into_iter()
            .flat_map(|missing| [false, true].map(|uncertain| Rows { missing, uncertain }));
        every.take(if READS_ROWS { 2 * MISSING.len() } else { 1 })
    }

    /// Whether nothing is missing or uncertain.
    fn is_whole(self) -> bool {
        self.missing == 0 && !self.uncertain
    }

    /// Steps that are measured, unless they take too long: a core that emulates floating point needs millions
    /// for one.
    fn steps(self) -> usize {
        if self.is_whole() { 1000 } else { 100 }
    }

    fn most_instructions(self) -> u64 {
        2_000_000 * self.steps() as u64
    }

    /// Replaces the values of missing channels.
    fn hide(self, row: &mut [f32]) {
        row.iter_mut().take(self.missing).for_each(|value| *value = f32::NAN);
    }
}

/// Factors on rows, so that no two are alike: from small fractions of the usual size to far beyond it.
fn factors() -> impl Iterator<Item = f32> {
    let mut state = 1_u32;
    core::iter::repeat_with(move || {
        // Marsaglia 2003, "Xorshift RNGs": the triple 13, 17, 5.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        f32::from_bits((120 + state % 12) << 23)
    })
}

/// Instructions of many steps; no total if one could not be measured.
struct Counts {
    steps: u64,
    total: Option<u64>,
    least: u64,
    most: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { steps: 0, total: Some(0), least: u64::MAX, most: 0 }
    }
}

impl Counts {
    fn mean(&self) -> Option<u64> {
        self.total?.checked_div(self.steps)
    }

    fn add(&mut self, step: Option<u64>) {
        self.steps += 1;
        self.total = self.total.zip(step).map(|(total, step)| total + step);
        let step = step.unwrap_or(0);
        (self.least, self.most) = (self.least.min(step), self.most.max(step));
    }
}

/// Runs `work` in any case; counts its instructions if there is a meter.
fn measure(meter: &Option<Meter>, work: impl FnOnce()) -> Option<u64> {
    match meter {
        Some(meter) => meter.instructions(work),
        None => {
            work();
            None
        }
    }
}

fn line(name: &str, value: Option<impl Display>) {
    match value {
        Some(value) => println!("{name} {value}"),
        None => println!("{name} n/a"),
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
