//! `quaver monitor`: a live stream in a browser.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use quaver_monitor::hub::Connection;
use quaver_monitor::server::{Options, Server};

use super::{SourceOptions, clear_line, losses, show, trouble};
use crate::commands::print::{print_json, print_text};

/// The port if none is given and it is free.
const PORT: u16 = 7878;

/// Watch a live stream in a browser: inputs, predictions with their error bars, surprise
///
/// Reads frames of a board from a serial port or TCP, or rows that a checkpoint runs on here, and serves one
/// page with everything in it: no network is needed. Any number of browsers may watch; one that is slow skips
/// rows and slows nothing. The page pauses, zooms, and records to CSV and MCAP. Memory is bounded, so it may
/// run for days. Ctrl-C ends it and completes recordings.
///
/// Only programs on this machine can reach the page, unless --listen names another address. Then a token is
/// required, which is part of the address that is printed; the connection is not encrypted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver monitor                                       the board on the only USB port
  quaver monitor /dev/ttyUSB0 --baud 921600
  quaver monitor tcp:localhost:4444                    an emulated board
  quaver monitor rows.csv --model model.qvr --loop     no board: rows of a file through a checkpoint
  tail -f live.csv | quaver monitor - --model model.qvr
  quaver monitor --listen 0.0.0.0:7878                 for a phone in the same network; prints a token")]
pub struct Arguments {
    #[command(flatten)]
    source: SourceOptions,
    /// Address and port of the page; port 0 for any that is free [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// The token that viewers need, instead of one that is drawn; on loopback none is needed otherwise.
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// A name of this machine by which browsers may reach it; numbers and localhost always may. Can be
    /// repeated.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Folder for recordings.
    #[arg(long, value_name = "DIR", default_value = ".")]
    record_dir: PathBuf,
    /// Print the address of the page as a JSON object.
    #[arg(long)]
    json: bool,
}

pub(in crate::commands) fn run(arguments: &Arguments) -> Result<()> {
    if !arguments.record_dir.is_dir() {
        bail!("--record-dir {} is no folder: make it first", arguments.record_dir.display());
    }
    let (hub, stop, source) = arguments.source.start()?;
    let options = |address| Options {
        address,
        token: arguments.token.clone(),
        hosts: arguments.hosts.clone(),
        folder: arguments.record_dir.clone(),
    };
    let server = match arguments.listen {
        Some(address) => Server::start(&options(address), hub.clone())?,
        None => {
            let usual = Server::start(&options(SocketAddr::from(([127, 0, 0, 1], PORT))), hub.clone());
            usual.or_else(|_| Server::start(&options(SocketAddr::from(([127, 0, 0, 1], 0))), hub.clone()))?
        }
    };
    if arguments.json {
        print_json(&serde_json::json!({ "url": server.url(), "source": source }))?;
    } else {
        print_text(&format!("watching {source}: open {} in a browser; Ctrl-C ends\n", server.url()))?;
    }
    let mut before = None;
    while !stop.is_set() {
        if let Connection::Failed(why) = hub.status_of_connection() {
            clear_line();
            bail!("{why}");
        }
        let now = trouble(&hub);
        if now != before {
            show(now.as_deref().unwrap_or_default());
            before = now;
        }
        thread::sleep(Duration::from_millis(100));
    }
    drop(server);
    clear_line();
    eprintln!("{} rows, {}", hub.status().rows, losses(&hub));
    Ok(())
}
