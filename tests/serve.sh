#!/bin/bash
# The server: installers, content negotiation, ranges, ETags and connections as the standards require, a folder that
# changes while it is served, and clients that try to escape it or never stop sending.
source "$(dirname "$0")/common.inc"
need curl python3
wheels() { python3 "$tests/index_wheels.py" "$@"; }
d=$t/wheelhouse
wheels "$d" 'alpha-1.0-py3-none-any.whl:requires=>=3.9' 'alpha-2.0-py3-none-any.whl' 'Beta_Tools-2.0+cpu-py3-none-any.whl:depends=alpha>=1' 'gamma/gamma-0.1.tar.gz'
head -c 20000000 /dev/urandom >"$t/noise"
make_wheel "$d/large-1.0-py3-none-any.whl" "large/noise.bin=$t/noise"
echo secret >"$t/secret.whl"
echo secret >"$d/secret.txt"
mkdir "$d/empty"
ln -s ../secret.whl "$d/leaves-1.0-py3-none-any.whl"
ln -s "$t/secret.whl" "$d/leaves-2.0-py3-none-any.whl"
ln -s "$t" "$d/up"
mkdir "$d/links" && ln -s ../alpha-1.0-py3-none-any.whl "$d/links/alpha-1.0-py3-none-any.whl"
sleep 0.1

# start DIR ARGUMENT…: leaves the address in $base and the process in $server.
start() {
  local i
  : >"$t/serve.out"
  "$wheelsmith" serve "$@" --listen 127.0.0.1:0 --json >"$t/serve.out" 2>"$t/serve.err" &
  server=$!
  trap 'ended=$?; [[ -z $server ]] || kill -KILL $server 2>/dev/null || true; leave $ended' EXIT
  for ((i = 0; i < 300; i++)); do
    [[ $(<"$t/serve.out") != *\} ]] || break
    kill -0 $server || fail "serve: $(<"$t/serve.err")"
    sleep 0.1
  done
  base=$(json url "$t/serve.out")
  base=${base%/}
}
# stop: a signal ends it cleanly.
stop() {
  local status=0
  kill -TERM $server
  wait $server || status=$?
  server=
  expect 0 $status "the end of serve: $(tail -3 "$t/serve.err")"
  if grep -qE 'Sanitizer|runtime error:' "$t/serve.err"; then fail "$(<"$t/serve.err")"; fi
}
code() { curl -s -o "$t/body" -w '%{http_code}' --max-time 20 "$@"; }
field() { curl -s -o "$t/body" -D "$t/head" --max-time 20 "${@:2}" && tr -d '\r' <"$t/head" | sed -n "s/^$1: //Ip"; }

