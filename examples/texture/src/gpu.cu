// The GPU code, for CUDA and HIP: copy in, compute, copy out.
#include <stdexcept>

#include "gpu_runtime.h"
#include "pixels.h"
#include "texture.h"

namespace texture::gpu {
namespace {

void check(gpuError error) {
  if (error != GPU(Success)) throw std::runtime_error(GPU(GetErrorString)(error));
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(ptrdiff_t size) : m_bytes(static_cast<size_t>(size) * sizeof(T)) {
    check(GPU(Malloc)(&m_data, m_bytes));
  }
  DeviceArray(const T* host, ptrdiff_t size) : DeviceArray(size) {
    check(GPU(Memcpy)(m_data, host, m_bytes, GPU(MemcpyHostToDevice)));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { static_cast<void>(GPU(Free)(m_data)); }

  T* data() const { return static_cast<T*>(m_data); }
  // Waits for the kernels before it, and throws their errors.
  void copy_to(T* host) const {
    check(GPU(GetLastError)());
    check(GPU(Memcpy)(host, m_data, m_bytes, GPU(MemcpyDeviceToHost)));
  }

 private:
  void* m_data = nullptr;
  size_t m_bytes;
};

}  // namespace

std::string name(std::string& reason) {
  int device = 0;
  gpuDeviceProperties properties;
  gpuError error = GPU(GetDevice)(&device);
  if (error == GPU(Success)) error = GPU(GetDeviceProperties)(&properties, device);
  if (error == GPU(Success)) {
    // Fails when no code was compiled for this device.
    GPU(FuncAttributes) attributes;
    error = GPU(FuncGetAttributes)(&attributes, reinterpret_cast<const void*>(&lab_kernel));
  }
  if (error == GPU(Success)) return properties.name;
  static_cast<void>(GPU(GetLastError)());  // otherwise the next call would report it again
  reason = GPU(GetErrorString)(error);
  return {};
}

void rgb_to_lab(const Picture& rgb, float* lab) {
  const DeviceArray<uint8_t> in(rgb.pixels, 3 * rgb.size());
  const DeviceArray<float> out(3 * rgb.size());
  lab_kernel<<<blocks_for(rgb.size()), k_block>>>(k_light, in.data(), out.data(), rgb.size());
  out.copy_to(lab);
}

void sobel(const Picture& picture, uint8_t* edges) {
  const DeviceArray<uint8_t> in(picture.pixels, picture.channels * picture.size());
  const DeviceArray<uint8_t> plane(picture.size());
  const DeviceArray<uint8_t> out(picture.size());
  const unsigned blocks = blocks_for(picture.size());
  if (picture.channels == 3) gray_kernel<<<blocks, k_block>>>(in.data(), plane.data(), picture.size());
  const uint8_t* grays = picture.channels == 3 ? plane.data() : in.data();
  edge_kernel<<<blocks, k_block>>>(grays, out.data(), picture.width, picture.height);
  out.copy_to(edges);
}

}  // namespace texture::gpu
