#pragma once

#include <string_view>

// What `nvcc --dryrun` of CUDA 13.0 printed for several command lines. Long lists of options that no test needs are
// shortened.

namespace wheelsmith::governor::dry_runs {

// nvcc -c k.cu -o k.o -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90] -O3 -MD -MF
// k.d
constexpr std::string_view two_archs = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH__=800 -D__CUDA_ARCH_LIST__=800,900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__  -O3     -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-8_k.compute_80.cpp1.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=800,900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__  -O3     -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-9_k.compute_90.cpp1.ii"
#$ gcc -D__CUDA_ARCH_LIST__=800,900 -E -x c++ -D__CUDACC__ -D__NVCC__  -O3     -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ -- Filter Dependencies -- > k.d
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_80 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-8_k.compute_80.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.ptx"
#$ ptxas -arch=sm_80 -m64  "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.ptx"  -o "/tmp/tmpxft_0000172d_00000000-10_k.compute_80.cubin"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-9_k.compute_90.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.ptx"
#$ ptxas -arch=sm_90 -m64  "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.ptx"  -o "/tmp/tmpxft_0000172d_00000000-11_k.compute_90.sm_90.cubin"
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=80,file=/tmp/tmpxft_0000172d_00000000-10_k.compute_80.cubin" "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-11_k.compute_90.sm_90.cubin" "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.compute_90.ptx" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=800,900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -O3 -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.cpp" -o "k.o"
)dry";

// nvcc -dc k.cu -o k.o -gencode arch=compute_80,code=[sm_80,sm_86] -gencode arch=compute_90a,code=sm_90a
constexpr std::string_view relocatable = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH_LIST__=800,900 -E -x c++ -D__CUDACC__ -D__NVCC__ -D__CUDACC_RDC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ cudafe++ --c++17 --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --device-c  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90a.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.compute_90a.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=800 -D__CUDA_ARCH_LIST__=800,900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__ -D__CUDACC_RDC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-8_k.compute_80.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --device-c   -arch compute_80 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-8_k.compute_80.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.ptx"
#$ ptxas -arch=sm_80 -m64 --compile-only  "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.ptx"  -o "/tmp/tmpxft_0000172d_00000000-9_k.compute_80.sm_80.cubin"
#$ ptxas -arch=sm_86 -m64 --compile-only  "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.ptx"  -o "/tmp/tmpxft_0000172d_00000000-10_k.compute_80.sm_86.cubin"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_FEAT_SM90_ALL -D__CUDA_ARCH_SPECIFIC__=900 -D__CUDA_ARCH_FAMILY_SPECIFIC__=900 -D__CUDA_ARCH_LIST__=800,900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__ -D__CUDACC_RDC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-11_k.compute_90a.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --device-c   -arch compute_90a -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90a.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90a.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90a.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-11_k.compute_90a.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.compute_90a.ptx"
#$ ptxas -arch=sm_90a -m64 --compile-only  "/tmp/tmpxft_0000172d_00000000-6_k.compute_90a.ptx"  -o "/tmp/tmpxft_0000172d_00000000-12_k.compute_90a.cubin"
#$ fatbinary -64 --cmdline="--compile-only  " --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=80,file=/tmp/tmpxft_0000172d_00000000-9_k.compute_80.sm_80.cubin" "--image3=kind=elf,sm=86,file=/tmp/tmpxft_0000172d_00000000-10_k.compute_80.sm_86.cubin" "--image3=kind=elf,sm=90a,file=/tmp/tmpxft_0000172d_00000000-12_k.compute_90a.cubin" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"  --device-c
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_FEAT_SM90_ALL -D__CUDA_ARCH_SPECIFIC__=900 -D__CUDA_ARCH_FAMILY_SPECIFIC__=900 -D__CUDA_ARCH_LIST__=800,900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.compute_90a.cudafe1.cpp" -o "k.o"
)dry";

