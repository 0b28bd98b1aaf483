//! What a board can afford, and what a model takes of it.

use anyhow::{Context, Result};
use quaver::checkpoint::{Kind, ModelSpec};
use quaver::{Model, ReducerModel};
use serde::Serialize;

use super::boards::{Board, Core};
use crate::export::{
    DeviceMemory, bounded_instructions, device_memory, known_code_bytes, reducer_code_bytes, with_a_unit,
};

/// Cycles per instruction. The LSTM 16/64 takes 77,000 cycles for 54,059 instructions by the cycle table of
/// the Cortex-M4 manual, without wait states of the flash (`docs/explanation/performance.md`).
const CYCLES_PER_INSTRUCTION: f64 = 1.5;

/// What a model may take.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Budget {
    /// The board, if one was named: then code and stack count as well.
    pub board: Option<Board>,
    /// The core whose costs count.
    #[serde(skip)]
    pub core: Option<Core>,
    /// Bytes of flash for the checkpoint and, on a named board, the code.
    pub flash_bytes: Option<u64>,
    /// Bytes of RAM for arena and handle and, on a named board, the deepest stack.
    pub ram_bytes: Option<u64>,
    /// Rows per second.
    pub rate_hz: Option<f64>,
    /// Cycles per second.
    pub clock_hz: Option<f64>,
    /// Share of the cycles that may be used.
    pub cpu_share: f64,
}

/// What a model takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModelCost {
    /// Bytes of the checkpoint.
    pub model_bytes: u64,
    /// Bytes of the code that runs it.
    pub code_bytes: u64,
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// Bytes of the handle; unknown where no such model was measured on the core.
    pub handle_bytes: Option<u64>,
    /// Bytes of the deepest stack; unknown likewise.
    pub stack_bytes: Option<u64>,
    /// Instructions of a step in the worst row, with a linear part at most; unknown for networks in the
    /// layout `float`.
    pub instructions: Option<u64>,
}

impl ModelCost {
    /// The cost of a checkpoint of a predictor or a reducer on a core.
    ///
    /// # Errors
    /// If the bytes are neither.
    pub fn of(bytes: &[u8], core: Core) -> Result<Self> {
        if Kind::of(bytes) == Some(Kind::Reducer) {
            let model = ReducerModel::load(bytes).context("the reducer cannot be loaded")?;
            let (network, spec) = (model.network(), model.network().spec());
            return Ok(ModelCost {
                model_bytes: bytes.len() as u64,
                arena_bytes: 4 * model.arena_words() as u64,
                ..Self::of_network(network, spec, core).of_reducer(spec, core)
            });
        }
        let model = Model::load(bytes).context("the model cannot be loaded")?;
        Ok(ModelCost { model_bytes: bytes.len() as u64, ..Self::of_network(&model, model.spec(), core) })
    }

    /// The cost of the same network in a reducer, which is loaded when it starts.
    pub(super) fn of_reducer(self, spec: &ModelSpec, core: Core) -> Self {
        ModelCost {
            code_bytes: reducer_code_bytes(core.measured(), spec.layout),
            stack_bytes: memory_on(core, spec)
                .map(|memory| memory.step_stack_bytes.max(memory.load_stack_bytes).into()),
            ..self
        }
    }

    /// Whether memory and, in a budget of time, instructions were measured on this core for such a model.
    pub(super) fn is_known(&self, budget: &Budget) -> bool {
        let is_timed = budget.rate_hz.is_some() && budget.clock_hz.is_some();
        self.handle_bytes.is_some() && (self.instructions.is_some() || !is_timed)
    }

    /// A predictor as the exported `model.rs` has it: known while compiling, and never loaded.
    fn of_network(model: &Model<'_>, spec: &ModelSpec, core: Core) -> Self {
        let (measured, memory) = (core.measured(), memory_on(core, spec));
        let count = bounded_instructions(model).into_iter().find(|count| count.core == measured);
        ModelCost {
            model_bytes: 0,
            code_bytes: known_code_bytes(measured, spec.layout),
            arena_bytes: 4 * spec.arena_words() as u64,
            handle_bytes: memory.map(|memory| memory.handle_bytes.into()),
            stack_bytes: memory.map(|memory| memory.step_stack_bytes.into()),
            instructions: count.map(|count| count.instructions),
        }
    }
}

/// Handle and stack of a network on a core, where such ones were measured.
fn memory_on(core: Core, spec: &ModelSpec) -> Option<DeviceMemory> {
    device_memory(&with_a_unit(spec)).into_iter().find(|memory| memory.core == core.measured())
}

/// One resource: what is needed and what there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Use {
    /// The resource.
    pub resource: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What the model takes.
    pub needed: f64,
    /// What it may take; none if there is no limit.
    pub available: Option<f64>,
}