check_all() {
  # Content negotiation.
  expect 'text/html; charset=utf-8' "$(field content-type "$base/alpha/")"
  expect 'text/html; charset=utf-8' "$(field content-type "$base/alpha/" -H 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')"
  expect 'application/vnd.pypi.simple.v1+json' "$(field content-type "$base/alpha/" -H 'Accept: application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01')"
  expect 'alpha 1.4' "$(json name "$t/body") $(json 'meta["api-version"]' "$t/body")"
  expect 'application/vnd.pypi.simple.v1+json' "$(field content-type "$base/alpha/" -H 'Accept: application/vnd.pypi.simple.latest+json')"
  expect 'application/vnd.pypi.simple.v1+html; charset=utf-8' "$(field content-type "$base/alpha/" -H 'Accept: application/vnd.pypi.simple.v1+html, application/vnd.pypi.simple.v1+json;q=0.5')"
  expect 'application/vnd.pypi.simple.v1+json' "$(field content-type "$base/" -H 'Accept: application/vnd.pypi.simple.v1+json;q=0.5, text/html;q=0.4')"
  expect 'application/vnd.pypi.simple.v1+json' "$(field content-type "$base/?format=application/vnd.pypi.simple.v1%2Bjson" -H 'Accept: text/html')"
  expect Accept "$(field vary "$base/alpha/")"
  expect 406 "$(code "$base/alpha/" -H 'Accept: application/vnd.pypi.simple.v2+json')"
  expect 406 "$(code "$base/alpha/" -H 'Accept: text/html;q=0, */*;q=0')"
  # Names that are not normalized, and /simple/.
  expect "301 $base/beta-tools/" "$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' "$base/Beta_Tools/")"
  expect "301 $base/alpha/" "$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' "$base/alpha")"
  expect '200 200 200' "$(code "$base/simple/") $(code "$base/simple/beta-tools/") $(code "$base/simple/alpha-1.0-py3-none-any.whl")"
  # Files, and parts of them.
  local file=$d/large-1.0-py3-none-any.whl size tag
  size=$(stat -c %s "$file")
  curl -sf -o "$t/body" "$base/large-1.0-py3-none-any.whl" && cmp "$t/body" "$file" || fail "a whole file"
  expect "206 bytes 0-99/$size 100" "$(code -r 0-99 "$base/large-1.0-py3-none-any.whl") $(field content-range -r 0-99 "$base/large-1.0-py3-none-any.whl") $(stat -c %s "$t/body")"
  cmp "$t/body" <(head -c 100 "$file") || fail "the first bytes"
  expect 206 "$(code -r 5000000-15000000 "$base/large-1.0-py3-none-any.whl")"
  cmp "$t/body" <(tail -c +5000001 "$file" | head -c 10000001) || fail "bytes in the middle"
  expect 206 "$(code -r -1000 "$base/large-1.0-py3-none-any.whl")"
  cmp "$t/body" <(tail -c 1000 "$file") || fail "the last bytes"
  expect 206 "$(code -r $((size - 5))- "$base/large-1.0-py3-none-any.whl")"
  cmp "$t/body" <(tail -c 5 "$file") || fail "to the end"
  expect "416 bytes */$size" "$(code -r "$size-" "$base/large-1.0-py3-none-any.whl") $(field content-range -r "$size-" "$base/large-1.0-py3-none-any.whl")"
  expect 200 "$(code -r 0-1,5-6 "$base/alpha-1.0-py3-none-any.whl")" "several parts: all of it"
  expect 200 "$(code -H 'Range: bytes=9-2' "$base/alpha-1.0-py3-none-any.whl")"
  expect 200 "$(code -H 'Range: lines=1-2' "$base/alpha-1.0-py3-none-any.whl")"
  # ETags.
  for path in large-1.0-py3-none-any.whl alpha/ index.v1_json alpha-1.0-py3-none-any.whl.metadata; do
    tag=$(field etag "$base/$path")
    [[ $tag == '"'*'"' ]] || fail "no tag of $path"
    expect '304 200' "$(code -H "If-None-Match: \"x\", W/$tag" "$base/$path") $(code -H 'If-None-Match: "x"' "$base/$path")"
    expect '206 200' "$(code -r 0-3 -H "If-Range: $tag" "$base/$path") $(code -r 0-3 -H 'If-Range: "other"' "$base/$path")"
  done
  expect 304 "$(code -H "If-Modified-Since: $(field last-modified "$base/large-1.0-py3-none-any.whl")" "$base/large-1.0-py3-none-any.whl")"
  expect "200 0 $size" "$(curl -s -I -o /dev/null -w '%{http_code} %{size_download}' "$base/large-1.0-py3-none-any.whl") $(curl -sI "$base/large-1.0-py3-none-any.whl" | tr -d '\r' | sed -n 's/^Content-Length: //p')"
  unzip -p "$d/alpha-1.0-py3-none-any.whl" '*/METADATA' | cmp - <(curl -sf "$base/alpha-1.0-py3-none-any.whl.metadata") || fail "metadata"
  # A link that stays inside; methods other than GET and HEAD.
  expect 200 "$(code "$base/links/alpha-1.0-py3-none-any.whl")"
  expect '405 405 405' "$(code -X POST -d x "$base/alpha/") $(code -X DELETE "$base/alpha-1.0-py3-none-any.whl") $(code -X OPTIONS "$base/")"
  # Only files of the index, and no way out.
  local path
  for path in /secret.txt /empty/ /empty /.wheelsmith-index /.wheelsmith-index.lock /index.toml /nothing/ /nothing-1.0-py3-none-any.whl /up/secret.whl /up/ \
    /leaves-1.0-py3-none-any.whl /leaves-2.0-py3-none-any.whl /alpha/.. /.. /../secret.whl /alpha/../../secret.whl /%2e%2e/secret.whl /%2E./secret.whl /..%2fsecret.whl /..%2Fsecret.whl \
    /..%5csecret.whl '/..\secret.whl' /%252e%252e/secret.whl /%c0%ae%c0%ae/secret.whl /%e0%80%ae%e0%80%ae/secret.whl /%ff/ /%00 /alpha-1.0-py3-none-any.whl%00.html //etc/passwd \
    "//$t/secret.whl" "$t/secret.whl" /./secret.txt /alpha/./ /%2e/ /%zz /% /%2 /alpha%2f /alpha//index.html /alpha-1.0-py3-none-any.whl/ /alpha-1.0-py3-none-any.whl/x /gamma/../gamma/; do
    case $(code --path-as-is "$base$path") in
      400 | 404) [[ $(<"$t/body") != *secret* && $(<"$t/body") != *root:* ]] || fail "$path told a secret" ;;
      *) fail "$path got $(code --path-as-is "$base$path")" ;;
    esac
  done
  expect 400 "$(code "$base/$(printf 'a%.0s' {1..3000})")"
  python3 - "${base#http://}" <<'PY' || fail "raw connections"
