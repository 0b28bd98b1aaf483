//! From a trained network to a checkpoint, and the cost of quantization.

mod additions;
mod alarm_limit;
mod anomaly_evidence;
mod anomaly_limits;
mod c_header;
mod constants;
mod contents;
mod cost;
mod density;
mod device_memory;
mod gram;
mod instruction_weights;
mod instructions;
mod latent;
mod latent_gram;
mod latent_prior;
mod layout;
mod linear_bound;
mod ranges;
mod reduce;
mod storage;
mod variance_correction;

pub use additions::{Additions, stored_quantiles};
pub use anomaly_limits::{AnomalyLimits, anomaly_limits, evidence_window};
pub use c_header::c_header;
pub use constants::{latent_constants, reducer_constants, rust_constants};
pub use contents::contents;
pub use cost::{QuantizationCost, cost};
pub use density::{fit_widening, settle_density};
pub use device_memory::{
    DeviceMemory, device_memory, known_code_bytes, latent_device_memory, reducer_code_bytes,
};
pub use gram::gram_matrices;
pub use instructions::{InstructionCount, instructions, latent_instructions};
pub use latent::{LatentCost, LatentEncoding, LatentStorageOptions, encode_latent, latent_cost};
pub use latent_prior::{PriorGain, refit_prior};
pub use layout::{LayoutChoice, WhyFloat};
pub(crate) use layout::{MAX_FAST_NLL_INCREASE, fastest_layout};
pub use linear_bound::{bounded_instructions, with_a_unit};
pub use ranges::{DEFAULT_MARGIN, InputRanges, RangeOptions, RangeOverride};
pub use reduce::{ReducerCost, ReducerEncoding, ReducerResults, encode_reducer, reducer_cost, run_reducer};
pub use storage::{Encoding, StorageOptions, encode};
pub use variance_correction::variance_correction;
