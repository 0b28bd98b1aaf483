//! Checks of affine maps in the float layout.

use super::format::Section;
use crate::format::{AffineShape, Cursor, Error, Limits, Part, check, numbers, zeros};
use crate::limits::{VAR_LIMIT, WEIGHT_LIMIT};
use crate::spec::{ModelSpec, WeightFormat};

/// The float backend runs every architecture.
pub(crate) fn check_spec(_: &ModelSpec) -> Result<(), Error> {
    Ok(())
}

/// Checks every section of the next affine map.
#[inline(never)]
pub(crate) fn check_affine(cursor: &mut Cursor<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    for section in Section::ALL {
        check_section(section, cursor.padded(section.bytes(shape)), shape.format, part)?;
    }
    Ok(())
}

fn check_section(
    section: Section,
    bytes: (&[u8], &[u8]),
    format: WeightFormat,
    part: Part,
) -> Result<(), Error> {
    let limits = match (section, format) {
        (Section::Weight, WeightFormat::Int8) => {
            let codes = bytes.0.iter().all(|code| *code != 0x80);
            check(codes, part, section.name(), "codes from -127 to 127")?;
            return zeros(bytes.1, part, section.name());
        }
        (Section::WeightVar, WeightFormat::Int8) => return zeros(bytes.1, part, section.name()),
        (Section::Bias | Section::Weight, _) => {
            &Limits { low: -WEIGHT_LIMIT, high: WEIGHT_LIMIT, allowed: "finite, at most 1e6" }
        }
        // Codes go up to 255, so a scale is limited to what keeps the product within the limit.
        (Section::WeightScale | Section::StdDevScale, _) => {
            &Limits { low: 0.0, high: 3e3, allowed: "from 0 to 3000" }
        }
        (Section::BiasVar | Section::WeightVar, _) => {
            &Limits { low: 0.0, high: VAR_LIMIT, allowed: "from 0 to 1e12" }
        }
    };
    numbers(bytes, part, section.name(), limits)
}
