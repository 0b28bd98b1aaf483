//! Cycles of the core's clock: by DWT's counter; by SysTick on a Cortex-M0+, which has no such counter.

use cortex_m::Peripherals;

/// A counter that was started.
#[derive(Clone, Copy, Debug)]
pub struct CycleCounter(());

impl CycleCounter {
    /// Starts counting; `None` for the second time, or if something else has taken the core's peripherals.
    pub fn start() -> Option<Self> {
        let core = Peripherals::take()?;
        #[cfg(armv6m)]
        {
            let mut core = core;
            core.SYST.set_clock_source(cortex_m::peripheral::syst::SystClkSource::Core);
            core.SYST.set_reload(Self::MASK);
            core.SYST.clear_current();
            core.SYST.enable_counter();
        }
        #[cfg(not(armv6m))]
        return Some(Self::start_with(core.DCB, core.DWT));
        #[cfg(armv6m)]
        Some(CycleCounter(()))
    }

    /// The same for a program that has taken the core's peripherals itself.
    #[cfg(not(armv6m))]
    pub fn start_with(mut dcb: cortex_m::peripheral::DCB, mut dwt: cortex_m::peripheral::DWT) -> Self {
        dcb.enable_trace();
        dwt.enable_cycle_counter();
        CycleCounter(())
    }

    /// Bits that count: SysTick has 24.
    #[cfg(armv6m)]
    pub const MASK: u32 = 0x00FF_FFFF;
    /// Bits that count.
    #[cfg(not(armv6m))]
    pub const MASK: u32 = u32::MAX;

    /// Cycles so far, modulo [`MASK`](Self::MASK) + 1.
    pub fn count(self) -> u32 {
        #[cfg(armv6m)]
        return Self::MASK - cortex_m::peripheral::SYST::get_current();
        #[cfg(not(armv6m))]
        return cortex_m::peripheral::DWT::cycle_count();
    }
}
