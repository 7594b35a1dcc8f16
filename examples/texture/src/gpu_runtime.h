// The few names that CUDA and HIP spell differently.
#pragma once

#ifdef __HIP__
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
using gpuDeviceProperties = hipDeviceProp_t;
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
using gpuDeviceProperties = cudaDeviceProp;
#endif

using gpuError = GPU(Error_t);