// nvcc -c k.cu -o k.o -arch=sm_90 -lineinfo
constexpr std::string_view one_arch = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -generate-line-info -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.ptx"
#$ ptxas -arch=sm_90 -m64  --generate-line-info "/tmp/tmpxft_0000172d_00000000-6_k.ptx"  -o "/tmp/tmpxft_0000172d_00000000-8_k.sm_90.cubin"
#$ fatbinary -64 --ident="k.cu" --cmdline=" --generate-line-info " --cicc-cmdline="-generate-line-info -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-8_k.sm_90.cubin" "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.ptx" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" -o "k.o"
)dry";

// nvcc -fatbin k.cu -o k.fatbin -arch=sm_90
constexpr std::string_view fatbin = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.ptx"
#$ ptxas -arch=sm_90 -m64  "/tmp/tmpxft_0000172d_00000000-6_k.ptx"  -o "/tmp/tmpxft_0000172d_00000000-8_k.sm_90.cubin"
#$ fatbinary --create="k.fatbin" -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-8_k.sm_90.cubin" "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.ptx"
)dry";

// nvcc -dlto -c k.cu -o k.o -arch=sm_90
constexpr std::string_view link_time = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__CUDACC__ -D__NVCC__ -D__CUDACC_RDC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ cudafe++ --c++17 --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --device-c  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__ -D__CUDACC_RDC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --device-c   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.ptx" -olto "/tmp/tmpxft_0000172d_00000000-6_k.ltoir"
#$ fatbinary -64 --cmdline="--compile-only  " --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.ptx" "--image3=kind=nvvm,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.ltoir" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"  --device-c
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" -o "k.o"
)dry";

// nvcc -c k.cu -o k.o -arch=sm_90 -ccbin clang++-19 -Xcompiler -DX='a b'
constexpr std::string_view by_clang = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ clang++-19 -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__CUDACC__ -D__NVCC__  -DX="a b"     -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --clang --clang_version=190100 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --unicode_source_kind=UTF-8 --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ clang++-19 -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__  -DX="a b"     -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --clang --clang_version=190100 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --unicode_source_kind=UTF-8 --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-7_k.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.ptx"
#$ ptxas -arch=sm_90 -m64  "/tmp/tmpxft_0000172d_00000000-6_k.ptx"  -o "/tmp/tmpxft_0000172d_00000000-8_k.sm_90.cubin"
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-8_k.sm_90.cubin" "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.ptx" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ clang++-19 -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -DX="a b"    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" -o "k.o"
)dry";

// nvcc -c k.cu -o k.o -arch=native
constexpr std::string_view native = R"dry(
#$ PATH=/usr/bin
nvcc warning : Cannot find valid GPU for '-arch=native', default arch is used
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH_LIST__=750 -E -x c++ -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-6_k.cpp4.ii"
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-7_k.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-7_k.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-5_k.module_id" "/tmp/tmpxft_0000172d_00000000-6_k.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=750 -D__CUDA_ARCH_LIST__=750 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-8_k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_75 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-4_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-5_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-7_k.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-7_k.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-7_k.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-8_k.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-7_k.ptx"
#$ ptxas -arch=sm_75 -m64  "/tmp/tmpxft_0000172d_00000000-7_k.ptx"  -o "/tmp/tmpxft_0000172d_00000000-9_k.sm_75.cubin"
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=75,file=/tmp/tmpxft_0000172d_00000000-9_k.sm_75.cubin" "--image3=kind=ptx,sm=75,file=/tmp/tmpxft_0000172d_00000000-7_k.ptx" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-4_k.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-4_k.fatbin
#$ gcc -D__CUDA_ARCH__=750 -D__CUDA_ARCH_LIST__=750 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-7_k.cudafe1.cpp" -o "k.o"
)dry";

