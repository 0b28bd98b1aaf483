//! Status codes of the interface, with a text for each.

use core::ffi::CStr;

use quaver::Error;

/// What a function returns: 0, or a negative number that says why it did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(i32);

macro_rules! statuses {
    ($($(#[$meta:meta])* $constant:ident = $code:ident: $text:literal;)*) => {
        impl Status {
            $(pub(crate) const $constant: Status = Status(crate::codes::$code);)*

            /// The text of a code.
            pub(crate) fn text(code: i32) -> &'static CStr {
                match code {
                    $(crate::codes::$code => $text,)*
                    _ => c"a number that is no status of this version of quaver",
                }
            }
        }

        #[cfg(test)]
        const ALL: &[(Status, &CStr)] = &[$((Status::$constant, $text)),*];
    };
}

statuses! {
    OK = QUAVER_OK: c"ok";
    NULL = QUAVER_ERROR_NULL: c"a pointer is null where something is needed";
    MISALIGNED = QUAVER_ERROR_MISALIGNED:
        c"a pointer is not aligned: arenas to 8 bytes, numbers to their own size";
    OVERLAP = QUAVER_ERROR_OVERLAP:
        c"memory that is written overlaps another argument, the arena or the model";
    HANDLE = QUAVER_ERROR_HANDLE:
        c"not a handle of this kind: never loaded, of another kind, or its arena was moved or overwritten";
    BUSY = QUAVER_ERROR_BUSY: c"the handle is in use by another call, from an interrupt, a thread or a callback";
    SHORT = QUAVER_ERROR_SHORT: c"the memory for a result is too short";
    RANGE = QUAVER_ERROR_RANGE: c"an argument is outside of its range";
    MAGIC = QUAVER_ERROR_MAGIC: c"not a Quaver checkpoint: the magic bytes are missing";
    SIGNED = QUAVER_ERROR_SIGNED: c"the checkpoint is in a signed envelope, which has to be opened first";
    KIND = QUAVER_ERROR_KIND:
        c"a checkpoint of another kind: a predictor is one network, a denoiser or a sampler two";
    VERSION = QUAVER_ERROR_VERSION:
        c"the checkpoint has a format version that this library does not read: export the model again";
    LENGTH = QUAVER_ERROR_LENGTH: c"the checkpoint is truncated, or longer than it says";
    CRC = QUAVER_ERROR_CRC: c"the checksum of the checkpoint does not match: it is damaged";
    HEADER = QUAVER_ERROR_HEADER: c"the header of the checkpoint cannot be decoded";
    INVALID = QUAVER_ERROR_INVALID:
        c"a value of the checkpoint, or a setting of adaptation, is outside of its range";
    NOT_BUILT_IN = QUAVER_ERROR_NOT_BUILT_IN: c"the layout of the model is not built into this library";
    ARENA = QUAVER_ERROR_ARENA: c"the arena is too small: quaver_arena_words returns what is needed";
    BUDGET = QUAVER_ERROR_BUDGET: c"a step of the model takes longer than allowed";
    STATE = QUAVER_ERROR_STATE: c"a saved state has another length";
    STATE_VALUE = QUAVER_ERROR_STATE_VALUE: c"a state holds a value that no step can have left";
    UNKNOWN = QUAVER_ERROR_UNKNOWN: c"an error that this interface has no code for";
}

impl Status {
    /// The number for C.
    pub(crate) fn code(self) -> i32 {
        self.0
    }

    /// The status of a call that returned `result`.
    pub(crate) fn of(result: Result<(), Status>) -> i32 {
        result.err().unwrap_or(Status::OK).code()
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Magic => Status::MAGIC,
            Error::Signed => Status::SIGNED,
            Error::Kind { .. } => Status::KIND,
            Error::Version { .. } => Status::VERSION,
            Error::Length { .. } => Status::LENGTH,
            Error::Crc { .. } => Status::CRC,
            Error::Header => Status::HEADER,
            // A denoiser that is loaded as a sampler, or the reverse.
            Error::Invalid { field: "family", .. } => Status::KIND,
            Error::Invalid { .. } | Error::InvalidIn { .. } => Status::INVALID,
            Error::NotBuiltIn { .. } => Status::NOT_BUILT_IN,
            Error::Arena { .. } => Status::ARENA,
            Error::Budget { .. } => Status::BUDGET,
            Error::State { .. } => Status::STATE,
            Error::StateValue { .. } => Status::STATE_VALUE,
            _ => Status::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_status_has_a_number_and_a_text_of_its_own() {
        let numbers: BTreeSet<i32> = ALL.iter().map(|(status, _)| status.code()).collect();
        let texts: BTreeSet<&CStr> = ALL.iter().map(|(_, text)| *text).collect();
        assert_eq!([numbers.len(), texts.len()], [ALL.len(); 2]);
        for (status, text) in ALL {
            assert_eq!(Status::text(status.code()), *text);
            assert!(status.code() < 0 || *status == Status::OK);
        }
        assert!(Status::text(7).to_str().expect("ASCII").contains("no status"));
    }
}
