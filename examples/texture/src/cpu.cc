#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "pixels.h"
#include "texture.h"

namespace texture::cpu {
namespace {

constexpr ptrdiff_t k_worth_a_thread = 1 << 17;  // pixels; milliseconds of work

// Calls work(first, last) for ranges that cover all rows.
template <class Work>
void for_rows(const Picture& picture, Work work) {
  const ptrdiff_t cores = std::max(1u, std::thread::hardware_concurrency());
  const ptrdiff_t parts = std::clamp<ptrdiff_t>(picture.size() / k_worth_a_thread, 1, std::min(cores, picture.height));
  const auto start = [&](ptrdiff_t part) {
    return picture.height / parts * part + std::min(part, picture.height % parts);
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(parts));
  for (ptrdiff_t part = 1; part < parts; ++part) {
    try {
      threads.emplace_back(work, start(part), start(part + 1));
    } catch (const std::system_error&) {  // no more threads available
      work(start(part), start(part + 1));
    }
  }
  work(0, start(1));
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

void rgb_to_lab(const Picture& rgb, float* lab) {
  for_rows(rgb, [=](ptrdiff_t first, ptrdiff_t last) {
    for (ptrdiff_t i = first * rgb.width; i < last * rgb.width; ++i)
      texture::rgb_to_lab(k_light, rgb.pixels + 3 * i, lab + 3 * i);
  });
}

void sobel(const Picture& picture, uint8_t* edges) {
  std::vector<uint8_t> plane;
  const uint8_t* grays = picture.pixels;
  if (picture.channels == 3) {
    plane.resize(static_cast<size_t>(picture.size()));
    for_rows(picture, [&picture, out = plane.data()](ptrdiff_t first, ptrdiff_t last) {
      for (ptrdiff_t i = first * picture.width; i < last * picture.width; ++i) out[i] = gray(picture.pixels + 3 * i);
    });
    grays = plane.data();
  }
  for_rows(picture, [=](ptrdiff_t first, ptrdiff_t last) {
    for (ptrdiff_t y = first; y < last; ++y) edge_row(grays, edges, picture.width, picture.height, y);
  });
}

}  // namespace texture::cpu
