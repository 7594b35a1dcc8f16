#!/bin/bash
# Does the same as `wheelsmith build`; printed by `wheelsmith plan --script`. The wheels are written to ./dist, everything
# else is below ./work. They are the same as wheelsmith's, except for the platform tag and the provenance, which only it adds.
#
# Variables: WORK, DIST, JOBS; on another machine than the one the plan was made on, also
# PYTHON_CP311 etc. (interpreters), BUILD_CC, BUILD_CXX, BUILD_CUDA, BUILD_ROCM, SOURCE_NAME (a package's folder).
# Build requirements are downloaded from the index that pip is configured for, by their hashes.
set -euo pipefail
umask 022

WORK=${WORK:-$PWD/work}
DIST=${DIST:-$PWD/dist}
JOBS=${JOBS:-$(nproc)}
mkdir -p "$WORK/downloads" "$WORK/trees" "$WORK/envs" "$DIST"
WORK=$(cd "$WORK" && pwd -P)
DIST=$(cd "$DIST" && pwd -P)

fail() { printf '%s\n' "$*" >&2; exit 1; }

# fetch URL FILE SHA256: into $archive
fetch() {
  archive=$WORK/downloads/$2
  if [[ ! -f $archive ]]; then
    [[ -n $1 ]] || fail "put $2 into $WORK/downloads: its server needs a password"
    curl --fail --location --retry 3 --silent --show-error --output "$archive.part" -- "$1"
    mv "$archive.part" "$archive"
  fi
  [[ $(sha256sum <"$archive") == "$3  -" ]] || fail "$archive does not have the SHA-256 $3"
}

# unpack ARCHIVE FOLDER: without the top-level folder of the archive.
unpack() {
  local staging=$2.unpacked only
  mkdir -p "$staging"
  case $1 in
    *.zip) "$python" -m zipfile -e "$1" "$staging" ;;
    *) tar --no-same-owner -xf "$1" -C "$staging" ;;
  esac
  only=$(find "$staging" -mindepth 1 -maxdepth 1)
  if [[ -d $only ]]; then
    mv "$only" "$2"
    rmdir "$staging"
  else
    mv "$staging" "$2"
  fi
}

# copy_files FOLDER TO: the files listed on standard input, one per line.
copy_files() { tar -C "$1" --no-recursion --verbatim-files-from -T - -cf - | tar -xf - -C "$2"; }

# copy_folder FOLDER TO: everything except build leftovers.
copy_folder() {
  tar -C "$1" --exclude-vcs --exclude=__pycache__ --exclude='*.pyc' --exclude='*.egg-info' --exclude=.eggs --exclude=.tox \
    --exclude=.nox --exclude=.venv --exclude=.mypy_cache --exclude=.pytest_cache --exclude=.ruff_cache --exclude=./build \
    --exclude=./dist --exclude=./_skbuild --exclude=./wheelhouse -cf - . | tar -xf - -C "$2"
}

# copy_history CHECKOUT COPY: packages ask git for their version.
copy_history() {
  git clone -q --shared --no-checkout --template= -- "$(realpath "$1")" "$2.history"
  mv -- "$2.history/.git" "$2/.git"
  rmdir -- "$2.history"
  git -C "$2" update-ref --no-deref HEAD "$(git -C "$1" rev-parse HEAD)"
  git -C "$2" -c core.hooksPath=/dev/null reset -q --mixed HEAD
}

# clone URL COMMIT FOLDER [- | SUBMODULE…]: '-' for no submodules, nothing for all.
clone() {
  local git=(git -C "$3" -c core.hooksPath=/dev/null -c advice.detachedHead=false)
  git init -q --template= "$3"
  "${git[@]}" remote add origin "$1"
  "${git[@]}" fetch -q --depth=1 --no-tags origin "$2" || "${git[@]}" fetch -q origin '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*'
  "${git[@]}" checkout -q --detach "$2"
  if [[ -f $3/.gitmodules && ${4-} != - ]]; then
    "${git[@]}" submodule -q update --init --recursive --recommend-shallow -- "${@:4}"
  fi
}

# clean FOLDER PATTERN…: '*' also matches slashes.
clean() {
  "$python" - "$@" <<'END_OF_PYTHON'
import fnmatch, os, sys

for folder, _, names in os.walk(sys.argv[1]):
    for path in (os.path.join(folder, name) for name in names):
        name = os.path.relpath(path, sys.argv[1])
        if any(fnmatch.fnmatchcase(name, p) or fnmatch.fnmatchcase(name, p + "/*") for p in sys.argv[2:]):
            os.remove(path)
END_OF_PYTHON
}

# install PIP-ARGUMENT…: into $env.
install() {
  if [[ -n $outer_pip ]]; then
    "$python" -m pip --python "$env/bin/python" install --quiet --disable-pip-version-check --only-binary :all: "$@"
  else
    "$env/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$@"
  fi
}

