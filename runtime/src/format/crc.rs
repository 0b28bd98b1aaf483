//! The checksum of a checkpoint: CRC-32 as in zip and Ethernet (ISO-HDLC).

/// The polynomial, lowest power first.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// Effect of four bits at the end of the register: 64 bytes of flash, where the usual table for eight bits
/// takes 1 KB.
const FOUR_BITS: [u32; 16] = {
    let mut table = [0; 16];
    let mut index = 0;
    while index < 16 {
        let (mut register, mut bit) = (index as u32, 0);
        while bit < 4 {
            register = (register >> 1) ^ (POLYNOMIAL * (register & 1));
            bit += 1;
        }
        table[index] = register;
        index += 1;
    }
    table
};

/// The register before the first byte.
pub(super) const START: u32 = !0;

/// The checksum of all bytes.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    !extended(START, bytes)
}

/// The register after more bytes. Its complement is their checksum.
#[inline(never)]
pub(super) fn extended(register: u32, bytes: &[u8]) -> u32 {
    let four_bits = |register: u32| (register >> 4) ^ FOUR_BITS[register as usize & 15];
    bytes.iter().fold(register, |register, byte| four_bits(four_bits(register ^ u32::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn the_published_check_value_comes_out() {
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum(b""), 0);
    }
}
