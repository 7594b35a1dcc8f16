// Precompiled where no compiler cache is used (CI): what nearly every file includes, a third of the time to compile it. Files
// still include what they use; builds with a cache do without this.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