# make_environment: at $env, with only pip, which is removed after the installation.
make_environment() {
  if [[ -n $outer_pip ]]; then
    "$python" -m venv --without-pip "$env"
  else
    "$python" -m venv "$env"
    "$env/bin/python" -m pip uninstall --quiet --quiet --yes --disable-pip-version-check setuptools
  fi
}

remove_pip() { [[ -n $outer_pip ]] || "$env/bin/python" -m pip uninstall --quiet --yes --disable-pip-version-check pip; }

# append_sites PYTHON: makes its packages visible in $env.
append_sites() {
  local site
  site=$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$1" -I -c 'import os, sys, sysconfig
paths = sysconfig.get_paths()
sites = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
for path in dict.fromkeys([paths["purelib"], paths["platlib"]] + sites):
    print("import os, site; site.addsitedir(os.fsdecode(%r))" % os.fsencode(path))' >"$site/_wheelsmith.pth"
}

# make_toolkit [PYTHON]: at $toolkit, from the CUDA wheels in $env and beside that interpreter. nvcc searches for its parts beside
# its own file, so those are copied; everything else is linked. Headers of CCCL are one folder deeper than compilers search.
make_toolkit() {
  local interpreter part file
  mkdir -p "$toolkit"/{include,lib64}
  ln -sfn lib64 "$toolkit/lib"
  for interpreter in "$env/bin/python" "$@"; do
    for part in "$("$interpreter" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"/nvidia/*/; do
      [[ ! -x $part/bin/nvcc ]] || cp -r "$part"/{bin,nvvm} "$toolkit/"
      for file in "$part"include/* "$part"include/cccl/*; do
        [[ ! -e $file || -e $toolkit/include/${file##*/} ]] || ln -s "$file" "$toolkit/include/"
      done
      for file in "$part"lib/* "$part"lib64/*; do
        [[ -e $file ]] || continue
        [[ -e $toolkit/lib64/${file##*/} ]] || ln -s "$file" "$toolkit/lib64/"
        file=${file##*/}
        [[ $file != *.so.* || -e $toolkit/lib64/${file%%.so.*}.so ]] || ln -s "$file" "$toolkit/lib64/${file%%.so.*}.so"
      done
      [[ ! -d $part/cuda_cccl/lib/cmake || -e $toolkit/lib64/cmake ]] || ln -s "$part/cuda_cccl/lib/cmake" "$toolkit/lib64/cmake"
    done
  done
}

# link_rocm FOLDER: links it to $tree/rocm.
link_rocm() {
  [[ -n $1 ]] || fail "the plan was made without a ROCm: set BUILD_ROCM to the folder of one (with bin/hipcc)"
  [[ -x $1/bin/hipcc ]] || fail "$1 has no bin/hipcc: set BUILD_ROCM to the folder of a ROCm"
  ln -sfn "$1" "$tree/rocm"
}

