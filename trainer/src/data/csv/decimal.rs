//! Decimal numbers of few digits, as nearly all cells have them, with the bits that the standard library
//! gives.
//!
//! A number of digits without an exponent is an integer divided by a power of ten. Where both are exact in
//! the format, the quotient is rounded once, hence correctly (Clinger 1990, *How to Read Floating Point
//! Numbers Accurately*): integers up to 2²⁴ and powers up to 10¹⁰ in f32, 2⁵³ and 10²² in f64. All others are
//! left to the standard library.

/// Largest integer below which all are exact in f32, and in f64.
const EXACT: [u64; 2] = [1 << 24, 1 << 53];

const POWERS_F32: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];

const POWERS_F64: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19,
];

/// Most characters of a plain number: as many digits do not overflow.
const LONGEST: usize = 19;

/// A number written with digits, and with a sign and a point if it has them.
struct Plain {
    is_negative: bool,
    digits: u64,
    /// Digits after the point.
    places: usize,
    has_point: bool,
}

impl Plain {
    fn parse(cell: &str) -> Option<Self> {
        let bytes = cell.as_bytes();
        let (is_negative, unsigned) = match bytes {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, bytes),
        };
        if unsigned.is_empty() || unsigned.len() > LONGEST {
            return None;
        }
        let (mut digits, mut point) = (0_u64, None);
        for (index, byte) in unsigned.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                digits = 10 * digits + u64::from(digit);
            } else if *byte == b'.' && point.is_none() {
                point = Some(index);
            } else {
                return None;
            }
        }
        let places = point.map_or(0, |point| unsigned.len() - 1 - point);
        let count = unsigned.len() - usize::from(point.is_some());
        (count > 0).then_some(Plain { is_negative, digits, places, has_point: point.is_some() })
    }
}

/// The number of a cell, and whether it has a point; nothing if it is not plain.
pub(super) fn plain_f32(cell: &str) -> Option<(f32, bool)> {
    let Plain { is_negative, digits, places, has_point } = Plain::parse(cell)?;
    let power = POWERS_F32.get(places).filter(|_| digits <= EXACT[0])?;
    let value = digits as f32 / power;
    Some((if is_negative { -value } else { value }, has_point))
}

/// The number of a cell; nothing if it is not plain.
pub(super) fn plain_f64(cell: &str) -> Option<f64> {
    let Plain { is_negative, digits, places, .. } = Plain::parse(cell)?;
    let power = POWERS_F64.get(places).filter(|_| digits <= EXACT[1])?;
    let value = digits as f64 / power;
    Some(if is_negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_have_the_bits_of_the_standard_library() {
        let mut state = 7_u64;
        let mut draw = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut f32s, mut f64s) = (0, 0);
        for _ in 0..200_000 {
            let digits: String = (0..=draw(20)).map(|_| char::from(b'0' + draw(10) as u8)).collect();
            let point = draw(digits.len() as u64 + 1) as usize;
            let sign = ["", "-"][draw(2) as usize];
            let dot = ["", "."][draw(2) as usize];
            let cell = format!("{sign}{}{dot}{}", &digits[..point], &digits[point..]);
            if let Some((value, has_point)) = plain_f32(&cell) {
                assert_eq!(value.to_bits(), cell.parse::<f32>().unwrap().to_bits(), "{cell}");
                assert_eq!(has_point, cell.contains('.'));
                f32s += 1;
            }
            if let Some(value) = plain_f64(&cell) {
                assert_eq!(value.to_bits(), cell.parse::<f64>().unwrap().to_bits(), "{cell}");
                f64s += 1;
            }
        }
        assert!(f32s > 50_000 && f64s > 100_000, "{f32s} and {f64s}");
    }

    #[test]
    fn the_limits_are_those_of_exact_numbers() {
        assert_eq!(plain_f32("16777216"), Some((16_777_216.0, false)));
        assert_eq!(plain_f32("16777217"), None);
        assert_eq!(plain_f32("0.0000000001").map(|found| found.0.to_bits()), Some(1e-10_f32.to_bits()));
        assert_eq!(plain_f32("0.00000000001"), None);
        assert_eq!(plain_f64("9007199254740992"), Some(9_007_199_254_740_992.0));
        assert_eq!(plain_f64("9007199254740993"), None);
        assert_eq!(plain_f32("-0").map(|found| found.0.to_bits()), Some((-0.0_f32).to_bits()));
    }

    #[test]
    fn whatever_is_not_plain_is_left_to_others() {
        for cell in
            ["", "-", ".", "-.", "1.2.3", "1e5", "+1", "inf", "nan", "1,5", " 1", "12345678901234567890"]
        {
            assert_eq!((plain_f32(cell), plain_f64(cell)), (None, None), "{cell}");
        }
        assert_eq!(plain_f32("5."), Some((5.0, true)));
        assert_eq!(plain_f32("-.5"), Some((-0.5, true)));
    }
}
