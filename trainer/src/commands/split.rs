//! The split of a data set that a command reads.

use clap::ValueEnum;

use crate::data::{Dataset, Sequence};

/// Value of `--split`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Split {
    Train,
    Valid,
    Test,
}

impl Split {
    pub(super) fn of(self, data: &Dataset) -> &[Sequence] {
        match self {
            Split::Train => &data.train,
            Split::Valid => &data.valid,
            Split::Test => &data.test,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Valid => "valid",
            Split::Test => "test",
        }
    }
}
