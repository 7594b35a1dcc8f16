#!/bin/bash
# 100 downloads of a wheel of 1 GB at once from `serve --store`, compared with nginx (where it is installed) and with one
# process that copies the same bytes through the same loopback (sendfile in Python). Loopback only; ends by itself. SIZE is
# in MB, CLIENTS how many at once. Prints GB/s of each, the ratio, and the processor time that each server takes for a GB.
# Fails below 0.7 of the better one, or when an answer is not the file. On a busy machine GB/s tell how many threads a server
# has, not how good it is: there nothing is judged (skipped), and only the processor time means something.
source "$(dirname "$0")/../common.inc"
need openssl curl
size=${SIZE:-1000} clients=${CLIENTS:-100}
busy=$(python3 -c 'import os; print(int(os.getloadavg()[0] > 1))')
pids=()
trap 'ended=$?; ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true; leave $ended' EXIT
mkdir -p "$t/store/blobs" "$t/store/steps"
openssl enc -aes-128-ctr -pass pass:x -nosalt </dev/zero 2>/dev/null | head -c $((size * 1000000)) >"$t/blob" || true  # the pipe breaks
expect $((size * 1000000)) "$(stat -c %s "$t/blob")" "bytes of the wheel"
sha=$(sha256sum <"$t/blob" | cut -d' ' -f1)
mv "$t/blob" "$t/store/blobs/$sha"
cat "$t/store/blobs/$sha" >/dev/null  # into the page cache

cat >"$t/clients.py" <<'PYTHON'
"""clients.py URL CLIENTS BYTES: downloads of the URL at once, on as many connections; prints GB/s. Each answer is counted,
and one of them is compared with its hash, which is the last part of the URL."""
import hashlib, select, socket, sys, time, urllib.parse
url, clients, size = urllib.parse.urlsplit(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
request = f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode()
digest = hashlib.sha256() if len(sys.argv) > 4 else None
begin = time.monotonic()
left, poll, buffer = {}, select.epoll(), bytearray(1 << 20)
for _ in range(clients):
    connection = socket.create_connection((url.hostname, url.port))
    connection.sendall(request)
    connection.setblocking(False)
    poll.register(connection, select.EPOLLIN)
    left[connection.fileno()] = [connection, b"", 0]
first = next(iter(left))
while left:
    for number, _ in poll.poll():
        state = left[number]
        count = state[0].recv_into(buffer)
        if count == 0:
            if state[2] != size:
                sys.exit(f"{state[2]} of {size} bytes came")
            poll.unregister(state[0]); state[0].close(); del left[number]
            continue
        data = memoryview(buffer)[:count]
        if state[1] is not None:
            head = state[1] + bytes(data)
            end = head.find(b"\r\n\r\n")
            if end < 0:
                state[1] = head
                continue
            if b" 200 " not in head.split(b"\r\n")[0]:
                sys.exit(head.split(b"\r\n")[0].decode())
            data, state[1] = head[end + 4:], None
        state[2] += len(data)
        if digest is not None and number == first:
            digest.update(data)
seconds = time.monotonic() - begin
if digest is not None and digest.hexdigest() != url.path.rsplit("/", 1)[1]:
    sys.exit("the bytes are not those of the file")
print(f"{clients * size / seconds / 1e9:.2f}")
PYTHON
cat >"$t/sendfile.py" <<'PYTHON'
"""sendfile.py FILE: the least that a server can do: one thread for each connection, sendfile, no parsing."""
import os, socket, sys, threading
size = os.path.getsize(sys.argv[1])
listener = socket.create_server(("127.0.0.1", 0), backlog=256)
print(listener.getsockname()[1], flush=True)
def answer(connection):
    connection.recv(4096)
    connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
    with open(sys.argv[1], "rb") as file:
        connection.sendfile(file)
    connection.close()
while True:
    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
PYTHON
bytes=$((size * 1000000))
# cpu_of PID: seconds of processor time of a process and its children, the living ones included.
cpu_of() {
  python3 - "$1" <<'PYTHON'
import os, sys
def ticks(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    return sum(int(field) for field in fields[11:15]) + sum(ticks(child) for child in children)
print(ticks(sys.argv[1]) / os.sysconf("SC_CLK_TCK"))
PYTHON
}
# per_gb PID: of two rounds.
per_gb() { python3 -c "print(f'{$(cpu_of "$1") / (2 * $clients * $bytes / 1e9):.2f}')"; }
# Both rounds must be good. (A command substitution runs without `set -e`.)
best_of() {
  local first second
  first=$(python3 "$t/clients.py" "$@") && second=$(python3 "$t/clients.py" "$@") || return 1
  printf '%s\n' "$first" "$second" | sort -g | tail -n 1
}

"$wheelsmith" serve --store "$t/store" --listen 127.0.0.1:0 --json --quiet >"$t/serve" 2>"$t/serve.err" &
pids+=($!)
for ((i = 0; i < 300; i++)); do [[ -s $t/serve ]] && break; sleep 0.1; done
[[ -s $t/serve ]] || fail "no server: $(<"$t/serve.err")"
url=$(json url "$t/serve")
ours=$(best_of "${url}blobs/$sha" "$clients" "$bytes")
ours_cpu=$(per_gb "${pids[-1]}")
python3 "$t/clients.py" "${url}blobs/$sha" 3 "$bytes" verify >/dev/null
python3 "$t/sendfile.py" "$t/store/blobs/$sha" >"$t/port" &
pids+=($!)
for ((i = 0; i < 100; i++)); do [[ -s $t/port ]] && break; sleep 0.1; done
plain=$(best_of "http://127.0.0.1:$(<"$t/port")/x" "$clients" "$bytes")
plain_cpu=$(per_gb "${pids[-1]}")
nginx=none nginx_cpu=none
if command -v nginx >/dev/null; then
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  cat >"$t/nginx.conf" <<CONF
user $(id -un); worker_processes 4; error_log $t/nginx.log; pid $t/nginx.pid; daemon off;
events { worker_connections 512; }
http { access_log off; sendfile on; tcp_nopush on; server { listen 127.0.0.1:$port; root $t/store; } }
CONF
  chmod -R go+rX "$t"
  nginx -c "$t/nginx.conf" -e "$t/nginx.log" &
  pids+=($!)
  for ((i = 0; i < 100; i++)); do curl -s -o /dev/null "http://127.0.0.1:$port/" && break; sleep 0.1; done
  nginx=$(best_of "http://127.0.0.1:$port/blobs/$sha" "$clients" "$bytes")
  nginx_cpu=$(per_gb "${pids[-1]}")
fi
echo "$clients downloads of $size MB at once, GB/s: serve --store $ours, sendfile alone $plain, nginx $nginx"
echo "processor seconds for a GB: serve --store $ours_cpu, sendfile alone $plain_cpu, nginx $nginx_cpu"
((busy == 0)) || skip "the answers are right; their speed is not judged, because the machine was busy"
python3 - "$ours" "$plain" "$nginx" <<'PYTHON'
import sys
ours, others = float(sys.argv[1]), [float(one) for one in sys.argv[2:] if one != "none"]
print(f"ratio to the best of the others: {ours / max(others):.2f}")
if ours < 0.7 * max(others):
    sys.exit("FAILED: less than 0.7 of the best of the others")
PYTHON
