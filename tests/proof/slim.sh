#!/bin/bash
# 100 random keep-sets on 20 libraries that nvcc makes here, and some on the CUDA libraries of wheels in a folder: kept entries are
# byte-identical, no GPU loses its code, cuobjdump agrees, and the libraries survive strip and load. The libraries of wheels are
# NVIDIA's and torch's; the copies are removed.
#   WHEELSMITH=… tests/proof/slim.sh [FOLDER [ROUNDS [MOST LIBRARIES]]]
set -euo pipefail
folder=${1:-${WHEELS:-}}
rounds=${2:-5}
most=${3:-20}
made=${MADE_LIBRARIES:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
judge=${CUOBJDUMP:-$(command -v cuobjdump || true)}
interpreter=python3
[[ ! -x ${TESTS_PYTHON:-} ]] || interpreter=$TESTS_PYTHON
if [[ -z $judge ]] && "$interpreter" -m pip download -q --no-deps -d "$work/judge" nvidia-cuda-cuobjdump >/dev/null 2>&1; then
  python3 -m zipfile -e "$work"/judge/*.whl "$work/judge"
  judge=$(find "$work/judge" -name cuobjdump -type f | head -n 1)
  chmod +x "$judge"
fi
[[ -n $judge ]] || echo "cuobjdump is not here"

# --- libraries made here: one to three sources, two to six architectures, plain, compressed and relocatable
if command -v nvcc >/dev/null; then
  mkdir "$work/made"
  cd "$work/made"
  echo "seed ${SEED:=$RANDOM}"
  export SEED
  RANDOM=$SEED
  all=(75 80 86 89 90 90a 100 100f 103a 120 120a)
  for unit in 1 2 3; do
    printf '__constant__ float pad%d[4000] = {1.0f};\n__global__ void scale%d(float* x) { for (int i = 0; i < 64; ++i) x[i] *= %d + i + pad%d[i]; }\nextern "C" void launch%d(float* x) { scale%d<<<1, 1>>>(x); }\n' \
      $unit $unit $unit $unit $unit $unit >$unit.cu
  done
  # The CUDA runtime's functions, so that the libraries load without CUDA.
  nvcc -Xcompiler -fPIC -shared -cudart none -arch=sm_80 1.cu -o plain.so >nvcc.log 2>&1
  nvcc -Xcompiler -fPIC -arch=sm_80 -rdc=true -c 1.cu -o linked.o >nvcc.log 2>&1
  nvcc -Xcompiler -fPIC -arch=sm_80 -dlink linked.o -o link.o >nvcc.log 2>&1
  nm -u plain.so linked.o link.o | sed 's/@.*//' | awk '$2 ~ /^(__)?cuda/ && $2 !~ /LinkedBinary/ { print "void " $2 "(void) {}" }' | sort -u >runtime.c
  gcc -shared -fPIC runtime.c -o libruntime.so -Wl,-soname,libruntime.so
  for ((number = 0; number < made; ++number)); do
    flags=(-Xcompiler -fPIC)
    rdc=
    for ((i = 0; i < 2 + RANDOM % 5; ++i)); do
      arch=${all[RANDOM % ${#all[@]}]}
      flags+=(-gencode "arch=compute_$arch,code=sm_$arch")
      ((RANDOM % 4)) || flags+=(-gencode "arch=compute_$arch,code=compute_$arch")
    done
    case $((RANDOM % 4)) in
      0) flags+=(-no-compress) ;;
      1) flags+=(--compress-mode=size) ;;
      2) rdc=1 ;;
    esac
    sources=(1.cu 2.cu 3.cu)
    flags="$(printf '%q ' "${flags[@]}")"
    sources="${sources[*]:0:1 + RANDOM % 3}"
    command="nvcc $flags -shared -cudart none $sources -o made$number.so -L. -lruntime"
    # -cudart none leaves the device link out.
    [[ -z $rdc ]] || command="mkdir $number && cd $number && nvcc -rdc=true $flags -c $(printf "../%s " $sources) && nvcc -dlink $flags *.o -o link.o && cd .. && g++ -shared $number/*.o -o made$number.so -L. -lruntime"
    printf '%s\0' "{ $command; } >made$number.log 2>&1 || { cat made$number.log; exit 255; }"
  done | xargs -0 -P 2 -n 1 bash -c
  cd "$OLDPWD"
  python3 "$(dirname "$0")/slim.py" "$WHEELSMITH" "$judge" "$rounds" "$work"/made/made*.so
fi

libraries=()
[[ -z $folder ]] || for wheel in "$folder"/torch-[0-9]*.whl "$folder"/nvidia_*.whl; do
  [[ -e $wheel ]] || continue
  name=$(basename "$wheel" .whl)
  unzip -q -o "$wheel" '*.so*' -d "$work/$name" 2>/dev/null || continue
  while IFS= read -r library; do
    if readelf -SW "$library" 2>/dev/null | grep -q '\.nvFatBinSegment'; then libraries+=("$library"); fi
  done < <(find "$work/$name" -type f -name '*.so*' -size +100k | sort)
done
if ((${#libraries[@]} == 0)); then
  echo "no library with CUDA code in ${folder:-no folder of wheels}"
  [[ -d $work/made ]] && exit 0
  exit 77
fi
python3 "$(dirname "$0")/slim.py" "$WHEELSMITH" "$judge" "$rounds" "${libraries[@]:0:$most}"