impl Use {
    /// Whether it is enough.
    pub fn fits(&self) -> bool {
        self.available.is_none_or(|available| self.needed <= available)
    }
}

impl Budget {
    /// The core whose costs count; an M4F if nothing was said.
    pub fn core(&self) -> Core {
        self.core.or(self.board.as_ref().map(|board| board.core)).unwrap_or(Core::M4F)
    }

    /// Whether anything is limited.
    pub fn is_limited(&self) -> bool {
        self.flash_bytes.is_some() || self.ram_bytes.is_some()
    }

    /// What a model takes of each resource.
    pub fn uses(&self, cost: &ModelCost) -> Vec<Use> {
        let whole = if self.board.is_some() { 1 } else { 0 };
        let flash = cost.model_bytes + whole * cost.code_bytes;
        let [handle, stack] = [cost.handle_bytes, cost.stack_bytes].map(Option::unwrap_or_default);
        let ram = cost.arena_bytes + handle + whole * stack;
        let limit = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
        let mut uses = vec![
            Use {
                resource: "flash",
                unit: "bytes",
                needed: flash as f64,
                available: limit(self.flash_bytes),
            },
            Use { resource: "RAM", unit: "bytes", needed: ram as f64, available: limit(self.ram_bytes) },
        ];
        if let (Some(instructions), Some(rate), Some(clock)) =
            (cost.instructions, self.rate_hz, self.clock_hz)
        {
            let share = instructions as f64 * CYCLES_PER_INSTRUCTION * rate / clock;
            let (needed, available) = (100.0 * share, Some(100.0 * self.cpu_share));
            uses.push(Use { resource: "CPU", unit: "%", needed, available });
        }
        uses
    }

    /// Whether a model fits.
    pub fn fits(&self, cost: &ModelCost) -> bool {
        self.uses(cost).iter().all(Use::fits)
    }

    /// How far a model is from fitting: the largest ratio of need to limit.
    pub fn excess(&self, cost: &ModelCost) -> f64 {
        let ratio = |used: &Use| used.available.map(|available| used.needed / available.max(1e-9));
        self.uses(cost).iter().filter_map(ratio).fold(0.0, f64::max)
    }

    /// The uses in words, such as `flash 9.1 of 64 KiB, RAM 1.2 of 4 KiB, CPU 3 of 50 %`.
    pub fn in_words(&self, cost: &ModelCost) -> String {
        let part = |used: &Use| {
            let number = |value: f64| match used.unit {
                "bytes" => format!("{:.1}", value / 1024.0),
                _ => format!("{value:.1}"),
            };
            let unit = if used.unit == "bytes" { "KiB" } else { used.unit };
            let mark = if used.fits() { "" } else { " (too much)" };
            match used.available {
                Some(available) => {
                    format!("{} {} of {} {unit}{mark}", used.resource, number(used.needed), number(available))
                }
                None => format!("{} {} {unit}", used.resource, number(used.needed)),
            }
        };
        self.uses(cost).iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: ModelCost = ModelCost {
        model_bytes: 8000,
        code_bytes: 70_000,
        arena_bytes: 600,
        handle_bytes: Some(656),
        stack_bytes: Some(3300),
        instructions: Some(20_000),
    };

    #[test]
    fn a_board_counts_code_and_stack_and_a_budget_does_not() {
        let budget =
            Budget { flash_bytes: Some(9000), ram_bytes: Some(1300), cpu_share: 0.5, ..Budget::default() };
        assert!(budget.fits(&COST));
        let board = Board {
            name: "x".into(),
            chip: String::new(),
            core: Core::M3,
            clock_mhz: 60.0,
            flash_kib: 64,
            ram_kib: 20,
        };
        let on_board = Budget { board: Some(board), flash_bytes: Some(64 * 1024), ..budget };
        assert!(!on_board.fits(&COST));
        assert!(on_board.excess(&COST) > 1.0);
        assert!(
            on_board.in_words(&COST).contains("flash 76.2 of 64.0 KiB (too much)"),
            "{}",
            on_board.in_words(&COST)
        );
    }

    #[test]
    fn time_is_a_share_of_the_cycles() {
        let budget =
            Budget { rate_hz: Some(1000.0), clock_hz: Some(64e6), cpu_share: 0.5, ..Budget::default() };
        let uses = budget.uses(&COST);
        // 20,000 · 1.5 · 1000 / 64·10⁶
        assert!((uses[2].needed - 46.875).abs() < 1e-9, "{uses:?}");
        assert!(budget.fits(&COST) && !Budget { rate_hz: Some(2000.0), ..budget }.fits(&COST));
    }
}
