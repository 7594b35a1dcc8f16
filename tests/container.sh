#!/bin/bash
# --container: the same command inside an image. podman shows what runs where; the wheel names its image. On machines
# that cannot start containers, the test checks the error.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need podman runc unzip

# Separate images and containers, and limits that a test machine may not be able to raise.
cat >"$t/containers.conf" <<CONF
[engine]
runtime = "runc"
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
CONF
cat >"$t/storage.conf" <<CONF
[storage]
driver = "overlay"
graphroot = "$t/images"
runroot = "$t/images-run"
CONF
export CONTAINERS_CONF=$t/containers.conf CONTAINERS_STORAGE_CONF=$t/storage.conf

# Parts that need no container.
small_package "$t"
cd "$t"
run build small --container nosuch --offline
expect 1 "$status"
grep -q "podman does not have the image nosuch" "$t/err" || fail "$(cat "$t/err")"
run build small --container=-v
expect 1 "$status"
run build small --container x --install
expect 2 "$status"
run build small --container x --container-engine lxc
expect 2 "$status"
message=$(PATH=/nonexistent "$wheelsmith" doctor --container x 2>&1) && fail "without an engine: $message"
[[ $message == *"no podman, docker or apptainer"* ]] || fail "$message"

# A package that stores what only the image has.
sed -i '1i import os; open("small/where.txt", "w").write(str(os.path.exists("/etc/image-mark")))' "$t/recipes/small/setup.py"
printf '[tool.setuptools.package-data]\nsmall = ["where.txt"]\n' >>"$t/recipes/small/pyproject.toml"

python3 "$tests/container_image.py" "$t/root.tar" bash coreutils grep sed tar gzip xz-utils python3-venv python3-dev g++ git curl \
  ca-certificates
# The slow driver needs no kernel support.
podman import -q "$t/root.tar" small-image:1 >"$t/import" 2>&1 ||
  { sed -i 's/overlay/vfs/' "$t/storage.conf"; rm -rf "$t/images" "$t/images-run"; podman import -q "$t/root.tar" small-image:1; } \
    >"$t/import" 2>&1 || fail "$(cat "$t/import")"
rm "$t/root.tar"
trap 'ended=$?; podman rmi -af >/dev/null 2>&1 || true; leave $ended' EXIT

if ! podman run --rm --network host small-image:1 python3 --version >"$t/out" 2>"$t/err"; then
  echo "this machine starts no containers: $(tail -n 1 "$t/err")"
  run_json build small --container small-image:1
  expect 1 "$status"
  [[ $(json error) == "podman could not start a container of small-image:1"* ]] || fail "$(json error)"
  skip "what happens inside a container: none starts here"
fi
id=$(podman image inspect --format '{{.Id}}' small-image:1)

# The image's own tools, and none of this machine's.
run_json doctor --container small-image:1
expect 0 "$status"
expect none "$(json '[c.found for c in checks if c.id == "ninja"][0]')"

run_json build small --container small-image:1
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
expect built "$(json 'steps[0].outcome')"
wheel=$(json 'steps[0].wheel')
unzip -p "$wheel" 'small-1.0.dist-info/wheelsmith/provenance.json' >"$t/provenance.json"
expect "sha256:$id" "$(json container.id "$t/provenance.json")"
expect small-image:1 "$(json container.image "$t/provenance.json")"
expect True "$(unzip -p "$wheel" small/where.txt)" "the setup.py ran in the image"
python3 -m venv "$t/env"
"$t/env/bin/python" -m pip install -q --disable-pip-version-check --no-index "$wheel"
expect 5 "$(cd / && "$t/env/bin/python" -c 'import small; print(small.add(2, 3))')"
expect "$(id -u)" "$(stat -c %u "$wheel")" "who owns the wheel"
expect "" "$(podman ps -aq)" "containers that are left"

# The key includes the image: a repeated build is cached, builds on this machine or in another image are not.
run_json build small --container small-image:1
expect cached "$(json 'steps[0].outcome')"
run_json plan small
expect false "$(json 'steps[0].cached')"
[[ $(json 'steps[0].reason') == *container* ]] || fail "the reason is $(json 'steps[0].reason')"
podman commit -q "$(podman create small-image:1 true)" small-image:2 >/dev/null 2>&1
podman rm -af >/dev/null
run_json plan small --container small-image:2
expect false "$(json 'steps[0].cached')"
expect "sha256:$(podman image inspect --format '{{.Id}}' small-image:2)" "$(json 'steps[0].container.id')"

# A working folder has one tree, which is recreated for the image: this machine's objects are not used there.
objects() { find store/trees -name 'add.o' -printf '%i %T@\n'; }
run_json build small --source "small=$t/recipes/small"
expect "0 built" "$status $(json 'steps[0].outcome')"
before=$(objects)
[[ -n $before ]] || fail "no object in the tree"
run_json build small --source "small=$t/recipes/small" --container small-image:1
expect "0 built" "$status $(json 'steps[0].outcome')"
[[ $(objects) != "$before" ]] || fail "the image's build has the machine's objects"

# Also from a settings file; and an interrupt stops the build inside.
echo 'container = "small-image:1"' >wheelsmith.toml
run plan small
expect 2 $status "not trusted"
trust
run_json plan small
expect "sha256:$id" "$(json 'steps[0].container.id')"
sed -i 's/^import os/import time; time.sleep(1000); import os/' "$t/recipes/small/setup.py"
"$wheelsmith" build small >"$t/out" 2>"$t/err" &
build=$!
for ((i = 0; i < 600; i++)); do
  if grep -q ": prepare" "$t/err"; then break; fi
  sleep 0.1
done
sleep 1
kill -TERM $build
ended=0
wait $build || ended=$?
expect 130 "$ended"
expect "" "$(podman ps -aq)" "containers that are left"
