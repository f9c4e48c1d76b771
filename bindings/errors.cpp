// Translates the core's exceptions into those of graphmount.errors, and failed system calls into
// the OSError that Python would raise for the same errno.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "convert/arrays.hpp"
#include "graphmount/base/error.hpp"

namespace graphmount::bindings {
namespace {

void raise(const char* name, const std::exception& error, nb::object path = nb::none()) {
  const nb::object type = nb::module_::import_("graphmount.errors").attr(name);
  const nb::object message = nb::steal(PyUnicode_DecodeUTF8(
      error.what(), static_cast<Py_ssize_t>(std::strlen(error.what())), "surrogateescape"));
  nb::object instance = type(message);
  if (!path.is_none()) instance.attr("path") = path;
  PyErr_SetObject(type.ptr(), instance.ptr());
}

// Called with an errno, OSError makes itself the right subclass, such as FileNotFoundError.
template <class... Details>
void raise_os_error(int code, const Details&... details) {
  const nb::object instance = nb::borrow(PyExc_OSError)(code, details...);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
}

// Exceptions of the C++ library have names of its functions as their text, which do not help users.
constexpr const char* kOutOfMemory =
    "out of memory: the system gives this process no more of it; use smaller batches or a lower "
    "memory=, or raise its limit (ulimit -v, the container's)";

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const FormatError& error) {
    raise("FormatError", error, to_str(error.path()));
  } catch (const FileChangedError& error) {
    raise("FileChangedError", error, to_str(error.path()));
  } catch (const MissingDataError& error) {
    raise("MissingDataError", error, to_str(error.path()));
  } catch (const IoError& error) {
    raise_os_error(error.code(), std::string(error.what()).substr(error.path().size() + 2),
                   to_str(error.path()));
  } catch (const ThreadError& error) {
    raise_os_error(error.code(), error.what());
  } catch (const IdError& error) {
    raise("IdError", error);
  } catch (const BudgetError& error) {
    raise("BudgetError", error);
  } catch (const SourceError& error) {
    raise("SourceError", error);
  } catch (const OutOfMemory& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, kOutOfMemory);
  } catch (const std::length_error&) {
    PyErr_SetString(PyExc_MemoryError, kOutOfMemory);
  } catch (const std::system_error& error) {
    raise_os_error(error.code().value(), error.what());
  }
}

}  // namespace

void bind_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace graphmount::bindings
