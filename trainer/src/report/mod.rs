//! What a run has to say, as one HTML file that needs nothing else.

pub(crate) mod file;
