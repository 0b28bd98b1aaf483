//! The little of HTTP that a page on loopback needs.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// Most bytes of a request.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;

/// A request without its body.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// The part after `?`.
    pub(super) query: String,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Reads the head of a request; `None` if it is not one.
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let mut head = Vec::new();
        let mut byte = [0; 1024];
        loop {
            if let Some(request) = Self::parse(&head)? {
                return Ok(Some(request));
            }
            let count = stream.read(&mut byte)?;
            if count == 0 || head.len() + count > MAX_HEAD {
                return Ok(None);
            }
            head.extend_from_slice(&byte[..count]);
        }
    }

    /// A complete head; `None` if bytes are missing.
    fn parse(head: &[u8]) -> io::Result<Option<Self>> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let bad = |error: httparse::Error| io::Error::new(ErrorKind::InvalidData, error);
        if request.parse(head).map_err(bad)?.is_partial() {
            return Ok(None);
        }
        let target = request.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
        let headers =
            request.headers.iter().map(|header| (header.name.to_ascii_lowercase(), text(header.value)));
        Ok(Some(Request {
            method: request.method.unwrap_or_default().into(),
            path: path.into(),
            query: query.into(),
            headers: headers.collect(),
        }))
    }

    /// A request for tests of those who check one.
    #[cfg(test)]
    pub(super) fn of_text(head: &str) -> Self {
        Self::parse(head.as_bytes()).expect("valid").expect("complete")
    }

    /// A header, if it is there exactly once.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found =
            self.headers.iter().filter(|(found, _)| found == name).map(|(_, value)| value.as_str());
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether a header is there, however often.
    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(found, _)| found == name)
    }

    /// A value of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Whether the client wants to change to WebSocket.
    pub(super) fn is_upgrade(&self) -> bool {
        let has = |name, wanted: &str| {
            self.header(name).is_some_and(|value| value.to_ascii_lowercase().contains(wanted))
        };
        has("upgrade", "websocket") && has("connection", "upgrade")
    }
}

/// Answers, and asks for the connection to be closed.
pub(super) fn respond(
    stream: &mut TcpStream,
    status: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

/// Answers with a line of text.
pub(super) fn respond_text(stream: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    respond(stream, status, &[("Content-Type", "text/plain; charset=utf-8")], format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let head = "GET /ws?token=abc&x=1 HTTP/1.1\r\nHost: localhost:80\r\nUpgrade: WebSocket\r\n\
                    Connection: keep-alive, Upgrade\r\nA: 1\r\nA: 2\r\n\r\n";
        let request = Request::parse(head.as_bytes()).expect("valid").expect("complete");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/ws"));
        assert_eq!((request.parameter("token"), request.parameter("y")), (Some("abc"), None));
        assert_eq!((request.header("host"), request.header("a")), (Some("localhost:80"), None));
        assert!(request.is_upgrade() && request.has("a"));
        assert!(Request::parse(&head.as_bytes()[..40]).expect("valid so far").is_none());
        assert!(Request::parse(b"\x16\x03\x01 not HTTP\r\n\r\n").is_err());
    }
}
