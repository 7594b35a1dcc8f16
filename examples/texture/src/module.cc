// The Python module texture._native, in the stable ABI of Python 3.11, the first whose limited API has buffers.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <string>

#include "texture.h"

namespace {

using texture::Picture;

// The arguments of both operations: image, width, height, on_gpu. Owns the buffer that it views.
class Arguments {
 public:
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    if (m_view.obj) PyBuffer_Release(&m_view);
  }

  // False with a Python exception set. Channels other than 1 and 3 never pass.
  bool parse(PyObject* args, bool gray_too) {
    Py_ssize_t width, height;
    if (!PyArg_ParseTuple(args, "y*nnp", &m_view, &width, &height, &on_gpu)) return false;
    // Twelve bytes, the largest result per pixel, must not overflow.
    if (width < 1 || height < 1 || width > PY_SSIZE_T_MAX / 12 / height) {
      PyErr_Format(PyExc_ValueError, "a picture cannot be %zd x %zd pixels", width, height);
      return false;
    }
    const Py_ssize_t size = width * height;
    picture = {static_cast<const uint8_t*>(m_view.buf), width, height, m_view.len == size && gray_too ? 1 : 3};
    if (m_view.len == picture.channels * size) return true;
    PyErr_Format(PyExc_ValueError, "a picture of %zd x %zd pixels must have %zd bytes of RGB%s, not %zd", width, height,
                 3 * size, gray_too ? " or a third of that in gray" : "", m_view.len);
    return false;
  }

  Picture picture{};
  int on_gpu = 0;

 private:
  Py_buffer m_view{};
};

// New bytes, filled by work without the GIL; C++ exceptions become Python exceptions.
template <class Work>
PyObject* filled_bytes(Py_ssize_t size, Work work) {
  PyObject* result = PyBytes_FromStringAndSize(nullptr, size);
  if (!result) return nullptr;
  char* out = PyBytes_AsString(result);
  std::string failure;
  Py_BEGIN_ALLOW_THREADS;
  try {
    work(out);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  Py_END_ALLOW_THREADS;
  if (failure.empty()) return result;
  Py_DecRef(result);
  PyErr_SetString(PyExc_RuntimeError, failure.c_str());
  return nullptr;
}

PyObject* rgb_to_lab(PyObject*, PyObject* args) {
  Arguments in;
  if (!in.parse(args, false)) return nullptr;
  return filled_bytes(12 * in.picture.size(), [&](char* out) {
    (in.on_gpu ? texture::gpu::rgb_to_lab : texture::cpu::rgb_to_lab)(in.picture, reinterpret_cast<float*>(out));
  });
}

PyObject* sobel(PyObject*, PyObject* args) {
  Arguments in;
  if (!in.parse(args, true)) return nullptr;
  return filled_bytes(in.picture.size(), [&](char* out) {
    (in.on_gpu ? texture::gpu::sobel : texture::cpu::sobel)(in.picture, reinterpret_cast<uint8_t*>(out));
  });
}

PyObject* gpu(PyObject*, PyObject*) {
  std::string reason;
  const std::string name = texture::gpu::name(reason);
  return Py_BuildValue("zs", name.empty() ? nullptr : name.c_str(), reason.c_str());
}

int fill(PyObject* module) {
  if (PyModule_AddStringConstant(module, "variant", TEXTURE_VARIANT) < 0) return -1;
  return PyModule_AddStringConstant(module, "architectures", TEXTURE_ARCHITECTURES);
}

}  // namespace

PyMODINIT_FUNC PyInit__native() {
  static PyMethodDef methods[] = {{"rgb_to_lab", rgb_to_lab, METH_VARARGS, nullptr},
                                  {"sobel", sobel, METH_VARARGS, nullptr},
                                  {"gpu", gpu, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(fill)}, {0, nullptr}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_native", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};
  return PyModuleDef_Init(&definition);
}
