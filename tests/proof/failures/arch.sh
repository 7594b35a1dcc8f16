# GPU architectures that this compiler does not know, that the list words wrongly, or that nobody can find out here.

one_kernel() { echo '__global__ void scale(float* x) { x[threadIdx.x] *= 2; }' >scale.cu; }

# What torch's builder makes of TORCH_CUDA_ARCH_LIST, without the rest of a project.
torch_jit() {
  one_kernel
  cat >warm_up.py <<'CODE'
from torch.utils.cpp_extension import load
ops = load(name='scale_ops', sources=['scale.cu'], extra_cuda_cflags=['-O3'], verbose=True, is_python_module=False)
CODE
}

log arch-nvcc-removed arch 60 scale.cu
arch-nvcc-removed() {
  one_kernel
  printf 'GENCODE = -gencode arch=compute_60,code=sm_60 -gencode arch=compute_90,code=sm_90\nscale.o: scale.cu\n\tnvcc -O3 $(GENCODE) -c $< -o $@\n' >Makefile
  make
}

log arch-nvcc-unknown arch 200 scale.cu
arch-nvcc-unknown() {
  one_kernel
  printf 'rule cuda\n  command = nvcc -gencode arch=compute_90,code=sm_90 -gencode arch=compute_200,code=sm_200 -c $in -o $out\nbuild scale.o: cuda scale.cu\nbuild other.o: cuda scale.cu\n' >build.ninja
  ninja -v
}

log arch-nvcc118-blackwell arch 120 scale.cu
arch-nvcc118-blackwell() {
  cuda118
  one_kernel
  printf 'scale.o: scale.cu\n\t/usr/local/cuda-11.8/bin/nvcc -ccbin g++-11 -arch=sm_120 -c $< -o $@\n' >Makefile
  stamped make
}

log arch-nvcc-pair arch gencode scale.cu
arch-nvcc-pair() {
  one_kernel
  printf 'scale.o: scale.cu\n\tnvcc -gencode arch=compute_100,code=sm_90 -c $< -o $@\n' >Makefile
  make
}

log arch-torch-old arch 4.2 -
arch-torch-old() { torch124_venv; torch_jit; CUDA_HOME=/usr/local/cuda TORCH_CUDA_ARCH_LIST='4.2;8.0' python warm_up.py; }

log arch-torch-notation arch TORCH_CUDA_ARCH_LIST -
arch-torch-notation() { torch124_venv; torch_jit; CUDA_HOME=/usr/local/cuda TORCH_CUDA_ARCH_LIST='sm_90' python warm_up.py; }

log arch-torch-none arch TORCH_CUDA_ARCH_LIST -
arch-torch-none() { torch124_venv; torch_jit; CUDA_HOME=/usr/local/cuda python warm_up.py; }

log arch-torch-nvcc-removed arch 70 nvcc
arch-torch-nvcc-removed() {
  torch124_venv
  torch_jit
  CUDA_HOME=/usr/local/cuda TORCH_CUDA_ARCH_LIST='7.0;9.0' python warm_up.py
}

log arch-cmake-removed arch 60 -
arch-cmake-removed() {
  one_kernel
  printf 'cmake_minimum_required(VERSION 3.18)\nset(CMAKE_CUDA_ARCHITECTURES 60 70 80)\nproject(scale LANGUAGES CXX CUDA)\nadd_library(scale scale.cu)\n' >CMakeLists.txt
  cmake -B build -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc
}

log arch-cmake-dotted arch CMAKE_CUDA_ARCHITECTURES -
arch-cmake-dotted() {
  plain_venv
  one_kernel
  printf 'cmake_minimum_required(VERSION 3.24)\nproject(scale LANGUAGES CXX CUDA)\nadd_library(scale scale.cu)\n' >CMakeLists.txt
  cmake -B build -DCMAKE_CUDA_ARCHITECTURES='9.0' -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc
}

log arch-cmake-empty arch CMAKE_CUDA_ARCHITECTURES -
arch-cmake-empty() {
  one_kernel
  printf 'cmake_minimum_required(VERSION 3.24)\nproject(scale LANGUAGES CXX CUDA)\n' >CMakeLists.txt
  cmake -B build -DCMAKE_CUDA_ARCHITECTURES= -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc
}

log arch-ptxas-feature arch arch mma.cu
arch-ptxas-feature() {
  cat >mma.cu <<'CODE'
__global__ void fence() { asm volatile("wgmma.fence.sync.aligned;\n"); }
CODE
  printf 'mma.o: mma.cu\n\tnvcc -gencode arch=compute_80,code=sm_80 -c $< -o $@\n' >Makefile
  make
}

log arch-ptxas-suffix arch arch mma.cu
arch-ptxas-suffix() {
  cat >mma.cu <<'CODE'
__global__ void fence() { asm volatile("wgmma.fence.sync.aligned;\n"); asm volatile("wgmma.commit_group.sync.aligned;\n"); }
CODE
  printf 'rule nvcc\n  command = nvcc -O3 -gencode arch=compute_90,code=sm_90 -c $in -o $out\nbuild mma.o: nvcc mma.cu\n' >build.ninja
  ninja
}

log arch-hip-unknown arch gfx9999 scale.hip
arch-hip-unknown() {
  need clang++-19
  one_kernel
  mv scale.cu scale.hip
  printf 'scale.o: scale.hip\n\tclang++-19 -x hip --offload-arch=gfx9999 -nogpulib -nogpuinc -c $< -o $@\n' >Makefile
  make
}

log arch-clang-cuda arch sm_121 scale.cu
arch-clang-cuda() {
  need clang++-14
  cuda118
  one_kernel
  printf 'scale.o: scale.cu\n\tclang++-14 --cuda-path=/usr/local/cuda-11.8 --cuda-gpu-arch=sm_121 -c $< -o $@\n' >Makefile
  make
}
