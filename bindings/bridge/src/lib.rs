//! What bridges between message systems and models share.
//!
//! [`Memory`] owns a checkpoint and the words of one stream, [`Stream`] steps it, [`Estimate`] is the result
//! of a step, [`assign`] decides which source every channel of the model is read from, [`Durations`]
//! measures, [`StopFlag`] ends a bridge cleanly, and [`exit_code`] reports how it ended.
#![warn(missing_docs)]

mod channels;
mod durations;
mod estimate;
mod stop;
mod stream;

pub use channels::assign;
pub use durations::Durations;
pub use estimate::Estimate;
pub use stop::{StopFlag, exit_code};
pub use stream::{Memory, Stream};
