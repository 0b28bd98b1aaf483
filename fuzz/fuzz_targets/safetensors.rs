//! Weights of any content are tensors of the sizes that they say, or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::import::safetensors;

fuzz_target!(|bytes: &[u8]| {
    for tensor in safetensors::parse(bytes).unwrap_or_default().values() {
        assert_eq!(tensor.values.len(), tensor.shape.iter().product::<usize>());
    }
});