// nvcc -c k.cu d.cu -arch=sm_90
constexpr std::string_view two_sources = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-11_k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-11_k.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.ptx"
#$ ptxas -arch=sm_90 -m64  "/tmp/tmpxft_0000172d_00000000-6_k.ptx"  -o "/tmp/tmpxft_0000172d_00000000-12_k.sm_90.cubin"
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-12_k.sm_90.cubin" "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.ptx" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" -o "k.o"
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "d.cu" -o "/tmp/tmpxft_0000172d_00000000-9_d.cpp4.ii"
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "d.cu" --orig_src_path_name "/data/x/d.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-10_d.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-10_d.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-8_d.module_id" "/tmp/tmpxft_0000172d_00000000-9_d.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "d.cu" -o "/tmp/tmpxft_0000172d_00000000-13_d.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "d.cu" --orig_src_path_name "/data/x/d.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-7_d.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-8_d.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-10_d.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-10_d.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-10_d.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-13_d.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-10_d.ptx"
#$ ptxas -arch=sm_90 -m64  "/tmp/tmpxft_0000172d_00000000-10_d.ptx"  -o "/tmp/tmpxft_0000172d_00000000-14_d.sm_90.cubin"
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-14_d.sm_90.cubin" "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-10_d.ptx" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-7_d.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-7_d.fatbin
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-10_d.cudafe1.cpp" -o "d.o"
)dry";

// nvcc k.cu -o prog -arch=sm_90
constexpr std::string_view program = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-9_k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-9_k.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.ptx"
#$ ptxas -arch=sm_90 -m64  "/tmp/tmpxft_0000172d_00000000-6_k.ptx"  -o "/tmp/tmpxft_0000172d_00000000-10_k.sm_90.cubin"
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-10_k.sm_90.cubin" "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_0000172d_00000000-6_k.ptx" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.cudafe1.cpp" -o "/tmp/tmpxft_0000172d_00000000-11_k.o"
#$ nvlink -m64 --arch=sm_90 --register-link-binaries="/tmp/tmpxft_0000172d_00000000-7_prog_dlink.reg.c"    "-L/usr/local/cuda/bin/../targets/x86_64-linux/lib/stubs" "-L/usr/local/cuda/bin/../targets/x86_64-linux/lib" -cpu-arch=X86_64 "/tmp/tmpxft_0000172d_00000000-11_k.o"  -lcudadevrt  -o "/tmp/tmpxft_0000172d_00000000-12_prog_dlink.sm_90.cubin" --host-ccbin "gcc"
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " -link "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-12_prog_dlink.sm_90.cubin" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-8_prog_dlink.fatbin.c"
#$ rm /tmp/tmpxft_0000172d_00000000-8_prog_dlink.fatbin
#$ gcc -D__CUDA_ARCH_LIST__=900 -c -x c++ -DFATBINFILE="\"/tmp/tmpxft_0000172d_00000000-8_prog_dlink.fatbin.c\"" -DREGISTERLINKBINARYFILE="\"/tmp/tmpxft_0000172d_00000000-7_prog_dlink.reg.c\""  -I. -D__NV_EXTRA_INITIALIZATION= -D__NV_EXTRA_FINALIZATION= -D__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__  -Wno-psabi     -m64 "/usr/local/cuda/bin/crt/link.stub" -o "/tmp/tmpxft_0000172d_00000000-13_prog_dlink.o"
#$ g++ -D__CUDA_ARCH_LIST__=900 -m64 -Wl,--start-group "/tmp/tmpxft_0000172d_00000000-13_prog_dlink.o" "/tmp/tmpxft_0000172d_00000000-11_k.o"   "-L/usr/local/cuda/bin/../targets/x86_64-linux/lib/stubs" "-L/usr/local/cuda/bin/../targets/x86_64-linux/lib"  -lcudadevrt  -lcudart_static  -lrt -lpthread  -ldl  -Wl,--end-group -o "prog"
)dry";

