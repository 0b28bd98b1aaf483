//! The payload of a checkpoint: vectors of every model, affine maps of its backend.

use super::built_in;
use crate::format::{AffineShape, Cursor, Error, Part, Vector, aligned, vector, vectors};
use crate::spec::{Layout, ModelSpec};

/// Checks that a model's backend is built in and can run its architecture.
pub(crate) fn check_spec(spec: &ModelSpec) -> Result<(), Error> {
    check_built_in(spec.layout)?;
    dispatch!(spec.layout, backend => backend::check_spec(spec))
}

/// An error unless the backend of a layout is built in.
fn check_built_in(layout: Layout) -> Result<(), Error> {
    let (built_in, feature) = built_in(layout);
    if built_in { Ok(()) } else { Err(Error::NotBuiltIn { feature }) }
}

/// Checks the length of the payload and every number in it.
pub(crate) fn check_payload(spec: &ModelSpec, payload: &[u8]) -> Result<(), Error> {
    let (expected, found) = (payload_bytes(spec, payload), payload.len());
    if expected != found {
        return Err(Error::Length { field: "payload", expected, found });
    }
    let mut cursor = Cursor::new(payload);
    for kind in Vector::BEFORE_LAYERS {
        vector(cursor.padded(4 * kind.count(spec)), kind, kind.part())?;
    }
    for (index, shape) in spec.layer_shapes().enumerate() {
        check_affine(&mut cursor, shape, Part::Layer(index as u8))?;
    }
    check_affine(&mut cursor, spec.output_shape(), Part::Output)?;
    let last = cursor.last_vectors(spec);
    for kind in Vector::AFTER_LAYERS {
        vector(cursor.padded(4 * kind.count(spec)), kind, kind.part())?;
    }
    vectors(&last)
}

fn check_affine(cursor: &mut Cursor<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    dispatch!(shape.layout, backend => backend::check_affine(cursor, shape, part))
}

/// Bytes that the whole payload should have, by the architecture and by what its maps say of themselves.
fn payload_bytes(spec: &ModelSpec, payload: &[u8]) -> usize {
    let sum = |vectors: &[Vector]| {
        let bytes = vectors.iter().map(|vector| aligned(4 * vector.count(spec)));
        bytes.fold(0, usize::saturating_add)
    };
    let maps_end = spec.shapes().fold(sum(&Vector::BEFORE_LAYERS), |start, shape| {
        let rest = Cursor::new(payload.get(start..).unwrap_or_default());
        start.saturating_add(dispatch!(shape.layout, backend => backend::affine_bytes(shape, rest)))
    });
    maps_end.saturating_add(sum(&Vector::AFTER_LAYERS))
}

/// Blocks of four rows and two columns that each map of a checked payload holds, the layers' and then the
/// output map's; empty unless the layout can leave blocks out.
#[cfg(all(feature = "write", feature = "quantized"))]
pub(crate) fn stored_blocks(spec: &ModelSpec, payload: &[u8]) -> std::vec::Vec<crate::format::StoredBlocks> {
    let mut cursor = Cursor::new(payload);
    for kind in Vector::BEFORE_LAYERS {
        cursor.padded(4 * kind.count(spec));
    }
    let shapes = spec.shapes().filter(|shape| shape.layout == Layout::Sparse);
    shapes.map(|shape| crate::quantized::stored_blocks(&mut cursor, shape)).collect()
}

/// Appends an affine map to the payload.
#[cfg(feature = "write")]
pub(crate) fn encode_affine(
    payload: &mut std::vec::Vec<u8>,
    source: &crate::encode::AffineSource<'_>,
) -> Result<(), crate::format::WriteError> {
    source.check()?;
    dispatch!(source.shape.layout, backend => backend::encode_affine(payload, source))
}

/// The payload of a network from the first layer on, and from the output map on, for a constant: the last
/// layer has `units` units, and `weights` begins with the first. `None` unless all maps are dense ones of the
/// quantized backend.
#[cfg_attr(not(feature = "quantized"), allow(unused_variables))]
pub(crate) const fn known_maps<'m>(
    spec: &ModelSpec,
    units: usize,
    weights: Cursor<'m>,
) -> Option<[&'m [u8]; 2]> {
    #[cfg(feature = "quantized")]
    if matches!(spec.layout, Layout::Fast | Layout::Small | Layout::Mean) {
        let rows = spec.outputs as usize * spec.likelihood.rows();
        let shape = AffineShape::output(spec.weight_format, spec.layout, [rows, units], &spec.output);
        let bytes = crate::quantized::dense_bytes(shape) + Vector::bytes_after_layers(spec);
        let layers = weights.rest();
        return match layers.split_at_checked(layers.len().saturating_sub(bytes)) {
            Some((_, output)) => Some([layers, output]),
            None => None,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_without_its_backend_is_refused_and_the_feature_named() {
        for layout in [Layout::Float, Layout::Small, Layout::Fast, Layout::Mean, Layout::Sparse] {
            let (built_in, feature) = match layout.is_quantized() {
                true => (cfg!(feature = "quantized"), "quantized"),
                false => (cfg!(feature = "float"), "float"),
            };
            let expected = if built_in { Ok(()) } else { Err(Error::NotBuiltIn { feature }) };
            assert_eq!(check_built_in(layout), expected, "{layout:?}");
        }
    }
}
