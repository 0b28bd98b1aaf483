//! Who may watch: this machine, or whoever has the token; and no page of another origin.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use anyhow::{Result, ensure};

use super::http::Request;

/// Least characters of a token that is given.
const LEAST_TOKEN: usize = 16;

/// The rules of a server.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// Required if the server does not listen on loopback alone.
    token: Option<String>,
    /// Names of this machine that a browser may use, besides `localhost` and numbers.
    hosts: Vec<String>,
    is_loopback: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The address in the request is not one of this machine: a page of another site may have rebound its name.
    Host,
    /// A page of another origin asks.
    Origin,
    /// The token is missing or wrong.
    Token,
}

impl Refusal {
    pub(super) fn text(self) -> &'static str {
        match self {
            Refusal::Host => {
                "this name is not one of the monitor: use the address that it printed, or start it with --host NAME"
            }
            Refusal::Origin => "a page of another origin may not watch",
            Refusal::Token => "the token is missing or wrong: use the address that the monitor printed",
        }
    }
}

impl Access {
    /// Rules for a server on this address. Without a token, one is drawn if it is needed.
    pub(super) fn new(address: SocketAddr, token: Option<&str>, hosts: &[String]) -> Result<Self> {
        let is_loopback = address.ip().is_loopback();
        if let Some(token) = token {
            let is_plain = token.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            ensure!(
                is_plain && token.len() >= LEAST_TOKEN,
                "the token must have {LEAST_TOKEN} characters or more, of letters, digits, - and _"
            );
        }
        let token = match token {
            Some(token) => Some(token.to_string()),
            None if is_loopback => None,
            None => Some(drawn_token()?),
        };
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Ok(Access { token, hosts, is_loopback })
    }

    /// The token, if one is required.
    pub(super) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Checks a request. Browsers always name the origin of a page that opens a WebSocket.
    pub(super) fn check(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.header("host").ok_or(Refusal::Host)?.to_ascii_lowercase();
        if !self.is_own(&host) {
            return Err(Refusal::Host);
        }
        if request.has("origin") {
            let origin = request.header("origin").unwrap_or_default().to_ascii_lowercase();
            if origin.strip_prefix("http://") != Some(&host) {
                return Err(Refusal::Origin);
            }
        }
        match &self.token {
            Some(token) if !is_equal(token, request.parameter("token").unwrap_or_default()) => {
                Err(Refusal::Token)
            }
            _ => Ok(()),
        }
    }

    /// Names can be bound to any address by whoever owns them; numbers cannot.
    fn is_own(&self, host: &str) -> bool {
        let name = without_port(host);
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address {
            Ok(address) => !self.is_loopback || address.is_loopback(),
            Err(_) => name == "localhost" || self.hosts.iter().any(|own| own == name),
        }
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => {
            if name.contains(':') && !name.starts_with('[') {
                host
            } else {
                name
            }
        }
        _ => host,
    }
}

/// Compares in a time that depends on the lengths alone.
fn is_equal(first: &str, second: &str) -> bool {
    let difference = first.bytes().zip(second.bytes()).fold(0, |sum, (first, second)| sum | (first ^ second));
    first.len() == second.len() && difference == 0
}

fn drawn_token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers for a token: {error}"))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(host: &str, origin: Option<&str>, query: &str) -> Request {
        let origin = origin.map_or(String::new(), |origin| format!("Origin: {origin}\r\n"));
        let head = format!("GET /ws?{query} HTTP/1.1\r\nHost: {host}\r\n{origin}\r\n");
        Request::of_text(&head)
    }

    fn access(address: &str) -> Access {
        let address = address.parse().expect("an address");
        Access::new(address, None, &["board.local".into()]).expect("rules")
    }

    #[test]
    fn only_names_of_this_machine_are_served() {
        let access = access("127.0.0.1:80");
        for host in
            ["localhost", "localhost:8000", "127.0.0.1:7", "[::1]:8000", "LOCALHOST:1", "board.local:80"]
        {
            assert_eq!(access.check(&request(host, None, "")), Ok(()), "{host}");
        }
        for host in
            ["evil.example", "evil.example:8000", "192.168.0.7:80", "localhost.evil.example", "", "::1"]
        {
            let refused = access.check(&request(host, None, ""));
            assert!(refused == Err(Refusal::Host) || host == "::1", "{host}: {refused:?}");
        }
        assert_eq!(access.token(), None);
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let access = access("127.0.0.1:80");
        let check = |origin| access.check(&request("localhost:80", Some(origin), ""));
        assert_eq!(check("http://localhost:80"), Ok(()));
        for origin in ["http://evil.example", "http://localhost:81", "https://localhost:80", "null", ""] {
            assert_eq!(check(origin), Err(Refusal::Origin), "{origin}");
        }
    }

    #[test]
    fn beyond_loopback_a_token_is_required() {
        let access = access("0.0.0.0:80");
        let token = access.token().expect("drawn").to_string();
        assert_eq!(token.len(), 32);
        let check = |query: &str| access.check(&request("192.168.0.7:80", None, query));
        assert_eq!(check(&format!("token={token}")), Ok(()));
        for query in
            ["", "token=", "token=wrong", &format!("token={}", &token[1..]), &format!("token={token}0")]
        {
            assert_eq!(check(query), Err(Refusal::Token), "{query}");
        }
        assert_eq!(access.check(&request("evil.example", None, "")), Err(Refusal::Host));
        let address = "127.0.0.1:80".parse().expect("an address");
        assert!(Access::new(address, Some("short"), &[]).is_err());
        assert!(Access::new(address, Some("0123456789abcdef"), &[]).expect("rules").token().is_some());
    }
}
