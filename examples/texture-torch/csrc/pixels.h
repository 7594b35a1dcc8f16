// The arithmetic of both operations, once for the CPU, CUDA, HIP and torch.
//
// texture and texture-torch hold the same copy of this file, since each must build from its own folder alone.
//
// It is written so that each of them gets the same bits: integers where they suffice, a table for the power in sRGB,
// and for the cube root only operations that IEEE 754 rounds in one way. Nothing here calls the mathematics library:
// its pow carries a symbol version (GLIBC_2.29) that a wheel for older systems may not need.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define TEXTURE_ANYWHERE __host__ __device__
#else
#define TEXTURE_ANYWHERE
#endif

namespace texture {

// Linear light of an sRGB byte.
struct LightTable {
  float of[256];
};

constexpr LightTable light_table() {
  LightTable table{};
  for (int byte = 0; byte < 256; ++byte) {
    const double c = byte / 255.0, x = (c + 0.055) / 1.055;
    double root = 1;  // x to the power 2.4 is its fifth root to the power 12; Newton finds the root in a few steps
    for (int step = 0; step < 16; ++step) root -= (root - x / (root * root * root * root)) / 5;
    const double root4 = root * root * root * root;
    table.of[byte] = static_cast<float>(c <= 0.04045 ? c / 12.92 : root4 * root4 * root4);
  }
  return table;
}

inline constexpr LightTable k_light = light_table();

// For x from 0 to 2. A third of the exponent is a guess within 4 %; each of Halley's steps triples the digits.
TEXTURE_ANYWHERE inline float cube_root(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = bits / 3 + 709921077;
  float y;
  memcpy(&y, &bits, sizeof y);
  for (int step = 0; step < 2; ++step) {
    const float cube = y * y * y;
    y = y * (cube + 2 * x) / (2 * cube + x);
  }
  return y;
}

// CIE 1976 L*a*b* of one sRGB pixel under D65; the matrix is sRGB's, each row divided by the white point.
TEXTURE_ANYWHERE inline void rgb_to_lab(const LightTable& light, const uint8_t* rgb, float* lab) {
  const float r = light.of[rgb[0]], g = light.of[rgb[1]], b = light.of[rgb[2]];
  const float xyz[3] = {0.433887346f * r + 0.376224009f * g + 0.189888645f * b,
                        0.212639006f * r + 0.715168679f * g + 0.072192315f * b,
                        0.017750040f * r + 0.109447621f * g + 0.872802339f * b};
  float f[3];
  for (int i = 0; i < 3; ++i) {
    const float root = cube_root(xyz[i]);
    f[i] = xyz[i] > 0.008856452f ? root : 7.787037f * xyz[i] + 0.137931034f;
  }
  lab[0] = 116 * f[1] - 16;
  lab[1] = 500 * (f[0] - f[1]);
  lab[2] = 200 * (f[1] - f[2]);
}

TEXTURE_ANYWHERE inline uint8_t gray(const uint8_t* rgb) {
  return static_cast<uint8_t>((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
}

// Length of the Sobel gradient, at most 255, from three rows and three columns of gray.
TEXTURE_ANYWHERE inline uint8_t edge(const uint8_t* up, const uint8_t* at, const uint8_t* down, ptrdiff_t left,
                                     ptrdiff_t x, ptrdiff_t right) {
  const int across = up[right] - up[left] + 2 * (at[right] - at[left]) + down[right] - down[left];
  const int along = down[left] - up[left] + 2 * (down[x] - up[x]) + down[right] - up[right];
  const float length = sqrtf(static_cast<float>(across * across + along * along)) + 0.5f;
  return static_cast<uint8_t>(length < 255 ? length : 255);
}

// Row y of a picture; rows and columns beyond the border repeat it.
inline void edge_row(const uint8_t* gray, uint8_t* edges, ptrdiff_t width, ptrdiff_t height, ptrdiff_t y) {
  const uint8_t* at = gray + y * width;
  const uint8_t* up = y > 0 ? at - width : at;
  const uint8_t* down = y + 1 < height ? at + width : at;
  const ptrdiff_t last = width - 1;
  uint8_t* out = edges + y * width;
  out[0] = edge(up, at, down, 0, 0, last > 0);
  for (ptrdiff_t x = 1; x < last; ++x) out[x] = edge(up, at, down, x - 1, x, x + 1);
  if (last > 0) out[last] = edge(up, at, down, last - 1, last, last);
}

#if defined(__CUDACC__) || defined(__HIPCC__)

constexpr int k_block = 256;  // threads, one pixel each; also the size of the light table

inline unsigned blocks_for(ptrdiff_t pixels) { return static_cast<unsigned>((pixels + k_block - 1) / k_block); }

__device__ inline ptrdiff_t my_pixel() { return static_cast<ptrdiff_t>(blockIdx.x) * k_block + threadIdx.x; }

// The table comes as a parameter: nvcc puts a hash of the source's path into the name of a device variable, and two
// builds would differ by it. It is read from shared memory, where threads that want different entries need not queue.
static __global__ void lab_kernel(const LightTable table, const uint8_t* rgb, float* lab, ptrdiff_t pixels) {
  __shared__ LightTable light;
  light.of[threadIdx.x] = table.of[threadIdx.x];
  __syncthreads();
  const ptrdiff_t i = my_pixel();
  if (i < pixels) rgb_to_lab(light, rgb + 3 * i, lab + 3 * i);
}

static __global__ void gray_kernel(const uint8_t* rgb, uint8_t* out, ptrdiff_t pixels) {
  const ptrdiff_t i = my_pixel();
  if (i < pixels) out[i] = gray(rgb + 3 * i);
}

static __global__ void edge_kernel(const uint8_t* gray, uint8_t* edges, ptrdiff_t width, ptrdiff_t height) {
  const ptrdiff_t i = my_pixel();
  if (i >= width * height) return;
  const ptrdiff_t x = i % width, y = i / width;
  const uint8_t* at = gray + y * width;
  edges[i] = edge(y > 0 ? at - width : at, at, y + 1 < height ? at + width : at, x > 0 ? x - 1 : x, x,
                  x + 1 < width ? x + 1 : x);
}

#endif

}  // namespace texture