# make_rocm PIP-ARGUMENT…: from wheels by their hashes (standard input), in an environment beside the step's. The files that
# a compile needs are in a tar inside, mostly links into the other folders; links to files become files, because
# compilers search for their parts beside their own file.
make_rocm() {
  local site
  rm -rf "$env.rocm"
  "$python" -m venv "$env.rocm"
  "$env.rocm/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes "$@" -r /dev/stdin
  site=$("$env.rocm/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  tar --no-same-owner -xf "$site"/rocm_sdk_devel/_devel.tar* -C "$site"
  find "$site/_rocm_sdk_devel" -type l -not -path '*/bin/amd*' -print0 | while IFS= read -r -d '' link; do
    [[ ! -f $link ]] || ln -f "$(readlink -f "$link")" "$link"
  done
  link_rocm "$site/_rocm_sdk_devel"
}

# link_library NAME LINK HEADER-FOLDER FILE HEADERS FILES: at $tree/libraries/NAME, with the name LINK that a linker searches
# for; HEADERS and FILES are patterns. BUILD_NAME=FOLDER selects another installation with include and lib.
link_library() {
  local at=$tree/libraries/$1 include=$3 file=$4 other=BUILD_${1^^} pattern entry
  if [[ -n ${!other-} ]]; then
    include=${!other}/include
    for entry in "${!other}"/lib{,64}/"$2"*; do [[ ! -e $entry ]] || file=$entry; done
  fi
  # From the operating system, which may differ here.
  for entry in /usr/lib64 /usr/lib/*-linux-gnu; do
    [[ -e $file || ! -e $entry/$2 ]] || { file=$entry/$2 include=/usr/include; }
  done
  [[ -e $file ]] || fail "$file, which the plan uses for $1, does not exist: set $other to its folder"
  mkdir -p "$at"/{include,lib}
  for pattern in $5; do
    for entry in "$include"/$pattern; do [[ ! -e $entry ]] || ln -sfn "$entry" "$at/include/"; done
  done
  for pattern in $6; do
    for entry in "$(dirname "$file")"/$pattern; do [[ ! -e $entry ]] || ln -sfn "$entry" "$at/lib/"; done
  done
  [[ -e $at/lib/$2 ]] || ln -s "$file" "$at/lib/$2"
}

# link_program NAME PATH: into the step's PATH; if it does not exist, the program of that name in PATH.
link_program() {
  local path=$2
  [[ -x $path ]] || path=$(command -v "$1") || fail "no $1 on this machine"
  ln -sfn "$path" "$tree/bin/$1"
}

# in_step COMMAND…: in the source, with the step's variables and no others.
in_step() { (cd "$source" && exec env -i -- "${variables[@]}" "$@"); }

# The folder of the torch that the step is built against.
torch_folder() { "$env/bin/python" -c 'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("torch").origin))'; }

# Reads the name of the build backend out of pyproject.toml.
read_backend() {
  "$env/bin/python" - "$source/pyproject.toml" >"$tree/driver/backend.json" <<'END_OF_PYTHON'
import json, os, sys

try:
    import tomllib
except ImportError:
    import pip._vendor.tomli as tomllib

project = {}
if os.path.exists(sys.argv[1]):
    with open(sys.argv[1], "rb") as file:
        project = tomllib.load(file).get("build-system", {})
json.dump([project.get("build-backend", "setuptools.build_meta:__legacy__"), project.get("backend-path", [])], sys.stdout)
END_OF_PYTHON
}

# hook NAME RESULT [SETTING VALUE]…: calls a hook of the build backend in the step's environment.
hook() {
  cat >"$tree/driver/hook.py" <<'END_OF_PYTHON'
import importlib, json, os, sys
from importlib import metadata

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
with open(os.path.join(here, "backend.json"), encoding="utf-8") as file:
    name, paths = json.load(file)
with open(os.path.join(here, "dropped"), encoding="utf-8") as file:
    dropped = file.read().split()
sys.path[:0] = [os.path.abspath(path) for path in paths]
hook, result, words = sys.argv[1], sys.argv[2], sys.argv[3:]
del sys.argv[1:]
config = {}
for key, value in zip(words[::2], words[1::2]):
    config[key] = value if key not in config else [*(config[key] if isinstance(config[key], list) else [config[key]]), value]
module, _, attributes = name.partition(":")
backend = importlib.import_module(module)
for attribute in filter(None, attributes.split(".")):
    backend = getattr(backend, attribute)


def is_missing(requirement):
    end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), len(requirement))
    if requirement[:end].lower().replace("_", "-").replace(".", "-") in dropped:
        return False
    try:
        return metadata.version(requirement[:end]) is None
    except metadata.PackageNotFoundError:
        return True


if not hook.startswith("get_requires_"):
    if hook != "build_editable" or hasattr(backend, hook):
        getattr(backend, hook)(result, config)
else:
    wanted = getattr(backend, hook)(config) if hasattr(backend, hook) else []
    with open(result, "w", encoding="utf-8") as file:
        file.writelines(requirement + "\n" for requirement in wanted if is_missing(requirement))
END_OF_PYTHON
  in_step "$env/bin/python" "$tree/driver/hook.py" "$@"
}

# install_editable: links $source into the environment of $python, with the wheel that the hook build_editable made or, if the
# backend has no such hook, by setup.py develop.
install_editable() {
  local pip=("$env/bin/python" -m pip --python "$python") site
  [[ -z $outer_pip ]] || pip=("$python" -m pip)
  if ! compgen -G "$tree/dist/*.whl" >/dev/null; then
    site=$("$env/bin/python" -c 'import os, sys; print(":".join(path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")))')
    in_step env "PYTHONPATH=$site" "$python" setup.py develop --no-deps
    return
  fi
  "${pip[@]}" install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall "$tree"/dist/*.whl
  "$python" - "$source" "$tree"/dist/*.whl <<'END_OF_PYTHON'
import json, os, pathlib, sys
from importlib import metadata

distribution = metadata.distribution(os.path.basename(sys.argv[2]).split("-")[0])
record = next(pathlib.Path(file.locate()) for file in distribution.files if str(file).endswith(".dist-info/RECORD"))
url = {"dir_info": {"editable": True}, "url": pathlib.Path(sys.argv[1]).resolve().as_uri()}
record.with_name("direct_url.json").write_text(json.dumps(url), encoding="utf-8")
name = record.parent.name + "/direct_url.json"
lines = [line for line in record.read_text(encoding="utf-8").splitlines() if not line.startswith(name + ",")]
record.write_text("\n".join([*lines, name + ",,"]) + "\n", encoding="utf-8")
END_OF_PYTHON
}