import socket, sys, time

host, port = sys.argv[1].split(":")

def talk(data, until=None, patience=15):
    with socket.create_connection((host, int(port)), timeout=patience) as s:
        s.sendall(data)
        got = b""
        while True:
            piece = s.recv(65536)
            if not piece:
                return got
            got += piece
            if until and until(got):
                return got

def status(data, **more):
    return talk(data, **more).split(b"\r\n")[0]

# Two requests in one packet, and one in pieces: the answers come in order on one connection.
answers = talk(b"GET /alpha/ HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
assert answers.startswith(b"HTTP/1.1 200") and b"HTTP/1.1 404" in answers and b"Connection: close" in answers, answers[:200]
with socket.create_connection((host, int(port)), timeout=15) as s:
    for piece in (b"G", b"ET /alpha/ HT", b"TP/1.1\r", b"\nHost: x\r\n\r", b"\n"):
        s.sendall(piece)
        time.sleep(0.05)
    assert s.recv(100).startswith(b"HTTP/1.1 200")
assert status(b"GET http://elsewhere/alpha/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == b"HTTP/1.1 200 OK"
assert talk(b"GET /alpha/ HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200")
assert b"\r\n\r\n" == talk(b"HEAD /alpha/ HTTP/1.0\r\n\r\n")[-4:]
# Invalid requests, and ones that a proxy and we could interpret differently.
for bad in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET /a\x00b HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n folded: y\nz\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"):
    assert status(bad) == b"HTTP/1.1 400 Bad Request", (bad, status(bad))
assert status(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20000 + b"\r\n\r\n") == b"HTTP/1.1 431 Request Header Fields Too Large"
assert status(b"GET /#x HTTP/1.1\r\nHost: x\r\n\r\n", until=lambda got: True) == b"HTTP/1.1 400 Bad Request"
assert status(b"GET /" + b"a" * 40000) == b"HTTP/1.1 431 Request Header Fields Too Large"
# A body is not a second request.
answers = talk(b"GET /alpha/ HTTP/1.1\r\nHost: x\r\nContent-Length: 44\r\n\r\nGET /index.v1_json HTTP/1.1\r\nHost: evil\r\n\r\n....")
assert answers.count(b"HTTP/1.1 ") == 1 and b"Connection: close" in answers, answers[:300]
# A client that disconnects in the middle of a large file, many times, does no harm.
for _ in range(50):
    with socket.create_connection((host, int(port)), timeout=15) as s:
        s.sendall(b"GET /large-1.0-py3-none-any.whl HTTP/1.1\r\nHost: x\r\n\r\n")
        s.recv(1000)
assert status(b"GET / HTTP/1.0\r\n\r\n") == b"HTTP/1.1 200 OK"
PY
}

# --- a folder without an index: pages in memory, nothing is written
listing() { find "$d" | sort; }
before=$(listing)
start "$d"
expect live "$(json pages "$t/serve.out")"
check_all
expect "$before" "$(listing)" "serve wrote into the folder"
expect true "$(python3 -c 'import json, sys; lines = [json.loads(l) for l in open(sys.argv[1])]; print(str(len(lines) > 50 and all({"client", "method", "target", "status", "size", "seconds"} == set(l) for l in lines)).lower())' "$t/serve.err")" "the log"
# Changes are visible at the next request; a wheel that is still being copied is not offered.
versions() { curl -s "$base/alpha/" -H 'Accept: application/vnd.pypi.simple.v1+json' >"$t/page" && json 'versions' "$t/page" | tr '\n' ' '; }
expect '1.0 2.0 ' "$(versions)"
sleep 0.2
wheels "$t/new" 'alpha-3.0-py3-none-any.whl'
cp "$t/new/alpha-3.0-py3-none-any.whl" "$d/"
expect '1.0 2.0 3.0 ' "$(versions)" "a new wheel"
sleep 0.2
head -c 500 "$t/new/alpha-3.0-py3-none-any.whl" >"$d/alpha-4.0-py3-none-any.whl"
expect '1.0 2.0 3.0 ' "$(versions)" "half a wheel"
expect 404 "$(code "$base/alpha-4.0-py3-none-any.whl")"
wheels "$d" 'alpha-4.0-py3-none-any.whl'
for ((i = 0; i < 50; i++)); do [[ $(versions) != '1.0 2.0 3.0 4.0 ' ]] || break; sleep 0.2; done
expect '1.0 2.0 3.0 4.0 ' "$(versions)" "the rest of it came"
# Overwritten in place: same name, same folder time.
wheels "$t/new" 'alpha-3.0-py3-none-any.whl:salt=again'
cat "$t/new/alpha-3.0-py3-none-any.whl" >"$d/alpha-3.0-py3-none-any.whl"
sha=$(sha256sum <"$d/alpha-3.0-py3-none-any.whl")
for ((i = 0; i < 100; i++)); do [[ $(curl -s "$base/alpha/") != *"${sha%% *}"* ]] || break; sleep 0.2; done
[[ $(curl -s "$base/alpha/") == *"${sha%% *}"* ]] || fail "a wheel that changed in place has its old hash"
rm "$d"/alpha-[34].0-py3-none-any.whl
sleep 0.2
expect '1.0 2.0 ' "$(versions)" "wheels that went"
if [[ -x ${TESTS_PYTHON:-/nonexistent} ]]; then
  export HOME=$t/home PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1
  unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS PIP_CERT UV_CACHE_DIR || true
  mkdir -p "$HOME"
  "$TESTS_PYTHON" -m venv "$t/venv"
  "$t/venv/bin/python" -m pip install -q --no-cache-dir --index-url "$base/simple/" beta-tools
  expect '2.0 2.0+cpu' "$("$t/venv/bin/python" -c 'import alpha, Beta_Tools; print(alpha.version, Beta_Tools.version)')"
  [[ $(<"$t/serve.err") == *beta-tools/* && $(<"$t/serve.err") == *whl.metadata* ]] || fail "pip did not ask for metadata"
  if [[ -x ${TESTS_PYTHON%/*}/uv ]]; then
    "${TESTS_PYTHON%/*}/uv" venv -q --python "$TESTS_PYTHON" "$t/venv2"
    "${TESTS_PYTHON%/*}/uv" pip install -q --no-cache --python "$t/venv2/bin/python" --index-url "$base/" 'beta-tools' 'alpha<2'
    expect 1.0 "$("$t/venv2/bin/python" -c 'import alpha; print(alpha.version)')"
  fi
fi
# A running download completes when the server is stopped; an idle connection does not delay it.
curl -s --limit-rate 15M -o "$t/slow" "$base/large-1.0-py3-none-any.whl" &
slow=$!
python3 -c 'import socket, sys, time; s = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); time.sleep(20)' "${base##*:}" &
idle=$!
sleep 0.4
stop
wait $slow || fail "the download was cut off"
kill $idle 2>/dev/null || true
cmp "$t/slow" "$d/large-1.0-py3-none-any.whl" || fail "the download was cut short"

# A file replaced while it is served arrives in its old version; one overwritten in place is cut off.
start "$d" --quiet
cp "$d/large-1.0-py3-none-any.whl" "$t/old.whl"
tac -b -s a <"$t/noise" >"$t/other_noise"
mkdir "$t/replacing"
make_wheel "$t/replacing/large-1.0-py3-none-any.whl" "large/noise.bin=$t/other_noise"
mv "$t/replacing/large-1.0-py3-none-any.whl" "$t/replacing.whl"
curl -s --limit-rate 15M -o "$t/slow" "$base/large-1.0-py3-none-any.whl" &
slow=$!
sleep 0.4
cp "$t/replacing.whl" "$d/.next" && mv "$d/.next" "$d/large-1.0-py3-none-any.whl"
wait $slow || fail "the download was cut off"
cmp "$t/slow" "$t/old.whl" || fail "a mixture of two files"
cmp <(curl -s "$base/large-1.0-py3-none-any.whl") "$t/replacing.whl" || fail "not the new file"
curl -s --limit-rate 15M -o "$t/slow" "$base/large-1.0-py3-none-any.whl" &
slow=$!
sleep 0.4
cat "$t/old.whl" >"$d/large-1.0-py3-none-any.whl"
if wait $slow; then cmp "$t/slow" "$t/old.whl" || fail "a mixture of two files is taken for whole"; fi
stop

# --- an indexed folder: its files as they are
run index "$d"
[[ $status == 0 ]] || fail "index: $(<"$t/out")"
start "$d" --max-connections 40
expect files "$(json pages "$t/serve.out")"
check_all
# Too many clients, and slow ones: the others are served.
python3 - "${base##*:}" <<'PY' || fail "crowds"
import socket, sys, time
port = int(sys.argv[1])
crowd = [socket.create_connection(("127.0.0.1", port), timeout=15) for _ in range(40)]
for s in crowd:
    s.sendall(b"GET / HT")
time.sleep(0.5)
def served():
    with socket.create_connection(("127.0.0.1", port), timeout=15) as one:
        one.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return one.recv(100).startswith(b"HTTP/1.1 200")
# The longest idle connections make room, however many there are.
assert served()
for _ in range(3):
    crowd += [socket.create_connection(("127.0.0.1", port), timeout=15) for _ in range(40)]
    time.sleep(0.6)
    assert served()
crowd = [socket.create_connection(("127.0.0.1", port), timeout=15)]
crowd[0].sendall(b"GET / HT")
begin = time.monotonic()
assert crowd[0].recv(100) == b"", "a client that never ends its request is hung up on"
assert time.monotonic() - begin < 14
time.sleep(1)
again = socket.create_connection(("127.0.0.1", port), timeout=15)
again.sendall(b"GET / HTTP/1.0\r\n\r\n")
assert again.recv(100).startswith(b"HTTP/1.1 200")
PY
stop
start "$d" --live --quiet
expect live "$(json pages "$t/serve.out")"
expect 200 "$(code "$base/alpha/")"
stop
expect '' "$(<"$t/serve.err")" "--quiet"

# --- a folder that can no longer be indexed: the pages stay, and the operator is told once
start "$d" --live --quiet
expect 200 "$(code "$base/alpha/")"
echo 'yanked = [' >"$d/index.toml"
for ((i = 0; i < 100; i++)); do
  expect 200 "$(code "$base/alpha/")" "while index.toml is broken"
  [[ ! -s $t/serve.err ]] || break
  sleep 0.1
done
sleep 1
expect 200 "$(code "$base/alpha/")" "while index.toml is broken"
rm "$d/index.toml"
stop
expect 1 "$(wc -l <"$t/serve.err")" "$(<"$t/serve.err")"
[[ $(json problem "$t/serve.err") == 'pages not updated: index.toml:'* ]] || fail "$(<"$t/serve.err")"

# --- a kernel without openat2: the same answers, and no link is followed at all
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
  real=$wheelsmith
  printf '#!/bin/bash\nexec strace -D -f -qq -o /dev/null -e trace=openat2 -e inject=openat2:error=ENOSYS "%s" "$@"\n' "$real" >"$t/old_kernel"
  chmod +x "$t/old_kernel"
  for mode in '' --live; do
    wheelsmith=$t/old_kernel
    start "$d" --quiet $mode
    wheelsmith=$real
    expect '200 200 200' "$(code "$base/alpha/") $(code "$base/gamma/gamma-0.1.tar.gz") $(code "$base/alpha-1.0-py3-none-any.whl.metadata")" "$mode"
    for path in /links/alpha-1.0-py3-none-any.whl /leaves-1.0-py3-none-any.whl /leaves-2.0-py3-none-any.whl /up/secret.whl; do
      expect 404 "$(code "$base$path")" "$path $mode"
    done
    stop
  done
fi

# --- invalid arguments
run serve "$t/nothing"
expect 1 $status
for address in example.org:80 127.0.0.1:99999 127.0.0.1:x '[::1' 300.1.1.1:80; do
  run serve "$d" --listen "$address"
  expect 1 $status "$address"
  [[ $(<"$t/err") == *numeric* ]] || fail "$(<"$t/err")"
done
start "$d" --quiet
run serve "$d" --listen "${base#http://}"
expect 1 $status
[[ $(<"$t/err") == *"in use"* ]] || fail "$(<"$t/err")"
stop
