// Runs the tests that were registered and says how they went.
#include "check.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

namespace graphmount::testing {
namespace {

struct Skipped {
  std::string why;
};

struct NamedTest {
  const char* name;
  void (*run)();
};

std::vector<NamedTest>& tests() {
  static std::vector<NamedTest> registered;
  return registered;
}

// What went wrong; empty if nothing did.
std::string run(const NamedTest& test) {
  try {
    test.run();
  } catch (const Skipped& skipped) {
    std::printf("skip  %s: %s\n", test.name, skipped.why.c_str());
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
  return "";
}

}  // namespace

Registration::Registration(const char* name, void (*test)()) {
  tests().push_back({name, test});
}

void skip(const std::string& why) {
  throw Skipped{why};
}

}  // namespace graphmount::testing

#if defined(__SANITIZE_THREAD__)
// Putting zero pages under the feet of readers is what the page guard is for; to ThreadSanitizer it
// looks like a write.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:cover_lost_page\n";
}
#endif

int main(int count, char** arguments) {
  using namespace graphmount::testing;
  const std::vector<std::string> wanted(arguments + 1, arguments + count);
  int failures = 0, runs = 0;
  for (const NamedTest& test : tests()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), test.name) == wanted.end())
      continue;
    const auto start = std::chrono::steady_clock::now();
    const std::string problem = run(test);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%s  %s (%.3f s)\n", problem.empty() ? "done" : "FAIL", test.name, seconds.count());
    if (!problem.empty()) std::printf("  %s\n", problem.c_str());
    std::fflush(stdout);  // before a later test forks or crashes
    failures += problem.empty() ? 0 : 1;
    ++runs;
  }
  if (runs == 0) std::printf("no test is called that\n");
  return failures == 0 && runs > 0 ? 0 : 1;
}
