"""python3 index.py WHEELSMITH FOLDER: `index` and `serve` on a folder of wheels that others put there.

Pages are read as a browser and an installer read them: by html.parser and json. Nothing of a wheel may become anything but
text and attribute values, and no address may lead out of the folder.
"""

import hashlib
import html.parser
import http.client
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import time
import urllib.parse
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from judge import SECRET, Case, finish, judge, snapshot
from tars import END, gz, header, hostile, member
from wheel_maker import Wheel

wheelsmith, root = sys.argv[1], pathlib.Path(sys.argv[2])
problems, count, began = [], 0, time.monotonic()
ATTACKS = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "</title><script>alert(1)</script>", "<!--", "]]>",
           "&lt;script&gt;", "javascript:alert(1)", "\x1b[31m\x07", "a\r\nSet-Cookie: x=1", "\u202egpj.whl", "\ud7ff\ufffe", "{{7*7}}", "${x}", "%00%0a", "../../outside"]


def wheel(folder, name="demo-1.0-py3-none-any.whl", metadata="", members=(), raw_metadata=None, file_name=None):
    path = os.path.join(os.fsencode(folder), os.fsencode(file_name or name))
    draft = Wheel(name)
    draft.members = {"demo.py": b"x = 1\n", **dict(members)}
    text = raw_metadata if raw_metadata is not None else f"Metadata-Version: 2.1\nName: {draft.name}\nVersion: {draft.version}\n{metadata}".encode("utf-8", "surrogatepass")
    if text is not False:
        draft.members[f"{draft.dist_info}/METADATA"] = text
        draft.add_dist_info()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for one, data in [*draft.members.items(), (f"{draft.dist_info}/RECORD", draft.record().encode())]:
            archive.writestr(zipfile.ZipInfo(one), data, archive.compression)
    with open(path, "wb") as file:
        file.write(out.getvalue())
    return path


ALLOWED = {"html": {"lang"}, "head": set(), "meta": {"charset", "name", "content", "http-equiv"}, "title": set(), "style": set(), "body": set(),
           "header": set(), "h1": set(), "h2": set(), "p": {"class"}, "code": {"id", "data-up", "data-project"}, "button": {"id", "type", "hidden"},
           "main": set(), "section": set(), "table": {"class"}, "thead": set(), "tbody": {"id"}, "tr": set(), "th": {"class"}, "td": {"class"},
           "span": {"class"}, "br": set(), "div": {"class"}, "form": {"action"}, "script": set(), "input": {"id", "type", "placeholder", "aria-label", "hidden"},
           "a": {"href", "data-requires-python", "data-core-metadata", "data-dist-info-metadata", "data-yanked", "data-provenance", "data-gpg-sig"}}


