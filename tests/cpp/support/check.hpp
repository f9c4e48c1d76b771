// The little a test needs: TEST registers a function, CHECK and its kin end it with the place and
// the values if something is not as it should be. Each test_<concept>.cpp is an executable of its
// own; arguments name the tests to run, none means all. The main function is in check.cpp.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace graphmount::testing {

struct Failure : std::runtime_error {
  Failure(const char* file, int line, const std::string& problem)
      : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + problem) {}
};

struct Registration {
  Registration(const char* name, void (*test)());
};

template <class Value>
std::string show(const Value& value) {
  if constexpr (requires(std::ostream& stream) { stream << value; })
    return (std::ostringstream() << std::boolalpha << value).str();
  else
    return "(not printable)";
}

/// Ends the test without a failure: the machine does not allow what it needs.
[[noreturn]] void skip(const std::string& why);

}  // namespace graphmount::testing

#define TEST(name)                                                                 \
  static void name();                                                              \
  static const graphmount::testing::Registration registration_##name(#name, name); \
  static void name()

#define FAIL(problem) throw graphmount::testing::Failure(__FILE__, __LINE__, problem)

#define CHECK(...)                                       \
  do {                                                   \
    if (!(__VA_ARGS__)) FAIL("not true: " #__VA_ARGS__); \
  } while (false)

#define CHECK_EQUAL(left, right)                                                  \
  do {                                                                            \
    const auto left_value = (left);                                               \
    const auto right_value = (right);                                             \
    if (!(left_value == right_value))                                             \
      FAIL(#left " == " #right ", but " + graphmount::testing::show(left_value) + \
           " != " + graphmount::testing::show(right_value));                      \
  } while (false)

/// The message of the exception must hold `part`, which says that it was thrown for this reason.
#define CHECK_THROWS_WITH(expression, Type, part)                                                 \
  do {                                                                                            \
    bool thrown = false;                                                                          \
    try {                                                                                         \
      static_cast<void>(expression);                                                              \
    } catch (const Type& error) {                                                                 \
      thrown = true;                                                                              \
      if (std::string(error.what()).find(part) == std::string::npos)                              \
        FAIL(#expression " says: " + std::string(error.what()) + "\n  without: " + (part));       \
    } catch (const std::exception& error) {                                                       \
      FAIL(#expression " throws another exception than " #Type ": " + std::string(error.what())); \
    }                                                                                             \
    if (!thrown) FAIL(#expression " does not throw " #Type);                                      \
  } while (false)

#define CHECK_THROWS(expression, Type) CHECK_THROWS_WITH(expression, Type, "")
