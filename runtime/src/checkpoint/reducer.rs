//! Reading the checkpoint of a reducer in place.

use super::read::lines;
use super::{Checkpoint, latent_validate, reducer_validate};
use crate::format::{
    Cursor, Error, F32s, Frame, Kind, Part, REDUCER_VERSION, Recheck, ReducerHeader, aligned,
    decode_reducer_header, names, zeros,
};
use crate::spec::{ClassifierSpec, ModelSpec, PoolOver, ReducerSpec};

/// A checked checkpoint of a reducer, borrowing its numbers from the bytes it was read from.
///
/// ```
/// use quaver::checkpoint::{Kind, ReducerCheckpoint};
/// use quaver::Error;
///
/// let predictor = quaver::include_checkpoint!("../../examples/grip_force.qvr");
/// let error = ReducerCheckpoint::read(predictor).unwrap_err();
/// assert_eq!(error, Error::Kind { found: Kind::Predictor });
/// ```
#[derive(Clone, Debug)]
pub struct ReducerCheckpoint<'m> {
    header: ReducerHeader<'m>,
    network: Checkpoint<'m>,
    numbers: ClassifierNumbers<'m>,
    bytes: &'m [u8],
    crc: u32,
}

/// Numbers of a classifier; lists that it does not have are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassifierNumbers<'m> {
    /// Prototype after prototype.
    pub(crate) prototypes: F32s<'m>,
    /// Class of each prototype, 16 bits, little-endian.
    pub(crate) labels: &'m [[u8; 2]],
    /// Row of weights of each class.
    pub(crate) weight: F32s<'m>,
    pub(crate) bias: F32s<'m>,
    /// Mean embedding of each class.
    pub(crate) centres: F32s<'m>,
    /// Factor of each component in squared distances from the centres.
    pub(crate) precision: F32s<'m>,
}

