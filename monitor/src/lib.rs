//! Watches a stream of rows and predictions in a browser, and records it as training data.
//!
//! A row takes this way: [`source`] opens a port, a connection or a file; [`reader`] decodes what arrives and
//! may run a model on it; [`hub`] keeps the last rows in bounded memory; [`server`] sends them to any number of
//! browsers, and [`record`] writes them to files. Whoever reads from the hub can be slow without slowing the
//! reader.
#![warn(missing_docs)]

pub mod hub;
pub mod label;
pub mod layout;
mod model;
pub mod reader;
pub mod record;
pub mod row;
pub mod server;
pub mod source;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells threads to end.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends everything that looks.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Sets it when the user interrupts the program, or asks it to end.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn on_signals(&self) -> std::io::Result<()> {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&self.0))?;
        }
        Ok(())
    }
}
