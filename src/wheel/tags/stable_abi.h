#pragma once

#include <optional>
#include <string_view>

namespace wheelsmith::wheel {

// A name that only the Python interpreter provides: PyObject_Call, Py_BuildValue, _Py_Dealloc; not PythonMode.
bool is_python_symbol(std::string_view name);

// The first minor version of Python 3 that exports a name of the stable ABI (0 for 3.6 or older), or nothing for a name
// that is not part of it.
std::optional<unsigned> stable_since(std::string_view name);

}  // namespace wheelsmith::wheel