class Page(html.parser.HTMLParser):
    """Every tag and attribute of a page must be one that the program itself writes."""

    def __init__(self, name, own):
        super().__init__()
        self.name, self.own, self.links, self.inside, self.texts, self.text = name, own, [], [], [], ""

    def handle_starttag(self, tag, attributes):
        if tag not in ALLOWED or not {key for key, _ in attributes} <= ALLOWED[tag]:
            problems.append(f"{self.name}: <{tag}> with {attributes}")
        if tag == "a":
            self.links.append(dict(attributes))
            self.text = ""
        if tag in ("script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag in ("script", "style") and self.inside:
            self.inside.pop()
        if tag == "a":
            self.texts.append(self.text)

    def handle_data(self, data):
        self.text += data
        if self.inside:
            self.own.add((self.inside[-1], data))

    def handle_comment(self, data):
        problems.append(f"{self.name}: a comment: {data!r}")

    def unknown_decl(self, data):
        problems.append(f"{self.name}: a declaration: {data!r}")


own_code = set()  # scripts and style sheets: the same on every page of every case


def judge_page(case, where, text, folder):
    page = Page(f"{case.name}: {where}", own_code)
    page.feed(text.decode("utf-8"))
    page.close()
    for link in page.links:
        address = urllib.parse.urlsplit(link["href"])
        if address.scheme or address.netloc or "\\" in link["href"]:
            problems.append(f"{case.name}: {where}: an address {link['href']!r}")
        target = os.path.normpath(os.path.join(folder, urllib.parse.unquote(address.path)))
        if not (target + "/").startswith(str(case.inside.resolve()) + "/"):
            problems.append(f"{case.name}: {where}: {link['href']!r} leads out")
    if len(own_code) > 2:
        problems.append(f"{case.name}: {where}: a script or style sheet of its own")
        own_code.clear()
    return page


def judge_pages(case):
    listed = set()
    for path in case.inside.rglob("index.html"):
        judge_page(case, str(path.relative_to(case.inside)), path.read_bytes(), str(path.parent.resolve()))
    for path in case.inside.rglob("index.v1_json"):
        document = json.loads(path.read_bytes())
        for file in document.get("files", []):
            listed.add(file["filename"])
            place = os.path.normpath(os.path.join(path.parent.resolve(), urllib.parse.unquote(urllib.parse.urlsplit(file["url"]).path)))
            if not place.startswith(str(case.inside.resolve()) + "/") or os.path.basename(place) != file["filename"]:
                problems.append(f"{case.name}: {file} leads to {place}")
            elif hashlib.sha256(open(place, "rb").read()).hexdigest() != file["hashes"]["sha256"]:
                problems.append(f"{case.name}: the hash of {file['filename']} is wrong")
    return listed


def index(name, make, expected, listed=None, **more):
    """listed: the files that the index must have, no more and no fewer."""
    global count
    count += 1
    case = Case(root, name)
    make(case)
    judge_only = more.pop("judge_only", None)
    before = snapshot(case.inside)
    status, out, err, seconds = judge(case, [wheelsmith, "index", str(case.inside), "--json", "--threads", "2"], expected, problems, but=("out", "in"), **more)
    if os.environ.get("SHOW_TIMES"):
        print(f"{seconds:6.2f} {case.name} {status} {(err or out)[-150:]!r}")
    after = snapshot(case.inside)
    for path, what in before.items():
        # Sidecars and the state of the index are the program's own to replace; a link or pipe of that name is not used.
        if after.get(path) != what and not path.endswith((b".metadata", b".wheelsmith-index", b"index.html")):
            problems.append(f"{name}: {path!r} was {what}, is {after.get(path)}")
    got = judge_pages(case)
    if listed is not None and got != set(listed):
        problems.append(f"{name}: it lists {sorted(got)}, expected {sorted(listed)}")
    if judge_only:
        judge_only(case)
    return case


GOOD = "demo-1.0-py3-none-any.whl"
index("good", lambda case: wheel(case.inside), {0}, [GOOD])


# --- what METADATA says
def all_fields(case):
    for i, attack in enumerate(ATTACKS):
        fields = "".join(f"{field}: {attack}\n" for field in ("Summary", "Author", "License", "Home-page", "Classifier", "Requires-Dist", "Project-URL", "Requires-Python", "Keywords"))
        wheel(case.inside, f"demo{i}-1.0-py3-none-any.whl", fields + "\n" + attack)


index("metadata-fields", all_fields, {0, 1})
for i, attack in enumerate(ATTACKS):
    index(f"requires-python-{i}", lambda case: wheel(case.inside, metadata=f"Requires-Python: {attack}\n"), {0, 1})
index("requires-python-valid", lambda case: wheel(case.inside, metadata="Requires-Python: >=3.9,<4\n"), {0}, [GOOD])
for name, text in {"other-name": b"Metadata-Version: 2.1\nName: other\nVersion: 1.0\n", "html-name": b"Name: <b>\nVersion: 1.0\n", "other-version": b"Name: demo\nVersion: 2.0\n",
                   "version-html": b"Name: demo\nVersion: 1.0<script>\n", "empty": b"", "binary": bytes(range(256)) * 100, "no-end": b"Name: demo" * 1000000,
                   "two-names": b"Name: demo\nName: other\nVersion: 1.0\n", "folded": b"Name: demo\nVersion: 1.0\nSummary: a\n <script>\n\t<b>\n",
                   "nul": b"Name: demo\nVersion: 1.0\nRequires-Python: >=3\0.9\n"}.items():
    index("metadata-" + name, lambda case: wheel(case.inside, raw_metadata=text), {0, 1})
index("metadata-missing", lambda case: wheel(case.inside, raw_metadata=False), {1}, [])
index("metadata-of-20-mb", lambda case: wheel(case.inside, raw_metadata=b"Name: demo\nVersion: 1.0\n" + b"A: b\n" * 4000000), {1}, [])
index("metadata-in-two-places", lambda case: wheel(case.inside, members=[("Demo-1.0.dist-info/METADATA", b"Name: demo\nVersion: 9\n")]), {0, 1})
index("members-that-leave", lambda case: wheel(case.inside, members=[("../../outside/planted", b"x"), ("/etc/planted", b"x"), ("a\n\x1b[31m", b"x")]), {0, 1})


# --- names of files and folders
def file_names(case):
    wheel(case.inside)
    for i, attack in enumerate(ATTACKS):
        name = os.fsencode(attack.encode("utf-8", "surrogatepass").decode("utf-8", "replace")).replace(b"/", b"_").replace(b"\0", b"")
        wheel(case.inside, file_name=os.fsdecode(b"x" + name + b"-1.0-py3-none-any.whl"))
        folder = os.path.join(os.fsencode(case.inside), b"f" + name)
        os.mkdir(folder)
        wheel(os.fsdecode(folder), f"deep{i}-1.0-py3-none-any.whl")
    for name in (b"\xff\xfe-1.0-py3-none-any.whl", b"-1.0-py3-none-any.whl", b"..-1.0-py3-none-any.whl", b"a b-1.0-py3-none-any.whl", b"demo-1.0-py3-none-any.whl\n", b"demo-1.0-py3.whl", b".whl",
                 b"n" * 236 + b".whl", b"demo-9-py3-none-any.whl;x.whl"):
        wheel(case.inside, file_name=os.fsdecode(name))


index("file-names", file_names, {1})


def collisions(case):
    for name in ("Demo", "demo", "DEMO", "de.mo", "de_mo", "de-mo".replace("-", "_")):
        wheel(case.inside, f"{name}-1.0-py3-none-any.whl")
    for folder in ("a", "A", "b"):
        (case.inside / folder).mkdir()
        wheel(case.inside / folder, "same-1.0-py3-none-any.whl", metadata=f"Summary: {folder}\n")


index("case-collisions", collisions, {1})


# Projects with the names of pages and of our own files.
def page_names(case):
    for name in ("index.html", "simple", "index", "con", "nul", "by_variant", "favicon.ico", "wheelsmith_index"):
        wheel(case.inside, f"{name}-1.0-py3-none-any.whl")
    (case.inside / "con").write_text("a file where a folder of pages belongs\n")


index("page-names", page_names, {0, 1})


# --- what else lies there
def special(case):
    wheel(case.inside)
    os.mkfifo(case.inside / "fifo-1.0-py3-none-any.whl")
    os.mkfifo(case.inside / "demo-1.0-py3-none-any.whl.metadata")
    os.mkfifo(case.inside / "demo-1.0-py3-none-any.whl.provenance")
    (case.inside / "folder-1.0-py3-none-any.whl").mkdir()
    if os.geteuid() == 0:
        try:
            os.mknod(case.inside / "zero-1.0-py3-none-any.whl", 0o020666, os.makedev(1, 5))
        except OSError:
            pass


index("special-files", special, {0, 1})


def links(case):
    wheel(case.inside)
    wheel(case.outside, "stolen-1.0-py3-none-any.whl", metadata=f"Summary: {SECRET.decode()}\n")
    os.symlink(case.outside / "stolen-1.0-py3-none-any.whl", case.inside / "stolen-1.0-py3-none-any.whl")
    os.symlink("../outside/stolen-1.0-py3-none-any.whl", case.inside / "stolen-2.0-py3-none-any.whl")
    os.symlink(case.outside, case.inside / "folder")
    os.symlink("loop-1.0-py3-none-any.whl", case.inside / "loop-1.0-py3-none-any.whl")
    os.symlink(GOOD, case.inside / "chain-0")
    for i in range(1, 50):
        os.symlink(f"chain-{i - 1}", case.inside / f"chain-{i}")
    os.symlink("chain-49", case.inside / "demo-2.0-py3-none-any.whl")
    # Where pages and sidecars will be written: nothing is written through a link.
    os.symlink(case.outside / "canary", case.inside / "index.html")
    os.symlink(case.outside / "canary", case.inside / (GOOD + ".metadata"))
    os.symlink(case.outside / "folder", case.inside / "demo")
    os.symlink(case.outside / "canary", case.inside / ".wheelsmith-index")
    os.symlink(case.outside / "canary", case.inside / ".wheelsmith-index.lock")


index("links", links, {0, 1})


def lock_link(case):
    wheel(case.inside)
    os.symlink(case.outside / "new-file", case.inside / ".wheelsmith-index.lock")
    os.symlink(case.outside / "new-file-2", case.inside / "index.html")


index("links-to-nothing", lock_link, {0, 1})


def archives(case):
    for name, (data, _) in hostile("demo-1.0", case.outside).items():
        (case.inside / f"{name}-1.0.tar.gz").write_bytes(gz(member("demo-1.0/PKG-INFO", b"Name: " + name.encode() + b"\nVersion: 1.0\n") + data + END))
    (case.inside / "bomb-1.0.tar.gz").write_bytes(gz(header("bomb-1.0/z", 64 << 20) + bytes(64 << 20)))
    (case.inside / "late-1.0.tar.gz").write_bytes(gz(member("late-1.0/z", bytes(200 << 20)) + member("late-1.0/PKG-INFO", b"Name: <b>\n") + END))
    (case.inside / "cut-1.0.tar.gz").write_bytes(gz(member("cut-1.0/PKG-INFO", b"Name: cut\n"))[:-9])
    (case.inside / "zip-1.0.zip").write_bytes(b"PK\3\4" + bytes(100))


index("source-distributions", archives, {1})


def wheels(case):
    from_maker = __import__("hostile_input")
    for i, (name, data) in enumerate([("cut", open(wheel(case.outside), "rb").read()[:-30]), ("bomb", from_maker.shared_bomb()), ("quoted", from_maker.quoted_bomb()),
                                      ("ends", from_maker.end_records_without_end()), ("empty", b""), *from_maker.zip64_sizes().items()]):
        (case.inside / f"w{i}-1.0-py3-none-any.whl").write_bytes(data)
    (case.outside / GOOD).unlink()


index("broken-wheels", wheels, {1}, [])


def deep(case):
    wheel(case.inside)
    at = os.open(case.inside, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d234567890", dir_fd=at)
        below = os.open("d234567890", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


index("deep", deep, {0}, [GOOD])


def many(case):
    data = open(wheel(case.inside), "rb").read()
    for i in range(2000):
        (case.inside / f"demo-{i}.1-py3-none-any.whl").write_bytes(data)  # all say that they are 1.0
    os.unlink(case.inside / GOOD)


index("many-that-contradict", many, {1}, [])


# --- index.toml and what lies beside a wheel
quoted = [json.dumps(attack) for attack in ATTACKS if attack.isprintable()]


def control(case):
    wheel(case.inside)
    (case.inside / "index.toml").write_text("[yanked]\n" + "".join(f"{key} = {key}\n" for key in quoted) + f'"demo-*" = {quoted[1]}\n[project.demo]\nstatus = "deprecated"\nreason = {quoted[0]}\n')


index("index.toml", control, {0}, [GOOD])
for name, text in {"nested": "a = " + "[" * 100000, "nonsense": "\x1b[31m", "project": '[project."../../outside"]\nstatus = "archived"\n'}.items():
    index("index.toml-" + name, lambda case: (wheel(case.inside), (case.inside / "index.toml").write_text(text)), {0, 1})


def beside(case):
    wheel(case.inside)
    for ending in (".provenance", ".publish.attestation", ".intoto.json", ".sigstore.json", ".asc", ".sig"):
        (case.inside / (GOOD + ending)).write_text("<script>" + "[" * 100000)
    (case.inside / ".wheelsmith-index").write_bytes(b"\xff" * 10000)


index("beside", beside, {0, 1}, [GOOD])


# --- serve
class Server:
    def __init__(self, case, *options):
        self.process = subprocess.Popen([wheelsmith, "serve", str(case.inside), "--listen", "127.0.0.1:0", "--json", "--quiet", *options], cwd=case.out, env=case.environment(),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = ""
        document = None
        while document is None:
            line += self.process.stdout.readline()
            try:
                document = json.loads(line)
            except ValueError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{case.name}: serve does not start: {self.process.stderr.read()}")
        self.port = urllib.parse.urlsplit(document["url"]).port

    def get(self, target, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest("GET", target, skip_accept_encoding=True)
        for key, value in headers.items():
            connection.putheader(key, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def stop(self, name):
        self.process.send_signal(signal.SIGTERM)
        try:
            _, err = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            problems.append(f"{name}: serve does not end")
            return
        if self.process.returncode not in (0, 130) or "Sanitizer" in err:
            problems.append(f"{name}: serve ended with {self.process.returncode}: {err[-500:]}")


def serve(name, make, look, *options):
    global count
    count += 1
    case = Case(root, name)
    make(case)
    before = snapshot(case.root)
    server = Server(case, *options)
    try:
        look(case, server)
    finally:
        server.stop(name)
    if before != snapshot(case.root):
        problems.append(f"{name}: serve changed files")


def hostile_folder(case):
    file_names(case)
    links(case)
    (case.inside / "index.html").unlink()
    os.mkfifo(case.inside / "fifo-1.0-py3-none-any.whl")
    for i, attack in enumerate(ATTACKS):
        wheel(case.inside, f"attr{i}-1.0-py3-none-any.whl", f"Requires-Python: {attack}\nSummary: {attack}\n")


def look_around(case, server):
    status, headers, body = server.get("/")
    if status != 200:
        problems.append(f"{case.name}: / is {status}")
    page = judge_page(case, "/", body, str(case.inside.resolve()))
    for link in page.links:
        status, headers, body = server.get("/" + link["href"])
        if status != 200:
            problems.append(f"{case.name}: {link['href']} is {status}")
            continue
        judge_page(case, link["href"], body, str((case.inside / link["href"]).resolve()) if not (case.inside / link["href"]).is_symlink() else str(case.inside.resolve() / link["href"].strip("/")))
    for target in ("/stolen/", "/stolen-1.0-py3-none-any.whl", "/stolen-2.0-py3-none-any.whl", "/folder/stolen-1.0-py3-none-any.whl", "/folder/", "/fifo-1.0-py3-none-any.whl", "/loop-1.0-py3-none-any.whl",
                   "/" + GOOD + ".metadata/..", "/.wheelsmith-index", "/<script>alert(1)</script>", "/%3Cscript%3Ealert(1)%3C/script%3E", "/%22%3E%3Cimg%20src=x%3E/", "/a%0d%0aSet-Cookie:%20x=1/"):
        status, headers, body = server.get(urllib.parse.quote(target, safe="/%"))
        if SECRET in body or status == 200:
            problems.append(f"{case.name}: {target} is {status}: {body[:100]!r}")
        if b"<script>alert" in body or b"<img" in body or "Set-Cookie" in headers:
            problems.append(f"{case.name}: {target} is told back: {headers} {body[:200]!r}")


serve("serve-live", hostile_folder, look_around, "--live")


# A file that others exchange while it is served: each answer that is whole is one of the files that were there, and the hash that
# a page tells is that of a file that was there.
def exchange(case, server, first):
    versions = []
    for i in range(2):
        path = wheel(case.outside, file_name=f"v{i}", members=[("noise.bin", os.urandom(3 << 20))])
        versions.append(open(path, "rb").read())
        os.unlink(path)
    # Cut off where it lay, a file is still the one that was there.
    digests = {hashlib.sha256(data[:size]).hexdigest() for data in [first, *versions] for size in (len(data), 1000)}
    target = case.inside / GOOD
    stop = time.monotonic() + 3
    whole = i = 0
    while time.monotonic() < stop:
        i += 1
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", "/" + GOOD)
        answer = connection.getresponse()
        try:
            begun = answer.read(100000)
            if i % 3 == 0:
                target.write_bytes(versions[i % 2])  # in place
            else:
                (case.inside / ".next").write_bytes(versions[i % 2])
                os.rename(case.inside / ".next", target)
            if i % 7 == 0:
                os.truncate(target, 1000)
            body = begun + answer.read()
        except http.client.IncompleteRead:
            continue
        except OSError:
            continue
        finally:
            connection.close()
        if answer.status == 200:
            whole += 1
            if hashlib.sha256(body).hexdigest() not in digests:
                problems.append(f"{case.name}: a mixture of two files of {len(body)} bytes was served as whole")
                return
    if whole == 0:
        problems.append(f"{case.name}: not one of {i} answers was whole")
    (case.inside / ".next").write_bytes(versions[0])
    os.rename(case.inside / ".next", target)
    for _ in range(100):
        status, _, body = server.get("/demo/", Accept="application/vnd.pypi.simple.v1+json")
        if status == 200 and [file["hashes"]["sha256"] for file in json.loads(body)["files"]] == [hashlib.sha256(versions[0]).hexdigest()]:
            break
        time.sleep(0.1)
    else:
        problems.append(f"{case.name}: the page never tells the last file: {body[:300]!r}")


def serve_exchange():
    global count
    count += 1
    case = Case(root, "serve-exchanged")
    path = wheel(case.inside, members=[("noise.bin", os.urandom(3 << 20))])
    server = Server(case, "--live")
    try:
        server.get("/")
        exchange(case, server, open(path, "rb").read())
    finally:
        server.stop(case.name)


serve_exchange()
finish(problems, count, began)
