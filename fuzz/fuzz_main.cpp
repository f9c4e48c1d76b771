// A fuzzer that needs nothing but a compiler: changes inputs at random and sees what comes out.
//
//   fuzz_NAME [--seed N] [--runs N] [--seconds N] [--corpus FOLDER]
//   fuzz_NAME --write FOLDER   writes the inputs it begins with, for libFuzzer and the repository
//   fuzz_NAME FILE...          takes these, such as the one a crash left behind
//
// The same seed makes the same inputs. It begins with those that it makes itself, and those in the
// folder.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "forged_file.hpp"
#include "target.hpp"

namespace graphmount::fuzz {
namespace {

const Bytes* g_input = nullptr;  // what is being read, for the handler
char g_crash_name[64] = "fuzz-crash.bin";

void keep_input_and_die(int signal_number) {
  const int file = open(g_crash_name, O_CREAT | O_TRUNC | O_WRONLY, 0666);
  const bool is_kept =
      file >= 0 && g_input != nullptr &&
      write(file, g_input->data(), g_input->size()) == static_cast<ssize_t>(g_input->size());
  std::fprintf(stderr, "fuzz: signal %d; the input is %s%s\n", signal_number,
               is_kept ? "in " : "lost, not in ", g_crash_name);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void run(const Bytes& input) {
  g_input = &input;
  alarm(60);  // a hang is a crash too
  run_input(input);
  alarm(0);
}

struct Options {
  std::uint64_t seed = 1, runs = UINT64_MAX;
  double seconds = 10;
  std::filesystem::path corpus;
};

/// Those made here, then those of the folder in the order of their names.
std::vector<Bytes> read_corpus(const std::filesystem::path& folder) {
  std::vector<Bytes> corpus = make_corpus();
  std::vector<std::filesystem::path> paths;
  if (!folder.empty())
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) corpus.push_back(testing::read_bytes(path));
  return corpus;
}

void write_corpus(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (int number = 0; const Bytes& input : make_corpus())
    testing::write_bytes(folder / ("made-" + std::to_string(number++)), input);
}

void fuzz(const Options& options) {
  const std::vector<Bytes> corpus = read_corpus(options.corpus);
  for (const Bytes& input : corpus) run(input);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t number = 0;
  for (; number < options.runs && seconds() < options.seconds; ++number) {
    std::snprintf(g_crash_name, sizeof g_crash_name, "fuzz-crash-%lu-%lu.bin", options.seed,
                  number);
    Bytes input = corpus[number % corpus.size()];
    mutate(input, options.seed * 0x9E3779B97F4A7C15 + number);
    run(input);
  }
  std::printf("fuzz: %lu inputs in %.1f s (seed %lu), no crash\n", number, seconds(), options.seed);
}

}  // namespace

void give_up(const std::string& why) {
  std::fprintf(stderr, "fuzz: %s\n", why.c_str());
  std::abort();
}

}  // namespace graphmount::fuzz

int main(int count, char** arguments) {
  using namespace graphmount::fuzz;
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    signal(number, keep_input_and_die);
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name.starts_with("--") && i + 1 == count) {
      std::fprintf(stderr, "%s needs a value\n", name.c_str());
      return 2;
    }
    if (name == "--seed") {
      options.seed = std::stoull(arguments[++i]);
    } else if (name == "--runs") {
      options.runs = std::stoull(arguments[++i]);
      options.seconds = 1e9;
    } else if (name == "--seconds") {
      options.seconds = std::stod(arguments[++i]);
    } else if (name == "--corpus") {
      options.corpus = arguments[++i];
    } else if (name == "--write") {
      write_corpus(arguments[++i]);
      return 0;
    } else {
      const Bytes input = graphmount::testing::read_bytes(name);
      run(input);
      if (i + 1 == count) return 0;
    }
  }
  fuzz(options);
  return 0;
}