// nvcc -c k.cu -o k.o -arch=sm_90 --keep
constexpr std::string_view kept = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "k.cpp4.ii"
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "k.cudafe1.cpp" --stub_file_name "k.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "k.module_id" "k.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "k.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "k.fatbin.c" -tused --module_id_file_name "k.module_id" --gen_c_file_name "k.cudafe1.c" --stub_file_name "k.cudafe1.stub.c" --gen_device_file_name "k.cudafe1.gpu"  "k.cpp1.ii" -o "k.ptx"
#$ ptxas -arch=sm_90 -m64  "k.ptx"  -o "k.sm_90.cubin"
#$ fatbinary --create="k.fatbin" -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=90,file=k.sm_90.cubin" "--image3=kind=ptx,sm=90,file=k.ptx" --embedded-fatbin="k.fatbin.c"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "k.cudafe1.cpp" -o "k.o"
)dry";

// nvcc -c k.cu -o k.o -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 --threads 2
constexpr std::string_view threads = R"dry(
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_=
#$ _CUDART_=cudart
#$ _HERE_=/usr/local/cuda/bin
#$ _THERE_=/usr/local/cuda/bin
#$ _TARGET_SIZE_=
#$ _TARGET_DIR_=
#$ _TARGET_DIR_=targets/x86_64-linux
#$ TOP=/usr/local/cuda/bin/..
#$ CICC_PATH=/usr/local/cuda/bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/bin/../nvvm/libdevice
#$ LD_LIBRARY_PATH=/usr/local/cuda/bin/../lib:
#$ PATH=/usr/bin
#$ INCLUDES=/usr/bin
#$ SYSTEM_INCLUDES=/usr/bin
#$ LIBRARIES=/usr/bin
#$ CUDAFE_FLAGS=
#$ PTXAS_FLAGS=
#$ rm /tmp/tmpxft_0000172d_00000000-3_k.fatbin
#$ gcc -D__CUDA_ARCH_LIST__=800,900 -E -x c++ -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"  > /tmp/tmpxft_0000172d_00000000-13_3e63fc60_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e63fc60_stderr
#$ gcc -D__CUDA_ARCH__=800 -D__CUDA_ARCH_LIST__=800,900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-8_k.compute_80.cpp1.ii"  > /tmp/tmpxft_0000172d_00000000-13_3e640980_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e640980_stderr
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=800,900 -E -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ -D__NVCC__      -include "cuda_runtime.h" -m64 "k.cu" -o "/tmp/tmpxft_0000172d_00000000-10_k.compute_90.cpp1.ii"  > /tmp/tmpxft_0000172d_00000000-13_3e641ab0_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e641ab0_stderr
#$ cudafe++ --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed  --m64 --parse_templates --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.cpp" --stub_file_name "tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" "/tmp/tmpxft_0000172d_00000000-5_k.cpp4.ii"  > /tmp/tmpxft_0000172d_00000000-13_3e63fee0_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e63fee0_stderr
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_80 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-8_k.compute_80.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.ptx" > /tmp/tmpxft_0000172d_00000000-13_3e640fd0_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e640fd0_stderr
#$ "$CICC_PATH/cicc" --c++17 --static-host-stub --device-hidden-visibility --gnu_version=120200 --display_error_number --orig_src_file_name "k.cu" --orig_src_path_name "/data/x/k.cu" --allow_managed   -arch compute_90 -m64 --no-version-ident -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 --include_file_name "tmpxft_0000172d_00000000-3_k.fatbin.c" -tused --module_id_file_name "/tmp/tmpxft_0000172d_00000000-4_k.module_id" --gen_c_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.c" --stub_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.stub.c" --gen_device_file_name "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.gpu"  "/tmp/tmpxft_0000172d_00000000-10_k.compute_90.cpp1.ii" -o "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.ptx" > /tmp/tmpxft_0000172d_00000000-13_3e6420b0_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e6420b0_stderr
#$ ptxas -arch=sm_80 -m64  "/tmp/tmpxft_0000172d_00000000-7_k.compute_80.ptx"  -o "/tmp/tmpxft_0000172d_00000000-9_k.compute_80.cubin"  > /tmp/tmpxft_0000172d_00000000-13_3e641260_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e641260_stderr
#$ ptxas -arch=sm_90 -m64  "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.ptx"  -o "/tmp/tmpxft_0000172d_00000000-11_k.compute_90.cubin"  > /tmp/tmpxft_0000172d_00000000-13_3e642380_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e642380_stderr
#$ fatbinary -64 --cicc-cmdline="-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 " "--image3=kind=elf,sm=80,file=/tmp/tmpxft_0000172d_00000000-9_k.compute_80.cubin" "--image3=kind=elf,sm=90,file=/tmp/tmpxft_0000172d_00000000-11_k.compute_90.cubin" --embedded-fatbin="/tmp/tmpxft_0000172d_00000000-3_k.fatbin.c"  > /tmp/tmpxft_0000172d_00000000-13_3e642760_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e642760_stderr
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=800,900 -c -x c++  -DCUDA_DOUBLE_MATH_FUNCTIONS -Wno-psabi    -m64 "/tmp/tmpxft_0000172d_00000000-6_k.compute_90.cudafe1.cpp" -o "k.o"  > /tmp/tmpxft_0000172d_00000000-13_3e642c00_stdout 2>/tmp/tmpxft_0000172d_00000000-13_3e642c00_stderr
)dry";

