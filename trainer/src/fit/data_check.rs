//! Whether a run that is resumed still reads the data that it started with.

use anyhow::{Result, bail, ensure};

use super::folder::RunFolder;
use super::progress::Progress;
use super::start::TrainOptions;
use super::state::RunState;
use crate::data::{Dataset, changed_file};

/// The notice for states without checksums.
const NO_CHECKSUMS: &str = "this run was started by an earlier version, which stored no checksums of the data: a change may go unnoticed";

/// Refuses other data than those that the run in `folder` started with, unless they are forced on it. `fresh`
/// is the state that a new run on `data` would start with.
pub(super) fn check_data<A: PartialEq>(
    (state, fresh): (&RunState<A>, &RunState<A>),
    data: &Dataset,
    folder: &RunFolder,
    options: TrainOptions,
    progress: &mut dyn Progress,
) -> Result<()> {
    let shown = folder.path().display();
    ensure!(
        state.spec == fresh.spec
            && state.input_names == fresh.input_names
            && state.target_names == fresh.target_names,
        "the channels of the data differ from those that the run in `{shown}` started with: restore them, or start \
         another run"
    );
    let remedy = "restore the data, start another run, or go on with the data as they are with --force";
    if let Some(before) = &state.data {
        match changed_file(before, &data.files) {
            Some(change) if !options.force => bail!("{change} since the run in `{shown}` started: {remedy}"),
            _ => return Ok(()),
        }
    }
    ensure!(
        options.force || has_scaling_of(state, fresh),
        "the data differ from those that the run in `{shown}` started with: {remedy}"
    );
    if fresh.data.is_some() {
        progress.notice(NO_CHECKSUMS);
    }
    Ok(())
}

/// Whether the data of two states have the same scale. The scaling of a state of an earlier version has no
/// density.
fn has_scaling_of<A>(state: &RunState<A>, fresh: &RunState<A>) -> bool {
    let mut scaling = fresh.scaling.clone();
    if state.scaling.density.is_none() {
        scaling.density = None;
    }
    state.scaling == scaling
}
