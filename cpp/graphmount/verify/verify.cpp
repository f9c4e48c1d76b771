#include "graphmount/verify/verify.hpp"

#include <algorithm>
#include <cmath>

#include "graphmount/base/error.hpp"
#include "graphmount/graph/node_id_file.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/verify/verifier.hpp"

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
                      say("a bool is neither 0 nor 1 but ", *bad));
  });
  if (features.scales() == nullptr) return;
  const Section& section = *features.scales();
  const auto* scales = features.mount().data<float>(section);
  verifier.check_section(section, [&](std::uint64_t begin, std::uint64_t end) {
    const auto* bad = std::find_if(scales + begin, scales + end,
                                   [](float scale) { return !std::isfinite(scale) || scale < 0; });
    if (bad != scales + end)
      verifier.report(section, static_cast<std::uint64_t>(bad - scales),
                      say("a scale is ", *bad, ", which is not a finite number of at least 0"));
  });
}

// Whether a section means nothing to us: of an optional kind that we do not know, or in a place
// where we do not look for it.
bool is_ignored(const Section& section, FileKind kind) {
  const bool is_scales = section.kind == SectionKind::kScales && kind == FileKind::kFeatures &&
                         section.direction == Direction::kNone;
  return static_cast<std::uint16_t>(section.kind) >= kFirstOptionalKind && !is_scales;
}

}  // namespace

Verification verify_file(const std::filesystem::path& path, const Progress& progress) {
  return verify_file(MappedFile::open(path), progress);
}

Verification verify_file(const std::shared_ptr<MappedFile>& file, const Progress& progress) {
  const FileKind kind = file_kind(*file);
  const auto verify_mount = [&](const Mount& mount, const auto& verify_content) {
    return mount.file().read_guarded([&] {
      Verifier verifier(mount, progress);
      verify_content(verifier);
      for (const Section& section : mount.header().sections)
        if (is_ignored(section, kind))
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
      const FeatureMatrix features(file);
      return verify_mount(features.mount(),
                          [&](Verifier& verifier) { verify_features(features, verifier); });
    }
    if (kind == FileKind::kNodeIds) {
      const NodeIdFile ids(file);
      return verify_mount(ids.mount(), [&](Verifier& verifier) {
        verify_node_ids(ids.mount(), ids.num_nodes(), verifier);
      });
    }
    const Graph graph(file);
    return verify_mount(graph.mount(), [&](Verifier& verifier) { verify_graph(graph, verifier); });
  } catch (const FormatError& error) {
    const std::string message = std::string(error.what()).substr(error.path().size() + 2);
    return {kind, file->size(), 1, {{"header", 0, message}}};
  }
}

}  // namespace graphmount
