"""A server for example.com on this machine, and recordings of what it serves."""

import base64, contextlib, http.server, json, plistlib, select, socket, socketserver, ssl, subprocess, sys, threading, traceback

AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"

# The example site: for each path the media type and the bytes.
SITE = {
    "/": ("text/html", b'<!doctype html><title>Harbour</title><link rel="stylesheet" href="/css/site.css">'
          b'<img src="/img/logo.png"><script src="https://cdn.example.com/js/app.js"></script>'),
    "/css/site.css": ("text/css", b"@import 'type.css'; body { margin: 0 }\n"),
    "/css/type.css": ("text/css", b"h1 { font: 2em serif }\n"),
    "/img/logo.png": ("image/png", base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")),
    "/hello.txt": ("text/plain", b"hello\n"),
    "/js/app.js": ("text/javascript", b"document.title += ' Light';\n"),
}


def address(path):
    """Returns the URL by which the page names a path; scripts are on another host."""
    return f"https://{'cdn.' if path.endswith('.js') else ''}example.com{path}"


def recording():
    entries = []
    for path, (kind, body) in SITE.items():
        content = {"size": len(body), "mimeType": kind, "text": base64.b64encode(body).decode(), "encoding": "base64"}
        fields = [{"name": "Content-Type", "value": kind}, {"name": "ETag", "value": f'"{len(body)}"'}]
        entries.append({"request": {"method": "GET", "url": address(path), "headers": []},
                        "response": {"status": 200, "headers": fields, "content": content}})
    return {"log": {"version": "1.2", "entries": entries}}


def recording_of_app():
    """Returns the recording of an app in which files answered every request but the last."""
    archive = recording()
    for number, entry in enumerate(archive["log"]["entries"]):
        answerer = "network" if number == len(SITE) - 1 else "file"
        entry["_substitution"] = {"answeredBy": answerer, "times": 1, "bytes": entry["response"]["content"]["size"]}
    return archive


# Files of other tools, in the forms that they write: a list of Workbox's, and a response that EVURLCache has archived.
ELSEWHERE = {
    "sw.js": b'e.precacheAndRoute([{url:"index.html",revision:"1"},{"revision":null,"url":"/css/site.css"},\n'
             b'  {"url": "./img/logo.png", "revision": "2"}, {url: "https://cdn.example.com/js/app.js", revision: null}]);\n',
    "PreCache/example.com/css/type.css": plistlib.dumps({"$archiver": "NSKeyedArchiver", "$objects": [
        "$null", {"NSDataType": 0}, {"$0": 8}, {"NS.relative": plistlib.UID(4)}, address("/css/type.css"),
        {"$classname": "NSURL"}, "http://example.com/xmlrpc"]}, fmt=plistlib.FMT_BINARY),
}


# The manifest for pages that expect one: the result of README's last step.
USUAL = json.dumps({address(path): path[1:] or "index.html" for path in SITE}, indent=2)


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, body = SITE.get(self.path, (None, b""))
        status = 200 if kind else 404
        if kind and self.headers.get("If-None-Match") == f'"{len(body)}"':
            status, body = 304, b""
        self.send_response(status)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("ETag", f'"{len(SITE.get(self.path, (0, b""))[1])}"')
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.command == "GET" else b"")

    do_HEAD = do_GET

    def log_message(self, *arguments):
        pass


class Proxy(socketserver.StreamRequestHandler):
    """A proxy that connects every client to the site, whatever host it asks for."""

    def handle(self):
        request = self.rfile.readline()
        if not request.startswith(b"CONNECT"):
            return
        while self.rfile.readline() not in (b"\r\n", b"\n", b""):
            pass
        with contextlib.closing(socket.create_connection(("127.0.0.1", SITE_PORT))) as upstream:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            pairs = {self.connection: upstream, upstream: self.connection}
            while True:
                for source in select.select(list(pairs), [], [])[0]:
                    data = source.recv(65536)
                    if not data:
                        return
                    pairs[source].sendall(data)


def report_unless_gone(request, client):
    """Prints the error of a connection, unless the client has closed it, as browsers do at any time."""
    if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError)):
        traceback.print_exc()


def serve(folder):
    """Starts a server for example.com with its own certificate, and the proxy to it; returns the proxy's address."""
    global SITE_PORT
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=example.com",
                    "-addext", "subjectAltName=DNS:example.com,DNS:*.example.com", "-keyout", f"{folder}/key.pem",
                    "-out", f"{folder}/certificate.pem"], check=True, capture_output=True)
    with open(f"{folder}/authorities.pem", "wb") as authorities:
        for part in (AUTHORITIES, f"{folder}/certificate.pem"):
            authorities.write(open(part, "rb").read())
    subprocess.run(["mount", "--bind", f"{folder}/authorities.pem", AUTHORITIES], check=True)
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
    site.socket = context.wrap_socket(site.socket, server_side=True)
    SITE_PORT = site.server_address[1]
    proxy = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    for server in (site, proxy):
        server.handle_error = report_unless_gone
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{proxy.server_address[1]}"
