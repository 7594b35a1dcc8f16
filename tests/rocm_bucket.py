"""A server of a folder for `rocm fetch`: a page of links, a bucket, or a bad one.

rocm_bucket.py FOLDER MODE
  links     a page of links for each folder; ranges are honoured
  bucket    no pages of folders; ?list-type=2 lists, three to a page
  stalls    like links, but archives stop in the middle for a minute
  breaks    like links, but every second answer with an archive ends in the middle
Prints its port; "GET /path" for each request goes to standard error."""
import html
import http.server
import os
import sys
import time
import urllib.parse

folder, mode = sys.argv[1:3]
answers = {}


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", kind="application/octet-stream", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        return body

    def listing(self, query):
        prefix = query["prefix"][0]
        keys = sorted(
            os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names
        )
        keys = [key for key in keys if key.startswith(prefix)]
        start = int(query.get("continuation-token", ["a&b=0"])[0].split("=")[1])
        more = start + 3 < len(keys)
        items = "".join(
            f"<Contents><Key>{html.escape(key)}</Key><Size>{os.path.getsize(os.path.join(folder, key))}</Size></Contents>"
            for key in keys[start : start + 3]
        )
        token = f"<NextContinuationToken>a&amp;b={start + 3}</NextContinuationToken>" if more else ""
        text = f'<?xml version="1.0"?>\n<ListBucketResult xmlns="x"><IsTruncated>{str(more).lower()}</IsTruncated>{token}{items}</ListBucketResult>'
        return self.answer(200, text.encode(), "application/xml")

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        path = os.path.join(folder, urllib.parse.unquote(url.path).strip("/"))
        print("GET", self.path, flush=True, file=sys.stderr)
        if mode == "bucket" and "list-type=2" in url.query:
            return self.wfile.write(self.listing(urllib.parse.parse_qs(url.query)))
        if os.path.isdir(path) and mode != "bucket":
            names = sorted(os.listdir(path))
            links = "".join(f'<a href="{urllib.parse.quote(n)}{"/" if os.path.isdir(os.path.join(path, n)) else ""}">{html.escape(n)}</a>\n' for n in names)
            return self.wfile.write(self.answer(200, f'<!DOCTYPE html><a href="../">..</a>{links}'.encode(), "text/html"))
        if not os.path.isfile(path):
            return self.wfile.write(self.answer(404))
        with open(path, "rb") as file:
            data = file.read()
        begin = 0
        wanted = self.headers.get("Range", "")
        if wanted.startswith("bytes="):
            begin = min(int(wanted[6:].split("-")[0]), len(data))
            print("GET", os.path.basename(path), "from", begin, flush=True, file=sys.stderr)
        body = data[begin:]
        answers[path] = answers.get(path, 0) + 1
        if mode == "stalls" and ".tar." in path and not path.endswith(".sha256sum"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            return time.sleep(60)
        cut = mode == "breaks" and ".tar." in path and not path.endswith(".sha256sum") and answers[path] % 2 == 1
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(body)))
        if wanted:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.wfile.flush()
            self.close_connection = True

    def log_message(self, *words):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
print("port", server.server_port, flush=True)
server.serve_forever()
