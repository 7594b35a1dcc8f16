// Until release 2.33 glibc consisted of several libraries: the most used functions are in libc.so.6, the rest in five
// others. CPython needs all five, so an extension that uses pow without linking libm works by accident; many do this
// (numpy, Pillow).

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/text.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace data {
extern const std::string_view libm_names_txt;
}  // namespace data

namespace {

struct Home {
  std::string_view names;  // a pattern
  std::string_view library;
};

constexpr std::array<Home, 25> k_homes = {{
    {"dladdr", "libdl.so.2"},         {"dladdr1", "libdl.so.2"},     {"dlclose", "libdl.so.2"},
    {"dlerror", "libdl.so.2"},        {"dlinfo", "libdl.so.2"},      {"dlmopen", "libdl.so.2"},
    {"dlopen", "libdl.so.2"},         {"dlsym", "libdl.so.2"},       {"dlvsym", "libdl.so.2"},
    {"pthread_*", "libpthread.so.0"}, {"sem_*", "libpthread.so.0"},  {"aio_*", "librt.so.1"},
    {"lio_*", "librt.so.1"},          {"mq_*", "librt.so.1"},        {"shm_*", "librt.so.1"},
    {"timer_*", "librt.so.1"},        {"clock_*", "librt.so.1"},     {"openpty", "libutil.so.1"},
    {"forkpty", "libutil.so.1"},      {"login_tty", "libutil.so.1"}, {"logout", "libutil.so.1"},
    {"logwtmp", "libutil.so.1"},      {"__cxa_*", "libstdc++.so.6"}, {"__gxx_personality_*", "libstdc++.so.6"},
    {"_Unwind_*", "libgcc_s.so.1"},
}};

const std::unordered_set<std::string_view>& libm_names() {
  static const std::unordered_set<std::string_view> names = [] {
    const std::vector<std::string_view> all = lines(data::libm_names_txt);
    return std::unordered_set<std::string_view>(all.begin(), all.end());
  }();
  return names;
}

}  // namespace

bool is_libstdcxx_name(std::string_view name) {
  if (!name.starts_with("_Z")) return false;
  name.remove_prefix(2);
  for (const std::string_view special : {"GV", "TV", "TI", "TS", "TT"}) {
    if (name.starts_with(special)) {
      name.remove_prefix(special.size());
      break;
    }
  }
  for (const std::string_view allocation : {"nwm", "nam", "nwj", "naj", "dlPv", "daPv"}) {
    if (name.starts_with(allocation)) return true;
  }
  for (const char part : {'N', 'V', 'K'}) {  // nested, volatile, const
    if (name.starts_with(part)) name.remove_prefix(1);
  }
  if (name.size() >= 2 && name[0] == 'S') return std::string_view("tabsiod").find(name[1]) != std::string_view::npos;
  return name.starts_with("10__cxxabiv1") || name.starts_with("9__gnu_cxx");
}

std::string_view system_home(std::string_view name) {
  if (is_libstdcxx_name(name)) return "libstdc++.so.6";
  const auto home =
      std::find_if(k_homes.begin(), k_homes.end(), [&](const Home& known) { return glob_match(known.names, name); });
  if (home != k_homes.end()) return home->library;
  return libm_names().contains(name) ? "libm.so.6" : "";
}

}  // namespace wheelsmith::wheel
