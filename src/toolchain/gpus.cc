// The GPUs of this machine. nvidia-smi, which comes with the driver, lists NVIDIA's; in a container without it, the
// driver's folder in /proc has at least the names. AMD's are read from the kernel's topology (KFD): it has the
// processor as a number, and the device's memory as banks.

#include "toolchain/gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "sys/files.h"
#include "toolchain/ask.h"
#include "toolchain/description.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_most_gpus = 1024;

std::optional<gpu::Arch> arch_of_capability(std::string_view text) {
  const std::vector<std::string_view> parts = split(trim(text), '.');
  if (parts.size() != 2) return std::nullopt;
  const std::uint64_t major = to_number(parts[0]).value_or(0), minor = to_number(parts[1]).value_or(10);
  if (major == 0 || major > 99 || minor > 9) return std::nullopt;
  return gpu::nvidia_arch(static_cast<std::uint32_t>(major * 10 + minor));
}

// A file of /proc or /sys: its reported size is 0, so it cannot be mapped.
std::string proc_text(const fs::path& file) {
  constexpr std::uint64_t k_limit = 1u << 16;
  return sys::read_file_if_possible(file, k_limit).value_or("");
}

std::string driver_version(const Host& where) {
  return first_version(proc_text(on_machine(where, "proc/driver/nvidia/version")));
}

std::vector<Gpu> from_proc(const Host& where) {
  std::vector<Gpu> gpus;
  const fs::path folder = on_machine(where, "proc/driver/nvidia/gpus");
  for (const std::string& name : names_in(folder)) {
    const std::string text = proc_text(folder / name / "information");
    for (const std::string_view line : lines(text)) {
      if (!line.starts_with("Model:")) continue;
      const std::string_view model = trim(line.substr(6));
      const std::optional<gpu::Device> device = gpu::try_find_device(model);
      if (device && gpus.size() < k_most_gpus) {
        gpus.push_back({printable(model), device->arch, 0, driver_version(where)});
      }
    }
  }
  return gpus;
}

// nvidia-smi's output changes only with the driver, the devices or a reboot.
std::string nvidia_state(const fs::path& program, const Host& where) {
  std::vector<std::string> parts = {fingerprint_of(program), proc_text(on_machine(where, "proc/driver/nvidia/version")),
                                    proc_text(on_machine(where, "proc/sys/kernel/random/boot_id"))};
  for (const std::string& name : names_in(on_machine(where, "proc/driver/nvidia/gpus"))) parts.push_back(name);
  for (const std::string& name : names_in(on_machine(where, "dev"))) {
    if (name.starts_with("nvidia")) parts.push_back(name);
  }
  return combined_digest(parts);
}

std::vector<Gpu> nvidia_gpus(const Host& where) {
  for (const fs::path& program : programs_in_path("nvidia-smi", where)) {
    const std::optional<document::Table> facts =
        remembered("nvidia-smi", program.string(), nvidia_state(program, where), where, [&]() -> std::optional<Answer> {
          const Reply reply = ask({program.string(), "--query-gpu=name,compute_cap,memory.total,driver_version",
                                   "--format=csv,noheader,nounits"},
                                  where);
          if (!reply.good || read_nvidia_smi(reply.output).empty()) return std::nullopt;
          Answer answer;
          answer.facts["text"] = to_valid_utf8(reply.output);
          return answer;
        });
    if (facts) return read_nvidia_smi(document::Value(*facts)["text"].text_or());
  }
  return from_proc(where);
}

std::uint64_t kfd_memory(const fs::path& node) {
  std::uint64_t bytes = 0;
  for (const std::string& name : names_in(node / "mem_banks")) {
    const std::string text = proc_text(node / "mem_banks" / name / "properties");
    const std::uint64_t heap = kfd_property(text, "heap_type").value_or(0);  // 1 and 2: the device's own
    const std::uint64_t size = kfd_property(text, "size_in_bytes").value_or(0);
    if ((heap == 1 || heap == 2) && size < (1ull << 50)) bytes += size;
  }
  return bytes;
}

// The only known device with that processor, or the processor's name.
std::string amd_name(const std::string& gfx) {
  std::string name;
  for (const gpu::Device& device : gpu::known_devices()) {
    if (device.arch.vendor != gpu::Vendor::amd || split(device.arch.target, ':')[0] != gfx) continue;
    if (!name.empty()) return "AMD " + gfx;
    name = device.name;
  }
  return name.empty() ? "AMD " + gfx : name;
}

std::vector<Gpu> amd_gpus(const Host& where) {
  std::vector<Gpu> gpus;
  const fs::path nodes = on_machine(where, "sys/class/kfd/kfd/topology/nodes");
  for (const std::string& name : names_in(nodes)) {
    const std::string text = proc_text(nodes / name / "properties");
    const std::string gfx = gfx_name(kfd_property(text, "gfx_target_version").value_or(0));
    if (gfx.empty() || gpus.size() == k_most_gpus) continue;
    gpus.push_back({amd_name(gfx), gpu::amd_arch(gfx), kfd_memory(nodes / name),
                    std::string(trim(proc_text(on_machine(where, "sys/module/amdgpu/version"))))});
  }
  return gpus;
}

}  // namespace

std::vector<Gpu> read_nvidia_smi(std::string_view text) {
  std::vector<Gpu> gpus;
  for (const std::string_view line : lines(text)) {
    const std::vector<std::string_view> fields = split(line, ',');
    if (fields.size() < 4 || gpus.size() == k_most_gpus) continue;
    const std::size_t last = fields.size() - 1;  // counted from the end: a name may contain a comma
    const std::string_view name =
        trim(line.substr(0, static_cast<std::size_t>(fields[last - 2].data() - line.data()) - 1));
    std::optional<gpu::Arch> arch = arch_of_capability(fields[last - 2]);
    if (!arch) {
      const std::optional<gpu::Device> device = gpu::try_find_device(name);
      if (!device) continue;
      arch = device->arch;
    }
    // "[N/A]" when memory is shared with the CPU.
    const std::uint64_t mebibytes = to_number(trim(fields[last - 1])).value_or(0);
    gpus.push_back(
        {printable(name), *arch, mebibytes < (1ull << 30) ? mebibytes << 20 : 0, printable(trim(fields[last]))});
  }
  return gpus;
}

std::string gfx_name(std::uint64_t gfx_target_version) {
  const std::uint64_t major = gfx_target_version / 10000, minor = gfx_target_version / 100 % 100,
                      stepping = gfx_target_version % 100;
  if (major == 0 || major > 99 || minor > 15 || stepping > 15) return {};
  return fmt::format("gfx{}{:x}{:x}", major, minor, stepping);
}

std::optional<std::uint64_t> kfd_property(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines(text)) {
    if (line.starts_with(name) && line.substr(name.size()).starts_with(' ')) {
      return to_number(trim(line.substr(name.size())));
    }
  }
  return std::nullopt;
}

std::vector<Gpu> find_gpus(const Host& where) {
  if (where.described) return where.described->gpus;
  std::vector<Gpu> gpus = nvidia_gpus(where);
  for (Gpu& gpu : amd_gpus(where)) gpus.push_back(std::move(gpu));
  return gpus;
}

}  // namespace wheelsmith::toolchain
