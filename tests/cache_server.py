"""A storage for ccache over HTTP: GET, HEAD, PUT and DELETE of names in a folder. Prints its port.

cache_server.py FOLDER [FILE with USER:PASSWORD]"""
import base64
import http.server
import os
import sys

folder = sys.argv[1]
wanted = "Basic " + base64.b64encode(open(sys.argv[2], "rb").read().strip()).decode() if len(sys.argv) > 2 else None


class Storage(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def path_here(self):
        return os.path.join(folder, self.path.strip("/").replace("/", "_"))

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_any(self):
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size)
        if wanted and self.headers.get("Authorization") != wanted:
            return self.answer(401)
        path = self.path_here()
        if self.command == "PUT":
            with open(path + ".part", "wb") as file:
                file.write(body)
            os.rename(path + ".part", path)
            return self.answer(201)
        if not os.path.exists(path):
            return self.answer(404)
        if self.command == "DELETE":
            os.remove(path)
            return self.answer(204)
        with open(path, "rb") as file:
            return self.answer(200, file.read())

    do_GET = do_HEAD = do_PUT = do_DELETE = handle_any

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Storage)
print("port", server.server_port, flush=True)
server.serve_forever()