// clang++-19 -### -x hip --offload-arch=gfx90a:xnack+ --offload-arch=gfx1151 -O3 -c k.hip -o k.o -MD -MF k.d -cuid=abc
constexpr std::string_view hip = R"dry(
Debian clang version 19.1.7 (3~deb12u1)
Target: x86_64-pc-linux-gnu
Thread model: posix
InstalledDir: /usr/lib/llvm-19/bin
 "/usr/lib/llvm-19/bin/clang" "-cc1" "-triple" "amdgcn-amd-amdhsa" "-aux-triple" "x86_64-pc-linux-gnu" "-Werror=atomic-alignment" "-emit-obj" "-disable-free" "-clear-ast-before-backend" "-disable-llvm-verifier" "-discard-value-names" "-main-file-name" "k.hip" "-mrelocation-model" "pic" "-pic-level" "2" "-fhalf-no-semantic-interposition" "-mframe-pointer=none" "-fno-rounding-math" "-mconstructor-aliases" "-aux-target-cpu" "x86-64" "-fcuda-is-device" "-mllvm" "-amdgpu-internalize-symbols" "-fcuda-allow-variadic-functions" "-fvisibility=hidden" "-fapply-global-visibility-to-externs" "-target-cpu" "gfx1151" "-debugger-tuning=gdb" "-fdebug-compilation-dir=/data/x" "-resource-dir" "/usr/lib/llvm-19/lib/clang/19" "-dependency-file" "k.d" "-MT" "k.o" "-sys-header-deps" "-O3" "-fdeprecated-macro" "-fno-autolink" "-ferror-limit" "19" "-fhip-new-launch-api" "-nogpulib" "-fgnuc-version=4.2.1" "-fskip-odr-check-in-gmf" "-fcxx-exceptions" "-fexceptions" "-vectorize-loops" "-vectorize-slp" "-cuid=abc" "-fcuda-allow-variadic-functions" "-faddrsig" "-D__GCC_HAVE_DWARF2_CFI_ASM=1" "-o" "/tmp/k-gfx1151-a529fb.o" "-x" "hip" "k.hip"
 "/usr/lib/llvm-19/bin/lld" "-flavor" "gnu" "-m" "elf64_amdgpu" "--no-undefined" "-shared" "-plugin-opt=-amdgpu-internalize-symbols" "-plugin-opt=mcpu=gfx1151" "-plugin-opt=O3" "--lto-CGO3" "--whole-archive" "-o" "/tmp/k-gfx1151-464c59.out" "/tmp/k-gfx1151-a529fb.o" "--no-whole-archive"
 "/usr/lib/llvm-19/bin/clang" "-cc1" "-triple" "amdgcn-amd-amdhsa" "-aux-triple" "x86_64-pc-linux-gnu" "-Werror=atomic-alignment" "-emit-obj" "-disable-free" "-clear-ast-before-backend" "-disable-llvm-verifier" "-discard-value-names" "-main-file-name" "k.hip" "-mrelocation-model" "pic" "-pic-level" "2" "-fhalf-no-semantic-interposition" "-mframe-pointer=none" "-fno-rounding-math" "-mconstructor-aliases" "-aux-target-cpu" "x86-64" "-fcuda-is-device" "-mllvm" "-amdgpu-internalize-symbols" "-fcuda-allow-variadic-functions" "-fvisibility=hidden" "-fapply-global-visibility-to-externs" "-target-cpu" "gfx90a" "-target-feature" "+xnack" "-debugger-tuning=gdb" "-fdebug-compilation-dir=/data/x" "-resource-dir" "/usr/lib/llvm-19/lib/clang/19" "-dependency-file" "k.d" "-MT" "k.o" "-sys-header-deps" "-O3" "-fdeprecated-macro" "-fno-autolink" "-ferror-limit" "19" "-fhip-new-launch-api" "-nogpulib" "-fgnuc-version=4.2.1" "-fskip-odr-check-in-gmf" "-fcxx-exceptions" "-fexceptions" "-vectorize-loops" "-vectorize-slp" "-cuid=abc" "-fcuda-allow-variadic-functions" "-faddrsig" "-D__GCC_HAVE_DWARF2_CFI_ASM=1" "-o" "/tmp/k-gfx90a:xnack+-32d2c1.o" "-x" "hip" "k.hip"
 "/usr/lib/llvm-19/bin/lld" "-flavor" "gnu" "-m" "elf64_amdgpu" "--no-undefined" "-shared" "-plugin-opt=-amdgpu-internalize-symbols" "-plugin-opt=mcpu=gfx90a" "-plugin-opt=O3" "--lto-CGO3" "-plugin-opt=-mattr=+xnack" "--whole-archive" "-o" "/tmp/k-gfx90a:xnack+-6d9d16.out" "/tmp/k-gfx90a:xnack+-32d2c1.o" "--no-whole-archive"
 "/usr/lib/llvm-19/bin/clang-offload-bundler" "-type=o" "-bundle-align=4096" "-targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--gfx1151,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+" "-input=/dev/null" "-input=/tmp/k-gfx1151-464c59.out" "-input=/tmp/k-gfx90a:xnack+-6d9d16.out" "-output=/tmp/k-001635.hipfb"
 "/usr/lib/llvm-19/bin/clang" "-cc1" "-triple" "x86_64-pc-linux-gnu" "-aux-triple" "amdgcn-amd-amdhsa" "-emit-obj" "-disable-free" "-clear-ast-before-backend" "-disable-llvm-verifier" "-discard-value-names" "-main-file-name" "k.hip" "-mrelocation-model" "pic" "-pic-level" "2" "-pic-is-pie" "-mframe-pointer=none" "-fmath-errno" "-fno-rounding-math" "-mconstructor-aliases" "-funwind-tables=2" "-target-cpu" "x86-64" "-tune-cpu" "generic" "-debugger-tuning=gdb" "-fdebug-compilation-dir=/data/x" "-fcoverage-compilation-dir=/data/x" "-resource-dir" "/usr/lib/llvm-19/lib/clang/19" "-dependency-file" "k.d" "-MT" "k.o" "-sys-header-deps" "-O3" "-fdeprecated-macro" "-ferror-limit" "19" "-fhip-new-launch-api" "-nogpulib" "-fgnuc-version=4.2.1" "-fskip-odr-check-in-gmf" "-fcxx-exceptions" "-fexceptions" "-vectorize-loops" "-vectorize-slp" "-fcuda-include-gpubinary" "/tmp/k-001635.hipfb" "-cuid=abc" "-fcuda-allow-variadic-functions" "-faddrsig" "-D__GCC_HAVE_DWARF2_CFI_ASM=1" "-o" "k.o" "-x" "hip" "k.hip"
)dry";

}  // namespace wheelsmith::governor::dry_runs
