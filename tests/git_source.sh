#!/bin/bash
# A recipe whose source is a git repository behind [mirrors]: plan and build without the network, with exactly the
# requested tag and the required submodules, and the errors when a part is missing.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need git unzip
small_package "$t"
cd "$t"
git() { command git -c user.name=a -c user.email=a@b -c protocol.file.allow=always -c init.defaultBranch=main "$@"; }

# small with its C code in a submodule, another submodule that is neither needed nor available, and two tags on one
# commit.
mkdir -p origins/owner
git init -q origins/owner/code
mv recipes/small/small/add.c origins/owner/code/
git -C origins/owner/code add .
git -C origins/owner/code commit -q -m code
mv recipes/small origins/owner/small
cd origins/owner/small
git init -q
sed -i 's|small/add.c|external/code/add.c|' setup.py
sed -i '/^version/d; s/^name = .*/&\ndynamic = ["version"]/' pyproject.toml
sed -i 's|^setup(|import subprocess\nversion = subprocess.check_output(["git", "describe", "--tags", "--dirty"], text=True).strip().lstrip("v")\nassert subprocess.check_output(["git", "submodule", "status", "external/code"], text=True)[0] == " "\nsetup(version=version, |' setup.py
git add .
git submodule -q add "file://$t/origins/owner/code" external/code
git config -f .gitmodules submodule.external/code.url ../code.git
git config -f .gitmodules submodule.absent.path external/absent
git config -f .gitmodules submodule.absent.url https://host.invalid/owner/absent.git
git update-index --add --cacheinfo "160000,$(printf 'a%.0s' {1..40}),external/absent"
git add -A . ':!external/absent'
git commit -q -m one
git tag -a v1.5 -m v1.5
git tag v9.9
commit=$(git rev-parse HEAD)
cd "$t"
python3 - <<'PYTHON'
path = "recipes/small.toml"
text = open(path).read()
text = text.replace('folder = "small"\npatches = ["small.patch"]\n',
                    'git = "https://host.invalid/owner/small.git"\nref = "v1.5"\nsubmodules = ["external/code"]\n')
open(path, "w").write(text)
PYTHON
cat >>wheelsmith.toml <<TOML
[mirrors]
"https://host.invalid/" = "$t/origins"
TOML
trust

run_json plan small
[[ $status == 0 ]] || { cat out err >&2; fail "plan ended with $status"; }
expect "$commit" "$(json 'steps[0].source.commit')"
run_json build small
[[ $status == 0 ]] || { cat out err >&2; fail "build ended with $status"; }
expect built "$(json 'steps[0].outcome')"
wheel=$(json 'steps[0].wheel')
[[ ${wheel##*/} == small-1.5-* ]] || fail "the requested tag is not the version: $wheel"

# A stored source needs no network, and the choice is kept.
mv origins hidden
run_json plan small --offline
expect "$commit" "$(json 'steps[0].source.commit')"
mv hidden origins

# broken REASON…: a plan or a build that fails with one sentence that contains all of them.
broken() {
  [[ $status == 1 ]] || { cat out err >&2; fail "it ended with $status"; }
  for part; do [[ $(cat out err) == *"$part"* ]] || { cat out err >&2; fail "no message contains $part"; }; done
}
sed -i 's/^ref = .*/ref = "v1.6"/' recipes/small.toml
run plan small
broken "https://host.invalid/owner/small.git" "no branch or tag v1.6" "similar: v1.5"
sed -i 's/^ref = .*/ref = "v1.5"/; s|external/code|external/cod|' recipes/small.toml
run build small
broken "no submodule external/cod" "did you mean external/code"
sed -i 's|external/cod"|external/absent"|' recipes/small.toml
run build small
broken "external/absent" "https://host.invalid/owner/absent.git" "the mirror for"
