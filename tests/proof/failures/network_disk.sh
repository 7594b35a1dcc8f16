# No network, a proxy or certificate in the way, servers that do not answer; and disks that are full.

registry=https://pypi.example/simple

log network-dns-pip network network -
network-dns-pip() { plain_venv; PIP_RETRIES=1 PIP_INDEX_URL=$registry pip install flash-linear; }

log network-dns-uv network network -
network-dns-uv() { plain_venv; UV_HTTP_RETRIES=1 uv pip install --index-url $registry flash-linear; }

log network-unreachable-isolated network network -
network-unreachable-isolated() {
  plain_venv
  pyproject kernels setuptools.build_meta '"setuptools", "wheel"' 1.0
  PIP_RETRIES=2 PIP_INDEX_URL=$registry unshare -n pip install .
}

log network-proxy-refused network proxy -
network-proxy-refused() { plain_venv; https_proxy=http://127.0.0.1:3128 PIP_RETRIES=1 PIP_INDEX_URL=$registry pip install einops; }

log network-proxy-refused-uv network proxy -
network-proxy-refused-uv() { plain_venv; https_proxy=http://127.0.0.1:3128 UV_HTTP_RETRIES=0 uv pip install --index-url $registry einops; }

# serve_with CODE: a server on a port of the loopback, told in $port.
serve_with() {
  cat >/home/me/server.py
  python /home/me/server.py >/home/me/port 2>/dev/null &
  for ((i = 0; i < 100; ++i)); do [[ -s /home/me/port ]] && break; sleep 0.1; done
  port=$(cat /home/me/port)
}

# A proxy whose answer to every tunnel is "no".
log network-proxy-forbidden network proxy -
network-proxy-forbidden() {
  plain_venv
  serve_with <<'CODE'
import http.server
class Proxy(http.server.BaseHTTPRequestHandler):
    def do_CONNECT(self): self.send_error(407, 'Proxy Authentication Required')
server = http.server.HTTPServer(('127.0.0.1', 0), Proxy)
print(server.server_port, flush=True)
server.serve_forever()
CODE
  https_proxy=http://127.0.0.1:$port PIP_RETRIES=1 PIP_INDEX_URL=$registry pip install einops
}

self_signed_server() {
  need openssl
  quiet openssl req -x509 -newkey rsa:2048 -nodes -keyout /home/me/key.pem -out /home/me/cert.pem -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost
  serve_with <<'CODE'
import http.server, ssl
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('/home/me/cert.pem', '/home/me/key.pem')
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
CODE
}

log network-certificate-pip network certificate -
network-certificate-pip() { plain_venv; self_signed_server; PIP_RETRIES=1 pip install --index-url https://localhost:$port/simple einops; }

log network-certificate-git network certificate git
network-certificate-git() { plain_venv; self_signed_server; typed git clone --recursive https://localhost:$port/engine.git; }

log network-certificate-curl network certificate -
network-certificate-curl() { plain_venv; self_signed_server; echo "curl -fsSL https://localhost:$port/cutlass.tar.gz | tar -xz" >fetch.sh; bash -exo pipefail fetch.sh; }

log network-timeout-pip network - -
network-timeout-pip() {
  plain_venv
  silent_server
  pip install --timeout 1 --retries 1 --index-url http://127.0.0.1:$port/simple einops
}

log network-timeout-uv network - -
network-timeout-uv() {
  plain_venv
  silent_server
  UV_HTTP_TIMEOUT=2 UV_HTTP_RETRIES=0 uv pip install --index-url http://127.0.0.1:$port/simple einops
}

status_server() {
  serve_with <<CODE
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_error($1)
    do_HEAD = do_GET
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
CODE
}

log network-503-uv network - -
network-503-uv() { plain_venv; status_server 503; UV_HTTP_RETRIES=1 uv pip install --index-url http://127.0.0.1:$port/simple einops; }

log network-404-url network 404 -
network-404-url() { plain_venv; status_server 404; pip install http://127.0.0.1:$port/wheels/kernels-1.0-py3-none-any.whl; }

log network-404-cmake network - -
network-404-cmake() {
  plain_venv
  status_server 404
  cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.24)
project(engine LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(json URL http://127.0.0.1:$port/json.tar.xz)
FetchContent_MakeAvailable(json)
CMAKE
  cmake -S . -B build
}

log network-fetchcontent-git network - -
network-fetchcontent-git() {
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.24)
project(engine LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(cutlass GIT_REPOSITORY https://git.example/cutlass.git GIT_TAG v3.5.1)
FetchContent_MakeAvailable(cutlass)
CMAKE
  unshare -n cmake -S . -B build -G Ninja
}

log network-git-refused network - git
network-git-refused() { typed git clone --depth 1 https://127.0.0.1:9/engine.git; }

log network-git-dns network resolve -
network-git-dns() { plain_venv; unshare -n pip install 'kernels @ git+https://git.example/kernels.git@v1.2'; }

log network-urllib network network -
network-urllib() {
  plain_venv
  cat >setup.py <<'CODE'
import urllib.request
from setuptools import setup
urllib.request.urlretrieve('https://downloads.example/json.tar.xz', 'json.tar.xz')
setup(name='engine', version='3.0')
CODE
  unshare -n pip install --no-build-isolation .
}

log network-hash-mismatch network - -
network-hash-mismatch() {
  plain_venv
  printf 'einops==0.8.0 --hash=sha256:%064d\n' 7 >requirements.txt
  pip install --require-hashes --no-deps -r requirements.txt
}

log network-hash-cmake network - -
network-hash-cmake() {
  mkdir files
  echo data >files/json.tar
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.24)
project(engine LANGUAGES CXX)
file(DOWNLOAD file://${CMAKE_SOURCE_DIR}/files/json.tar ${CMAKE_BINARY_DIR}/json.tar EXPECTED_HASH SHA256=0000000000000000000000000000000000000000000000000000000000000007 SHOW_PROGRESS)
CMAKE
  cmake -S . -B build
}

log disk-gcc disk df tables
disk-gcc() {
  small_disk 2m /home/me/small
  cd /home/me/small
  { echo 'const char tables[] = {'; seq -f '%g%%127,' 1 150000; echo '};'; } >/home/me/project/tables.c
  printf 'tables.o: /home/me/project/tables.c\n\tgcc -O0 -g3 -c $< -o $@\n' >Makefile
  head -c 1990000 /dev/zero >other
  make
}

log disk-tmp-gcc disk TMPDIR big
disk-tmp-gcc() {
  small_disk 100k /home/me/tmp
  seq 1 4000 | sed 's/.*/int f&(int x) { return x * &; }/' >big.c
  printf 'big.o: big.c\n\tgcc -g -c $< -o $@\n' >Makefile
  TMPDIR=/home/me/tmp make
}

log disk-ld disk df libblob.so
disk-ld() {
  small_disk 12m /home/me/small
  cd /home/me/small
  printf '.data\n.globl blob\nblob: .fill 7000000, 1, 7\n' >blob.s
  as blob.s -o blob.o
  cat >build.ninja <<'NINJA'
rule link
  command = gcc -shared -o $out $in
build libblob.so: link blob.o
NINJA
  ninja
}

log disk-nvcc disk df kernel.cu
disk-nvcc() {
  small_disk 500k /home/me/tmp
  printf '#include <cuda_fp16.h>\n__global__ void k(__half* x) { *x = __hadd(*x, *x); }\n' >kernel.cu
  printf 'kernel.o: kernel.cu\n\tnvcc -arch=sm_90 -c $< -o $@\n' >Makefile
  TMPDIR=/home/me/tmp make
}

log disk-pip-tmp disk df -
disk-pip-tmp() {
  plain_venv
  small_disk 1m /home/me/tmp
  TMPDIR=/home/me/tmp pip install --no-cache-dir --force-reinstall --no-deps 'pygments==2.18.0'
}

log disk-uv disk df -
disk-uv() {
  plain_venv
  small_disk 2m /home/me/.cache
  uv pip install --no-deps --reinstall 'pygments==2.18.0'
}

log disk-git-clone disk df git
disk-git-clone() {
  quiet git config --global user.name me
  quiet git config --global user.email me@example.com
  mkdir /home/me/origin
  head -c 4000000 /dev/urandom >/home/me/origin/weights.bin
  quiet git -C /home/me/origin init
  quiet git -C /home/me/origin add -A
  quiet git -C /home/me/origin commit -m 'Weights'
  small_disk 2m /home/me/small
  cd /home/me/small
  typed git clone file:///home/me/origin engine
}

log disk-tar disk df tar
disk-tar() {
  head -c 3000000 /dev/urandom >blob
  tar -cf blob.tar blob
  small_disk 1m /home/me/small
  typed tar -xf blob.tar -C /home/me/small
}

log disk-wheel-zip disk df -
disk-wheel-zip() {
  plain_venv
  mkdir kernels
  head -c 3000000 /dev/urandom >kernels/weights.bin
  touch kernels/__init__.py
  printf 'from setuptools import setup\nsetup(name="kernels", version="1.0", packages=["kernels"], package_data={"kernels": ["*.bin"]})\n' >setup.py
  small_disk 1m dist
  typed python setup.py bdist_wheel
}

log disk-quota-inodes disk df -
disk-quota-inodes() {
  mkdir -p /home/me/small
  mount -t tmpfs -o nr_inodes=25 none /home/me/small
  cd /home/me/small
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(codec C CXX)\n' >CMakeLists.txt
  cmake -B build
}
