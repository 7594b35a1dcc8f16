#!/bin/bash
# Pages of an index, served and opened in a headless Chromium, light, dark and narrow: no errors, no external requests,
# screenshots in PICTURES (default: build/proof/index).
source "$(dirname "$0")/../common.inc"
need chromium
pictures=${PICTURES:-$tests/../build/proof/index}
d=$t/wheelhouse
names=()
for version in 2.9.0 2.10.0; do
  for local in cpu cu130 rocm7.10.0; do
    for python in cp311 cp312 cp313; do names+=("torch-$version+$local-$python-$python-manylinux_2_28_x86_64.manylinux_2_34_x86_64.whl:requires=>=3.10"); done
  done
done
for n in $(seq 40); do names+=("package_number_$n-1.$n-py3-none-any.whl:requires=>=3.9"); done
python3 "$tests/index_wheels.py" "$d" "${names[@]}" 'torch-2.10.0.tar.gz:requires=>=3.10' 'rocm-7.10.0.tar.gz' 'rocm_sdk_device_gfx942-7.10.0-py3-none-linux_x86_64.whl' \
  'hostile-1.0-py3-none-any.whl' 'hostile-1.1-py3-none-any.whl' 'gone-1.0-py3-none-any.whl'
cat >"$d/index.toml" <<'TOML'
[yanked]
"torch-2.9.0+cu130-*" = "wrong results on Blackwell; take 2.10"
"hostile-1.0*" = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'>\" onclick=\"window.broken = 1"
[project.hostile]
status = "deprecated"
reason = "</main><script>window.broken = 1</script>"
[project.gone]
status = "quarantined"
TOML
run_json index "$d" --sub-indexes variant,family --title 'Wheels <script>window.broken = 1</script> of tonight'
expect 0 "$status" "$(<"$t/out")"
: >"$t/serve.out"
"$wheelsmith" serve "$d" --listen 127.0.0.1:0 --json --quiet >"$t/serve.out" 2>"$t/serve.err" &
server=$!
trap 'ended=$?; kill $server 2>/dev/null || true; leave $ended' EXIT
for ((i = 0; i < 100; i++)); do [[ $(<"$t/serve.out") != *\} ]] || break; sleep 0.1; done
rm -rf "$pictures"
python3 "$tests/proof/index_browser.py" "$pictures" "$(json url "$t/serve.out")"
echo "pictures in $pictures"
