// What the core throws. Each type names one kind of trouble, and becomes one Python exception in
// bindings/errors.cpp; plain std::invalid_argument stands for a bad argument (ValueError).
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace graphmount {

/// Adds one part to a message. Not inline: messages are many, and most of what the compiler did.
void add_part(std::string& message, std::string_view text);
void add_part(std::string& message, std::int64_t number);
void add_part(std::string& message, std::uint64_t number);
void add_part(std::string& message, double number);

/// A message of many parts: text as it is, numbers in digits.
template <class... Parts>
[[gnu::cold]] std::string say(const Parts&... parts) {
  std::string message;
  const auto add = [&]<class Part>(const Part& part) {
    if constexpr (std::is_floating_point_v<Part>)
      add_part(message, static_cast<double>(part));
    else if constexpr (std::is_unsigned_v<Part>)
      add_part(message, static_cast<std::uint64_t>(part));
    else if constexpr (std::is_integral_v<Part>)
      add_part(message, static_cast<std::int64_t>(part));
    else
      add_part(message, std::string_view(part));
  };
  (add(parts), ...);
  return message;
}

/// Base of the errors that concern one file.
class FileError : public std::runtime_error {
 public:
  FileError(std::string path, const std::string& problem);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The file is not a well-formed graphmount file, or its content breaks a rule of the format.
struct FormatError : FileError {
  using FileError::FileError;
};

/// The file changed under its mapping: truncated, or no longer readable.
struct FileChangedError : FileError {
  using FileError::FileError;
};

/// The file does not hold what the call needs, such as neighbors in the direction asked for.
struct MissingDataError : FileError {
  using FileError::FileError;
};

/// A system call failed. `code` is an errno value.
class IoError : public FileError {
 public:
  IoError(std::string path, const std::string& operation, int code);
  int code() const { return code_; }

 private:
  int code_;
};

/// The system gives no more threads. `code` is an errno value.
class ThreadError : public std::runtime_error {
 public:
  explicit ThreadError(int code);
  int code() const { return code_; }

 private:
  int code_;
};

/// A node id, row or key that does not exist.
struct IdError : std::out_of_range {
  using std::out_of_range::out_of_range;
};

/// The work does not fit into the memory it was given.
struct BudgetError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The system gives no more memory. Its text needs none: it lies in the exception itself.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes) noexcept;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[192];
};

/// The data given to a writer is wrong; says which entry and why.
struct SourceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace graphmount
