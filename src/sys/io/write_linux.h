#pragma once

#include <cstdint>
#include <filesystem>

#include "base/bytes.h"
#include "sys/io/fd.h"

// Complete writes. Only src/sys includes this.

namespace wheelsmith::sys {

// Writes everything, at the file's position or at `offset`; throws throw_write_error().
void write_all(const Fd& fd, Bytes bytes, const std::filesystem::path& path);
void write_all_at(const Fd& fd, std::uint64_t offset, Bytes bytes, const std::filesystem::path& path);

// "cannot write x: no space left on the disk (3.0 GB needed, 1.2 MB free)".
[[noreturn]] void throw_write_error(int error_number, std::uint64_t wanted, const std::filesystem::path& path);

}  // namespace wheelsmith::sys
