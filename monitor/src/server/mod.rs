//! Serves the page, and rows over a WebSocket, to any number of viewers.

mod access;
mod http;
mod message;
mod page;
mod recorders;
mod viewer;

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use tungstenite::handshake::derive_accept_key;

use crate::Stop;
use crate::hub::Hub;
use access::Access;
use http::{Request, respond, respond_text};
pub use message::{HEAD, MAGIC, ROW_HEAD};
use recorders::Recorders;
use viewer::Viewer;

/// Most connections at once.
const MAX_CONNECTIONS: usize = 64;
/// How long a request may take.
const REQUEST: Duration = Duration::from_secs(5);
/// Time between looks for new connections.
const ACCEPT: Duration = Duration::from_millis(20);

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address and port; port 0 for any that is free.
    pub address: SocketAddr,
    /// Required of every viewer. Beyond loopback one is drawn if none is given.
    pub token: Option<String>,
    /// Further names of this machine that browsers may use.
    pub hosts: Vec<String>,
    /// Folder of recordings.
    pub folder: PathBuf,
}

/// A server that runs.
pub struct Server {
    address: SocketAddr,
    url: String,
    stop: Stop,
    shared: Arc<Shared>,
    thread: Option<thread::JoinHandle<()>>,
}

struct Shared {
    hub: Arc<Hub>,
    access: Access,
    recorders: Recorders,
    connections: AtomicUsize,
}

impl Server {
    /// Begins to serve.
    ///
    /// # Errors
    /// If the address is not free, with advice.
    pub fn start(options: &Options, hub: Arc<Hub>) -> Result<Self> {
        let listener = TcpListener::bind(options.address).with_context(|| {
            format!("cannot listen on {}: give another port with --listen, or 0 for any", options.address)
        })?;
        let address = listener.local_addr()?;
        let access = Access::new(address, options.token.as_deref(), &options.hosts)?;
        let query = access.token().map_or(String::new(), |token| format!("?token={token}"));
        let url = format!("http://{address}/{query}");
        listener.set_nonblocking(true)?;
        let recorders = Recorders::new(Arc::clone(&hub), options.folder.clone());
        let shared = Arc::new(Shared { hub, access, recorders, connections: AtomicUsize::new(0) });
        let stop = Stop::default();
        let (ends, serves) = (stop.clone(), Arc::clone(&shared));
        let work = move || accept(&listener, &serves, &ends);
        let thread =
            thread::Builder::new().name("server".into()).spawn(work).context("cannot start a thread")?;
        Ok(Server { address, url, stop, shared, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser, with the token if one is required.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Server {
    /// Stops serving, and completes recordings.
    fn drop(&mut self) {
        self.stop.set();
        self.shared.recorders.stop_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, stop: &Stop) {
    while !stop.is_set() {
        match listener.accept() {
            Ok((stream, _)) => connect(stream, shared, stop),
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(ACCEPT),
            // A connection that ended before it was accepted, or too many open files: the next may work.
            Err(_) => thread::sleep(ACCEPT),
        }
    }
}

fn connect(stream: TcpStream, shared: &Arc<Shared>, stop: &Stop) {
    let (shared, stop) = (Arc::clone(shared), stop.clone());
    if shared.connections.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
        shared.connections.fetch_sub(1, Ordering::SeqCst);
        return;
    }
    let work = move || {
        // What goes wrong with one viewer is its own affair.
        let _ = serve(stream, &shared, &stop);
        shared.connections.fetch_sub(1, Ordering::SeqCst);
    };
    let _ = thread::Builder::new().name("viewer".into()).spawn(work);
}

fn serve(mut stream: TcpStream, shared: &Shared, stop: &Stop) -> Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(REQUEST))?;
    stream.set_write_timeout(Some(REQUEST))?;
    let Some(request) = Request::read(&mut stream)? else { return Ok(()) };
    if let Err(refusal) = shared.access.check(&request) {
        return Ok(respond_text(&mut stream, "403 Forbidden", refusal.text())?);
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/") => {
            let (page, policy) = page::document();
            let headers =
                [("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy.as_str())];
            Ok(respond(&mut stream, "200 OK", &headers, page.as_bytes())?)
        }
        ("GET", "/status") => {
            let body = serde_json::to_vec(&shared.hub.status())?;
            Ok(respond(&mut stream, "200 OK", &[("Content-Type", "application/json")], &body)?)
        }
        ("GET", "/ws") if request.is_upgrade() => watch(stream, &request, shared, stop),
        ("GET", _) => Ok(respond_text(&mut stream, "404 Not Found", "the page is at /")?),
        _ => Ok(respond_text(&mut stream, "405 Method Not Allowed", "only GET")?),
    }
}

fn watch(mut stream: TcpStream, request: &Request, shared: &Shared, stop: &Stop) -> Result<()> {
    let Some(key) = request.header("sec-websocket-key") else {
        return Ok(respond_text(&mut stream, "400 Bad Request", "no Sec-WebSocket-Key")?);
    };
    let accept = derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    shared.hub.add_viewers(1);
    let result = Viewer::new(stream, &shared.hub, &shared.recorders).map_err(Into::into);
    let result = result.and_then(|viewer| viewer.run(stop));
    shared.hub.add_viewers(-1);
    result
}
