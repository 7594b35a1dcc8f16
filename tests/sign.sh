#!/bin/bash
# `build --sign` and `verify`: confirmed by gpg and ssh-keygen both ways. They verify our signatures, and `verify`
# accepts theirs; one changed byte, another key, or a statement about another wheel is rejected.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need gpg ssh-keygen unzip
small_package "$t"
mkdir -m 700 "$t/gnupg"
export GNUPGHOME=$t/gnupg
end_agent() { gpgconf --kill all 2>/dev/null || true; }
trap 'ended=$?; end_agent; leave $ended' EXIT
new_key() { gpg -q --batch --passphrase '' --quick-generate-key "$1" ed25519 sign never 2>/dev/null; }
fingerprint() { gpg --batch --with-colons --list-keys "$1" | sed -n 's/^fpr:*\([0-9A-F]*\):*$/\1/p' | head -n 1; }
new_key 'Good <good@example.com>'
new_key 'Other <other@example.com>'
gpg -q --batch --armor --export good@example.com >"$t/good.asc"
gpg -q --batch --armor --export other@example.com >"$t/other.asc"
ssh-keygen -q -t ed25519 -N '' -C '' -f "$t/good_key"
ssh-keygen -q -t ed25519 -N '' -C '' -f "$t/other_key"
echo "me@example.com $(<"$t/good_key.pub")" >"$t/signers"

# A missing signer is an error before anything is built.
for signer in ssh:"$t/absent" gpg:nobody@example.com; do
  run build small --sign "$signer"
  expect 1 "$status" "--sign $signer"
done
if ! command -v cosign >/dev/null; then
  run build small --sign cosign
  expect 1 "$status"
  grep -q 'cosign is not installed' "$t/err" || fail "$(<"$t/err")"
fi
[[ ! -e $t/wheelhouse ]] || fail "something was built for a signer that is missing"
for signer in pgp ssh gpg:--yes; do
  run build small --sign "$signer"
  expect 2 "$status" "--sign $signer"
done

run_json build small --sign gpg:good@example.com
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
wheel=$(json 'steps[0].wheel')
expect "$wheel.intoto.json" "$(json 'steps[0].statement')"
expect "$wheel.asc $wheel.intoto.json.asc" "$(json 'steps[0].signatures' | tr '\n' ' ' | sed 's/ $//')"
"$TESTS_PYTHON" "$tests/statement_judge.py" "$wheel" "$wheel.intoto.json"
gpg -q --batch --verify "$wheel.asc" "$wheel" 2>/dev/null
gpg -q --batch --verify "$wheel.intoto.json.asc" "$wheel.intoto.json" 2>/dev/null

verdict() { # verdict WANTED ARGUMENT…
  run_json verify "$wheel" "${@:2}"
  expect "$1" "$(json 'items[0].verdict')" "verify ${*:2}: $(json 'items[0].why')"
  expect "$([[ $1 == good ]] && echo 0 || echo 1)" "$status" "verify ${*:2}"
}
good=$(fingerprint good@example.com)
verdict good --keyring "$t/good.asc"
expect "$good" "$(json 'items[0].signatures[0].signer')"
expect good "$(json 'items[0].statement.state')"
verdict good --key "$good"
verdict good --key "$good" --keyring "$t/good.asc"
verdict bad # nobody is trusted
verdict bad --keyring "$t/other.asc"
verdict bad --key "$(fingerprint other@example.com)"
verdict bad --key "$(fingerprint other@example.com)" --keyring "$t/good.asc"
verdict bad --key "${good: -8}"
verdict bad --keyring "$t/signers"

# From the store, signed by another program: the same wheel, and both signatures exist.
run_json build small --sign ssh:"$t/good_key"
expect "0 cached" "$status $(json 'steps[0].outcome')"
ssh-keygen -Y verify -f "$t/signers" -I me@example.com -n file -s "$wheel.sig" <"$wheel" >/dev/null
ssh-keygen -Y verify -f "$t/signers" -I me@example.com -n file -s "$wheel.intoto.json.sig" <"$wheel.intoto.json" >/dev/null
verdict good --allowed-signers "$t/signers" --identity me@example.com
verdict good --allowed-signers "$t/signers" --identity me@example.com --keyring "$t/good.asc"
verdict bad --allowed-signers "$t/signers" --identity you@example.com
verdict bad --allowed-signers "$t/signers" --identity me@example.com --keyring "$t/other.asc"
run verify "$wheel" --identity me@example.com
expect 2 "$status"

# A changed byte; a statement with other content, or about another wheel.
cp "$wheel" "$t/kept"
cp "$wheel.intoto.json" "$t/kept.json"
printf X | dd of="$wheel" bs=1 seek=2000 conv=notrunc 2>/dev/null
verdict bad --keyring "$t/good.asc"
verdict bad --allowed-signers "$t/signers" --identity me@example.com
cp "$t/kept" "$wheel"
verdict good --keyring "$t/good.asc"
rm "$wheel.intoto.json."*
sed 's/"network": "none"/"network": "open"/; s/"network": "dead proxy"/"network": "open"/' "$t/kept.json" >"$wheel.intoto.json"
verdict bad --keyring "$t/good.asc"
[[ $(json 'items[0].why') == *internalParameters.network* ]] || fail "$(json 'items[0].why')"
sed "s/$(sha256sum <"$wheel" | cut -d' ' -f1)/$(printf 0%.0s {1..64})/" "$t/kept.json" >"$wheel.intoto.json"
verdict bad --keyring "$t/good.asc"
echo '[' >"$wheel.intoto.json"
verdict bad --keyring "$t/good.asc"
cp "$t/kept.json" "$wheel.intoto.json"
verdict good --keyring "$t/good.asc"

# Signatures made by gpg and ssh-keygen themselves.
rm "$wheel.asc" "$wheel.sig"
verdict bad --keyring "$t/good.asc"
expect "there is no signature next to it (.asc, .sig or .sigstore.json)" "$(json 'items[0].why')"
gpg -q --batch --yes --detach-sign --local-user good@example.com --output "$wheel.asc" "$wheel"
verdict good --keyring "$t/good.asc"
gpg -q --batch --yes --armor --detach-sign --local-user other@example.com --output "$wheel.asc" "$wheel"
verdict bad --keyring "$t/good.asc"
rm "$wheel.asc"
ssh-keygen -q -Y sign -f "$t/good_key" -n file "$wheel" 2>/dev/null
verdict good --allowed-signers "$t/signers" --identity me@example.com
rm "$wheel.sig"
ssh-keygen -q -Y sign -f "$t/other_key" -n file "$wheel" 2>/dev/null
verdict bad --allowed-signers "$t/signers" --identity me@example.com
rm "$wheel.sig"
ssh-keygen -q -Y sign -f "$t/good_key" -n git "$wheel" 2>/dev/null # another namespace: a signature of something else
verdict bad --allowed-signers "$t/signers" --identity me@example.com

# A replaced wheel loses the old one's signatures.
sed -i 's/a + b/b + a + 0/' "$t/recipes/small/small/add.c"
run_json build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
expect "" "$(ls "$t/wheelhouse" | grep -E '\.(asc|sig)$' || true)" "signatures of the old wheel"
"$TESTS_PYTHON" "$tests/statement_judge.py" "$wheel" "$wheel.intoto.json" >/dev/null

# A key with a passphrase and no agent: an error, not an invisible prompt.
ssh-keygen -q -t ed25519 -N secret -C '' -f "$t/locked_key"
run build small --sign ssh:"$t/locked_key"
expect 1 "$status"
grep -q 'built, but not signed' "$t/err" || fail "$(<"$t/err")"
