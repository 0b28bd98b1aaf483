//! Reading a checkpoint in place: everything is checked once, nothing is copied.

#[cfg(feature = "write")]
use std::vec::Vec;

#[cfg(feature = "write")]
use super::WriteError;
use crate::backend::{check_payload, check_spec};
use crate::format::{
    self, Cursor, Error, Frame, Header, Kind, Recheck, decode_header, known_header, known_sections,
};
#[cfg(feature = "write")]
use crate::format::{encode_header, framed};
use crate::spec::ModelSpec;

/// A checked checkpoint of one network, borrowing its weights from the bytes it was read from.
#[derive(Clone, Debug)]
pub struct Checkpoint<'m> {
    header: Header<'m>,
    payload: &'m [u8],
    /// The whole file, to look at it again.
    bytes: &'m [u8],
    crc: u32,
}

impl<'m> Checkpoint<'m> {
    /// Checks every length, every number and the checksum.
    ///
    /// # Errors
    /// Names the field at fault; see [`Error`].
    pub fn read(bytes: &'m [u8]) -> Result<Self, Error> {
        let Frame { header, payload, version, crc } = Frame::read(bytes, Kind::Predictor)?;
        let checkpoint = Checkpoint { header: decode_header(header)?, payload, bytes, crc };
        // Equal models are equal files: the version says whether there are extensions.
        if version != checkpoint.header.version() {
            return Err(Error::Header);
        }
        checkpoint.check_contents()?;
        Ok(checkpoint)
    }

    /// A checkpoint that was checked when the program was made; see [`embed_model`](crate::embed_model).
    ///
    /// # Panics
    /// If it is no checkpoint of one network, or its backend is not built in; in a constant that is an error
    /// of compilation.
    pub(crate) const fn known(bytes: &'m [u8]) -> Self {
        let sections = match Kind::of(bytes) {
            Some(Kind::Predictor) => known_sections(bytes),
            _ => None,
        };
        let Some([header, payload, stored]) = sections else {
            panic!("the file is no checkpoint of one network")
        };
        let crc = match stored.first_chunk() {
            Some(crc) => u32::from_le_bytes(*crc),
            None => panic!("the checkpoint has no checksum"),
        };
        Checkpoint { header: known_header(header), payload, bytes, crc }
    }

    #[inline(never)]
    fn check_contents(&self) -> Result<(), Error> {
        let spec = self.spec();
        format::spec(spec)?;
        check_spec(spec)?;
        format::names(self.header.input_names, spec.inputs, "input_names")?;
        format::names(self.header.output_names, spec.outputs, "output_names")?;
        check_payload(spec, self.payload)
    }

    /// The architecture.
    pub const fn spec(&self) -> &ModelSpec {
        &self.header.spec
    }

    /// The checksum stored at the end of the file: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// A second look at the bytes, in case they have changed since they were read.
    pub fn recheck(&self) -> Recheck<'m> {
        Recheck::new(self.bytes, self.crc)
    }

    /// Bytes of weights, biases and scales.
    pub fn payload_bytes(&self) -> usize {
        self.payload.len()
    }

    /// Names of the inputs, in order; empty if they have none.
    pub fn input_names(&self) -> impl Iterator<Item = &'m str> + Clone + use<'m> {
        lines(self.header.input_names)
    }

    /// Names of the outputs, in order; empty if they have none.
    pub fn output_names(&self) -> impl Iterator<Item = &'m str> + Clone + use<'m> {
        lines(self.header.output_names)
    }

    /// The checkpoint written down again, in the version that its contents need.
    #[cfg(feature = "write")]
    pub(super) fn encode(&self) -> Result<Vec<u8>, WriteError> {
        framed(Kind::Predictor, self.header.version(), &encode_header(&self.header), self.payload)
    }

    /// Blocks of four rows and two columns that each affine map holds, the layers' and then the output's;
    /// empty unless the layout can leave blocks out. Not part of the stable interface, see `quaver::export`.
    #[cfg(all(feature = "write", feature = "quantized"))]
    #[doc(hidden)]
    pub fn stored_blocks(&self) -> std::vec::Vec<format::StoredBlocks> {
        crate::backend::stored_blocks(self.spec(), self.payload)
    }

    /// The payload from its start.
    pub(crate) const fn cursor(&self) -> Cursor<'m> {
        Cursor::new(self.payload)
    }
}

/// Decoded when names are asked for and not before: most boards never do. By bytes, because the lines of a
/// `str` have a panic path.
pub(super) fn lines(names: &[u8]) -> impl Iterator<Item = &str> + Clone {
    let lines = names.split(|byte| *byte == b'\n').filter(|name| !name.is_empty());
    lines.map(|name| core::str::from_utf8(name).unwrap_or_default())
}
