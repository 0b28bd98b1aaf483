//! A bridge between the Lab Streaming Layer and a model; see README.md.

mod arguments;
mod columns;
mod inlet;
mod outlet;
mod record;
mod run;
mod timeline;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use quaver_bridge::{Memory, StopFlag, exit_code};

use arguments::Arguments;
use columns::columns;
use inlet::Inlet;
use outlet::Outlet;
use record::Record;
use run::Bridge;

fn main() -> ExitCode {
    exit_code(run())
}

fn run() -> Result<()> {
    let arguments = Arguments::parse();
    let stop = StopFlag::on_signals()?;
    if arguments.list {
        return inlet::list(arguments.wait);
    }
    // What can be wrong without a stream is found before the search for one.
    arguments.record.as_deref().map_or(Ok(()), record::check)?;
    let mut memory = arguments.model.as_deref().map(Memory::read).transpose()?;
    let stream = memory.as_mut().map(Memory::stream).transpose();
    let mut stream = stream.with_context(|| arguments.model_name())?;
    let Some(inlet) = Inlet::open(&arguments, &stop)? else { return Ok(()) };
    eprintln!("{}", inlet.description());
    let record = arguments.record.as_deref().map(|path| Record::create(path, &inlet.labels)).transpose()?;
    let model = stream.as_mut().map(|stream| -> Result<_> {
        let columns = columns(&arguments, stream.inputs(), &inlet.labels)?;
        let outlet = Outlet::open(&arguments, stream, &inlet)?;
        eprintln!("{}", outlet.description());
        Ok((stream, columns, outlet))
    });
    let mut bridge = Bridge::new(&inlet, arguments.timeout, model.transpose()?, record);
    bridge.run(&stop)?;
    eprintln!("{}", bridge.summary());
    Ok(())
}
