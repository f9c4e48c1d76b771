// A fuzzer that needs nothing but a compiler: changes good files at random and reads what comes
// out.
//
//   fuzz_open [--seed N] [--runs N] [--seconds N]   the same seed makes the same files
//   fuzz_open --corpus FOLDER                       writes the good files, for libFuzzer
//   fuzz_open FILE...                               reads these, such as the one a crash left
//   behind
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "corpus.hpp"
#include "mutate.hpp"
#include "read_everything.hpp"
#include "temporary_folder.hpp"

namespace {

using graphmount::testing::Bytes;

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

void read(const Bytes& bytes) {
  g_input = &bytes;
  alarm(60);  // a hang is a crash too
  graphmount::fuzz::read_everything(bytes);
  alarm(0);
}

void fuzz(std::uint64_t seed, std::uint64_t max_runs, double max_seconds) {
  const graphmount::testing::TemporaryFolder folder;
  const auto corpus = graphmount::fuzz::make_corpus(folder.path());
  for (const Bytes& bytes : corpus) read(bytes);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t run = 0;
  for (; run < max_runs && seconds() < max_seconds; ++run) {
    std::snprintf(g_crash_name, sizeof g_crash_name, "fuzz-crash-%lu-%lu.bin", seed, run);
    graphmount::fuzz::Mutator mutator(seed * 0x9E3779B97F4A7C15 + run);
    Bytes bytes = corpus[run % corpus.size()];
    mutator.mutate(bytes);
    read(bytes);
  }
  std::printf("fuzz: %lu files read in %.1f s (seed %lu), no crash\n", run, seconds(), seed);
}

}  // namespace

int main(int count, char** arguments) {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    signal(number, keep_input_and_die);
  std::uint64_t seed = 1, runs = UINT64_MAX;
  double seconds = 10;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name.starts_with("--") && i + 1 == count) {
      std::fprintf(stderr, "%s needs a value\n", name.c_str());
      return 2;
    }
    if (name == "--seed") {
      seed = std::stoull(arguments[++i]);
    } else if (name == "--runs") {
      runs = std::stoull(arguments[++i]);
      seconds = 1e9;
    } else if (name == "--seconds") {
      seconds = std::stod(arguments[++i]);
    } else if (name == "--corpus") {
      return graphmount::fuzz::make_corpus(arguments[++i]).empty() ? 1 : 0;
    } else {
      read(graphmount::testing::read_bytes(name));
      if (i + 1 == count) return 0;
    }
  }
  fuzz(seed, runs, seconds);
  return 0;
}
