#!/bin/bash
# `index` and `serve` publish files' origins: PEP 740 provenance about the file, signatures, statements.
# pypi-attestations confirms the format, pip and packaging the pages.
source "$(dirname "$0")/common.inc"
[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || skip "the package index is not reachable"
mkdir -p "$t/house"
echo 'x = 1' >"$t/x.py"
for name in good wrong_bytes wrong_shape bare plain; do
  make_wheel "$t/house/$name-1.0-py3-none-any.whl" "$name/x.py=$t/x.py"
done
cat >"$t/attest.py" <<'PYTHON'
import base64, hashlib, json, sys

kind, wheel, other = sys.argv[1:]
encode = lambda data: base64.b64encode(data).decode()
statement = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": wheel.rsplit("/", 1)[-1], "digest": {"sha256": hashlib.sha256(open(other, "rb").read()).hexdigest()}}],
    "predicateType": "https://slsa.dev/provenance/v1",
    "predicate": None,
}
attestation = {
    "version": 1,
    "verification_material": {"certificate": encode(b"certificate"), "transparency_entries": [{"logIndex": "0"}]},
    "envelope": {"statement": encode(json.dumps(statement).encode()), "signature": encode(b"signature")},
}
publisher = {"kind": "GitHub", "claims": None, "repository": "me/small", "workflow": "release.yml", "environment": ""}
provenance = {"version": 1, "attestation_bundles": [{"publisher": publisher, "attestations": [attestation]}]}
try:
    from pypi_attestations import Attestation, Provenance

    Attestation.model_validate(attestation)
    Provenance.model_validate(provenance)
except ImportError:
    print("not judged by pypi-attestations", file=sys.stderr)
json.dump(attestation if kind == "attestation" else provenance, sys.stdout)
PYTHON
attest() { "$TESTS_PYTHON" "$t/attest.py" "$1" "$t/house/$2-1.0-py3-none-any.whl" "$t/house/$3-1.0-py3-none-any.whl"; }
house() { echo "$t/house/$1-1.0-py3-none-any.whl"; }
attest provenance good good >"$(house good).provenance"
attest attestation good good >"$(house good).publish.attestation"
attest provenance wrong_bytes good >"$(house wrong_bytes).provenance"
attest attestation wrong_bytes good >"$(house wrong_bytes).publish.attestation"
attest attestation wrong_shape wrong_shape >"$(house wrong_shape).provenance" # an attestation is not a provenance
for ending in asc intoto.json intoto.json.asc sig sigstore.json; do echo "$ending" >"$(house bare).$ending"; done

run_json index "$t/house"
expect 0 "$status"
expect "index-bad-provenance wrong_bytes-1.0-py3-none-any.whl.provenance
index-bad-provenance wrong_bytes-1.0-py3-none-any.whl.publish.attestation
index-bad-provenance wrong_shape-1.0-py3-none-any.whl.provenance" "$(json '[f.id + " " + f.subject for f in findings]' | sort)"
"$TESTS_PYTHON" "$tests/index_judge.py" "$t/house" >/dev/null
page() { "$TESTS_PYTHON" - "$t/house/$1/index.v1_json" "$2" <<'PYTHON'
import json, sys
print(json.load(open(sys.argv[1]))["files"][0].get(sys.argv[2]))
PYTHON
}
expect "../good-1.0-py3-none-any.whl.provenance" "$(page good provenance)"
expect None "$(page wrong-bytes provenance)"
expect None "$(page wrong-shape provenance)"
expect "None True" "$(page bare provenance) $(page bare gpg-sig)"
expect "None None" "$(page plain provenance) $(page plain gpg-sig)"
grep -q 'data-provenance="../good-1.0-py3-none-any.whl.provenance"' "$t/house/good/index.html"
grep -q 'data-gpg-sig="true"' "$t/house/bare/index.html"
if grep -q 'data-gpg-sig\|data-provenance' "$t/house/plain/index.html" "$t/house/wrong-bytes/index.html"; then fail "a page names a missing file"; fi
"$TESTS_PYTHON" -m pip --isolated download -q --disable-pip-version-check --no-deps -d "$t/got" --index-url "file://$t/house" good bare wrong-bytes
[[ -f $t/got/good-1.0-py3-none-any.whl ]] || fail "pip got nothing"

# In another layout they move with their files.
run index "$t/house" --out "$t/flat" --layout flat
expect 0 "$status"
for ending in asc intoto.json intoto.json.asc sig sigstore.json; do
  cmp "$(house bare).$ending" "$t/flat/bare-1.0-py3-none-any.whl.$ending"
done
cmp "$(house good).provenance" "$t/flat/good-1.0-py3-none-any.whl.provenance"
cmp "$(house good).publish.attestation" "$t/flat/good-1.0-py3-none-any.whl.publish.attestation"
[[ ! -e $t/flat/wrong_bytes-1.0-py3-none-any.whl.provenance ]] || fail "a provenance of other bytes is published"

# The server generates the pages itself: the same files, without the rejected ones.
mkdir "$t/live"
cp "$t"/house/*.whl "$t"/house/*.whl.* "$t/live"
: >"$t/serve.out"
"$wheelsmith" serve "$t/live" --listen 127.0.0.1:0 --json >"$t/serve.out" 2>"$t/serve.err" &
server=$!
trap 'ended=$?; kill $server 2>/dev/null || true; leave $ended' EXIT
for ((i = 0; i < 100; i++)); do [[ $(<"$t/serve.out") == *\} ]] && break; sleep 0.1; done
base=$(json url "$t/serve.out")
code() { python3 - "$base$1" <<'PYTHON'
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1])
    print(answer.status, answer.headers["Content-Type"])
except urllib.error.HTTPError as error:
    print(error.code)
PYTHON
}
expect "200 application/json" "$(code good-1.0-py3-none-any.whl.provenance)"
expect "200 application/json" "$(code bare-1.0-py3-none-any.whl.intoto.json)"
expect "200 application/pgp-signature" "$(code bare-1.0-py3-none-any.whl.intoto.json.asc)"
expect 404 "$(code wrong_bytes-1.0-py3-none-any.whl.provenance)"
expect 404 "$(code wrong_bytes-1.0-py3-none-any.whl.publish.attestation)"