/// Sections of a classifier in the order of the file: bytes and name of each.
pub(crate) fn sections(spec: &ReducerSpec, dims: usize) -> [(usize, &'static str); 6] {
    let classes = usize::from(spec.classes);
    let (prototypes, linear, centres) = match spec.classifier {
        ClassifierSpec::None => (0, 0, 0),
        ClassifierSpec::Nearest { prototypes, .. } => (usize::from(prototypes), 0, 0),
        ClassifierSpec::Linear { centres, .. } => (0, classes, if centres { classes } else { 0 }),
    };
    [
        (4 * prototypes * dims, "prototypes"),
        (2 * prototypes, "labels"),
        (4 * linear * dims, "weight"),
        (4 * linear, "bias"),
        (4 * centres * dims, "centres"),
        (if centres > 0 { 4 * dims } else { 0 }, "precision"),
    ]
}

/// Components of an embedding.
pub(crate) fn dimensions(spec: &ReducerSpec, network: &ModelSpec) -> usize {
    match spec.over {
        PoolOver::Units => network.layers.last().map_or(0, |layer| layer.units.into()),
        PoolOver::Outputs => network.outputs.into(),
    }
}

impl<'m> ReducerCheckpoint<'m> {
    /// Checks the network, the pooling and the classifier.
    ///
    /// # Errors
    /// Names the part and the field at fault; see [`Error`].
    pub fn read(bytes: &'m [u8]) -> Result<Self, Error> {
        let Frame { header, payload, version, crc } = Frame::read(bytes, Kind::Reducer)?;
        if version != REDUCER_VERSION {
            return Err(Error::Version { found: version });
        }
        let header = decode_reducer_header(header)?;
        let network_bytes = header.network_bytes as usize;
        let found = payload.len();
        let length = |expected| Error::Length { field: "payload", expected, found };
        if found < aligned(network_bytes) {
            return Err(length(aligned(network_bytes)));
        }
        let mut cursor = Cursor::new(payload);
        let network = latent_validate::network(&mut cursor, network_bytes, Part::Network)?;
        let spec = &header.spec;
        reducer_validate::spec(spec)?;
        names(header.class_names, spec.classes, "class_names")?;
        reducer_validate::network(spec, &network)?;
        let sections = sections(spec, dimensions(spec, network.spec()));
        let expected = sections
            .iter()
            .fold(aligned(network_bytes), |sum, (bytes, _)| sum.saturating_add(aligned(*bytes)));
        if found != expected {
            return Err(length(expected));
        }
        let numbers = ClassifierNumbers::read(&mut cursor, &sections)?;
        reducer_validate::numbers(spec, &numbers)?;
        Ok(ReducerCheckpoint { header, network, numbers, bytes, crc })
    }

    /// Pooling and classifier.
    pub fn spec(&self) -> &ReducerSpec {
        &self.header.spec
    }

    /// The network that reads the rows.
    pub fn network(&self) -> &Checkpoint<'m> {
        &self.network
    }

    /// The same for good.
    pub(crate) fn into_network(self) -> Checkpoint<'m> {
        self.network
    }

    /// Components of an embedding.
    pub fn dimensions(&self) -> usize {
        dimensions(self.spec(), self.network.spec())
    }

    /// Names of the classes, in order; empty if they have none.
    pub fn class_names(&self) -> impl Iterator<Item = &'m str> + use<'m> {
        lines(self.header.class_names)
    }

    /// Name of a class; `None` beyond the last, and if classes have none.
    pub fn class_name(&self, class: usize) -> Option<&'m str> {
        line(self.header.class_names, class)
    }

    /// The stored prototypes: class and components of each.
    pub fn prototypes(&self) -> impl Iterator<Item = (u16, impl ExactSizeIterator<Item = f32> + 'm)> {
        self.numbers.prototypes(self.dimensions())
    }

    /// The numbers of the classifier.
    pub(crate) fn numbers(&self) -> ClassifierNumbers<'m> {
        self.numbers
    }

    /// A second look at the bytes, in case they have changed since they were read.
    pub fn recheck(&self) -> Recheck<'m> {
        Recheck::new(self.bytes, self.crc)
    }

    /// The checksum stored at the end of the file: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    pub(crate) fn header(&self) -> &ReducerHeader<'m> {
        &self.header
    }
}

/// Line `index` of names, one per line; `None` beyond the last.
pub(crate) fn line(names: &[u8], index: usize) -> Option<&str> {
    let mut rest = names;
    // Not `lines`, which leaves a panic path in an image.
    let end = |rest: &[u8]| rest.iter().position(|byte| *byte == b'\n');
    for _ in 0..index {
        rest = rest.get(end(rest)? + 1..)?;
    }
    let name = rest.get(..end(rest).unwrap_or(rest.len()))?;
    core::str::from_utf8(name).ok().filter(|name| !name.is_empty())
}

impl<'m> ClassifierNumbers<'m> {
    /// Class and components of each prototype.
    pub(crate) fn prototypes(
        self,
        dims: usize,
    ) -> impl Iterator<Item = (u16, impl ExactSizeIterator<Item = f32> + 'm)> {
        let labels = self.labels.iter().map(|label| u16::from_le_bytes(*label));
        labels.enumerate().map(move |(index, label)| (label, self.prototypes.part(index * dims, dims).iter()))
    }

    fn read(cursor: &mut Cursor<'m>, sections: &[(usize, &'static str); 6]) -> Result<Self, Error> {
        let mut read = [&[][..]; 6];
        for (section, (bytes, name)) in read.iter_mut().zip(sections) {
            let (numbers, padding) = cursor.padded(*bytes);
            zeros(padding, Part::Classifier, name)?;
            *section = numbers;
        }
        let [prototypes, labels, weight, bias, centres, precision] = read;
        Ok(ClassifierNumbers {
            prototypes: F32s::new(prototypes),
            labels: labels.as_chunks().0,
            weight: F32s::new(weight),
            bias: F32s::new(bias),
            centres: F32s::new(centres),
            precision: F32s::new(precision),
        })
    }
}
