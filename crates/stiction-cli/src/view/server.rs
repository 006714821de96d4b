//! Serves one page over HTTP/1.1 on the loopback interface.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Interval between polls for connections and for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(30);
/// Read timeout of a connection.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Largest request, bytes; browsers send less.
const REQUEST_LIMIT: usize = 16 << 10;

/// A page and its socket.
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    page: Arc<str>,
}

impl Server {
    /// Binds to a port of the loopback interface; 0 chooses a free one.
    pub(crate) fn bind(port: u16, page: String) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        Ok(Self { address: listener.local_addr()?, listener, page: page.into() })
    }

    /// Address of the page.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until `stop` is set.
    pub(crate) fn serve(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((caller, _)) => {
                    let (page, port) = (Arc::clone(&self.page), self.address.port());
                    // Browsers open spare connections; a silent one must not block the others.
                    thread::spawn(move || answer(caller, &page, port));
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }
}

/// Answers one connection; errors of the connection are ignored.
fn answer(mut caller: TcpStream, page: &str, port: u16) {
    let _ = caller.set_nonblocking(false);
    let _ = caller.set_read_timeout(Some(TIMEOUT));
    let _ = caller.set_write_timeout(Some(TIMEOUT));
    let request = read_head(&mut caller);
    let _ = caller.write_all(response(&request, page, port).as_bytes());
    let _ = caller.flush();
}

/// Reads the lines before the first empty one.
fn read_head(caller: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 1024];
    while bytes.len() < REQUEST_LIMIT && !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        match caller.read(&mut part) {
            Ok(count) if count > 0 => bytes.extend_from_slice(part.get(..count).unwrap_or_default()),
            _ => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the page for `GET /`, and an error for everything else.
fn response(request: &str, page: &str, port: u16) -> String {
    let mut words = request.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(['?', '#']).next().unwrap_or_default();
    match (method, path) {
        ("", _) => message("400 Bad Request", "text/plain", "not a request\n"),
        _ if hosts(request).count() != 1 => message("400 Bad Request", "text/plain", "one Host is needed\n"),
        _ if !asks_this_machine(request, port) => message("403 Forbidden", "text/plain", "not this address\n"),
        ("GET", "/") => message("200 OK", "text/html", page),
        ("GET", _) => message("404 Not Found", "text/plain", "there is one page, at /\n"),
        _ => message("405 Method Not Allowed", "text/plain", "only GET\n"),
    }
}

/// True if the request names this host. Pages of other sites can reach this port, but under their own host name.
fn asks_this_machine(request: &str, port: u16) -> bool {
    hosts(request).all(|host| ["127.0.0.1", "localhost"].iter().any(|own| host == format!("{own}:{port}")))
}

/// Hosts that the headers of a request name: exactly one in HTTP/1.1 (RFC 9112, section 3.2).
fn hosts(request: &str) -> impl Iterator<Item = &str> {
    let headers = request.lines().skip(1).take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
    headers.filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, host)| host.trim())
}

fn message(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nAllow: GET\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &str) -> String {
        response(request, "<p>", 81).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn one_page_is_served_and_everything_else_refused() {
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n"), "HTTP/1.1 200 OK");
        assert_eq!(status("GET /?x=1 HTTP/1.1\r\nHost: localhost:81\r\n\r\n"), "HTTP/1.1 200 OK");
        assert_eq!(status("GET /etc/passwd HTTP/1.1\r\nhost: localhost:81\r\n\r\n"), "HTTP/1.1 404 Not Found");
        assert_eq!(status("POST / HTTP/1.1\r\nHost: localhost:81\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
        assert_eq!(status(""), "HTTP/1.1 400 Bad Request");
    }

    #[test]
    fn a_request_names_one_host() {
        for headers in ["", "Host: 127.0.0.1:81\r\nHost: 127.0.0.1:81\r\n", "Accept: */*\r\n\r\nHost: 127.0.0.1:81\r\n"]
        {
            assert_eq!(status(&format!("GET / HTTP/1.1\r\n{headers}\r\n")), "HTTP/1.1 400 Bad Request");
        }
    }

    #[test]
    fn a_foreign_name_is_refused() {
        assert_eq!(status("GET / HTTP/1.1\r\nHost: elsewhere.example:81\r\n\r\n"), "HTTP/1.1 403 Forbidden");
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:82\r\n\r\n"), "HTTP/1.1 403 Forbidden");
    }
}
