#pragma once

// For tests only: a web server on the loopback device that misbehaves on demand.

namespace wheelsmith::fetch {

constexpr const char* k_test_server = R"(
import base64, hashlib, http.server, sys, threading, time
BODY = bytes(range(256)) * 4096
HASH = hashlib.sha256(BODY).hexdigest()
seen = {}
log = []
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    def log_message(self, *arguments): pass
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items(): self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        first, _, rest = self.path[1:].partition("/")
        seen[self.path] = count = seen.get(self.path, 0) + 1
        wanted = self.headers.get("Range")
        log.append(f"{self.path} {wanted or '-'}")
        link = f'<a href="/files/demo-1.0.tar.gz#sha256={HASH}" data-requires-python="&gt;=3.8">demo-1.0.tar.gz</a>'
        if first == "log": self.answer(200, "\n".join(log).encode())
        elif self.path == "/simple/demo/": self.answer(200, (link + "<a href='other-1.0.tar.gz'>").encode(), Content_Type="text/html")
        elif self.path == "/json/demo/":
            good = "vnd.pypi.simple.v1+json" in self.headers["Accept"]
            self.answer(200 if good else 406, ('{"meta":{"api-version":"1.0"},"name":"demo","files":[{"filename":"demo-2.0.tar.gz","url":"../../files/x","hashes":{"sha256":"%s"}}]}' % HASH).encode(),
                        Content_Type="application/vnd.pypi.simple.v1+json")
        elif first == "secret":
            good = self.headers.get("Authorization") == "Basic " + base64.b64encode(b"me:p@ss").decode()
            if not good: self.answer(401, b"no", WWW_Authenticate="Basic realm=x")
            elif rest.endswith(".gz"): self.answer(200, BODY)
            else: self.answer(200, b"<a href='/secret/demo-3.0.tar.gz'>", Content_Type="text/html")
        elif first == "forbidden": self.answer(403)
        elif first == "redirect": self.answer(302, b"", Location="/" + rest)
        elif first == "loop": self.answer(302, b"", Location=self.path)
        elif first == "escape": self.answer(302, b"", Location="file:///etc/passwd")
        elif first == "slow": time.sleep(20)
        elif first == "flaky" and count == 1: self.answer(503)
        elif first == "broken": self.answer(500)
        elif first == "endless":
            self.send_response(200); self.end_headers()
            try:
                while True: self.wfile.write(b"x" * 1000000)
            except OSError: pass
        elif first in ("cut", "half") and not wanted:
            self.send_response(200)
            self.send_header("Content-Length", str(len(BODY)))
            self.end_headers()
            self.wfile.write(BODY[:len(BODY) // 2])
        elif first == "half": self.answer(503)
        elif first in ("files", "cut", "flaky") or self.path.startswith("/norange/"):
            if wanted and first != "norange":
                begin = int(wanted.split("=")[1].rstrip("-"))
                self.answer(206, BODY[begin:], Content_Range=f"bytes {begin}-{len(BODY)-1}/{len(BODY)}")
            else: self.answer(200, BODY)
        else: self.answer(404, b"nothing here")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, HASH, flush=True)
server.serve_forever()
)";

}  // namespace wheelsmith::fetch
