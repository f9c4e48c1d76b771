#include "graphmount/verify.hpp"

#include <algorithm>

#include "graphmount/error.hpp"
#include "graphmount/features.hpp"
#include "graphmount/verifier.hpp"

namespace graphmount {
namespace {

void verify_features(const FeatureMatrix& features, Verifier& verifier) {
  const Section& matrix = features.matrix();
  const auto* bytes = features.mount().data<std::uint8_t>(matrix);
  verifier.check_section(matrix, [&](std::uint64_t begin, std::uint64_t end) {
    if (matrix.dtype != DType::kBool) return;
    const auto* bad = std::find_if(bytes + begin, bytes + end, [](auto byte) { return byte > 1; });
    if (bad != bytes + end)
      verifier.report(matrix, static_cast<std::uint64_t>(bad - bytes),
                      "a bool is neither 0 nor 1 but " + std::to_string(*bad));
  });
}

}  // namespace

Verification verify_file(const std::filesystem::path& path, const Progress& progress) {
  const auto probe = MappedFile::open(path);
  const FileKind kind = file_kind(*probe);
  const auto verify_mount = [&](const Mount& mount, const auto& verify_content) {
    return mount.file().read_guarded([&] {
      Verifier verifier(mount, progress);
      verify_content(verifier);
      for (const Section& section : mount.header().sections)
        if (static_cast<std::uint16_t>(section.kind) >= kFirstOptionalKind)
          verifier.check_section({.kind = section.kind,
                                  .dtype = DType::kUInt8,
                                  .offset = section.offset,
                                  .bytes = section.bytes,
                                  .rows = section.bytes,
                                  .first_chunk = section.first_chunk},
                                 nullptr);
      verifier.check_padding();
      return verifier.result();
    });
  };
  try {
    if (kind == FileKind::kFeatures) {
      const FeatureMatrix features(path);
      return verify_mount(features.mount(),
                          [&](Verifier& verifier) { verify_features(features, verifier); });
    }
    const Graph graph(path);
    return verify_mount(graph.mount(), [&](Verifier& verifier) { verify_graph(graph, verifier); });
  } catch (const FormatError& error) {
    const std::string message = std::string(error.what()).substr(error.path().size() + 2);
    return {kind, probe->size(), 1, {{"header", 0, message}}};
  }
}

}  // namespace graphmount
