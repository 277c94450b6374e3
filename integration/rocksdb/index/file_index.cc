#include "integration/rocksdb/index/file_index.h"

#include <algorithm>
#include <charconv>

#include "blocksieve/skip_index_source.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

FileIdentity IdentityOf(const rocksdb::TableProperties& properties) {
  return {properties.db_session_id, properties.orig_file_number};
}

bool HasIdentity(const rocksdb::TableProperties& properties,
                 const FileIdentity& identity) noexcept {
  return properties.orig_file_number == identity.file_number &&
         properties.db_session_id == identity.session_id;
}

FileIndex::FileIndex(std::shared_ptr<const rocksdb::TableProperties> properties,
                     const SstPlace& sst, std::optional<std::vector<Column>> columns)
    : properties_(std::move(properties)), columns_(std::move(columns)) {
  if (sst.file_system != nullptr && OpenSidecar(sst)) return;
  columns_.reset();
  OpenProperties();
}

bool FileIndex::OpenSidecar(const SstPlace& sst) {
  std::string problem;
  const std::unique_ptr<SidecarFile> sidecar =
      SidecarFile::Open(sst, *properties_, &problem, &lacks_sidecar_);
  if (sidecar != nullptr) {
    Result<std::string> index =
        columns_ ? ReadSkipIndex(sidecar.get(), *columns_) : ReadWholeSkipIndex(sidecar.get());
    if (index.ok()) {
      read_bytes_ = *std::move(index);
      is_in_sidecar_ = OpenIndex(AsBytes(read_bytes_));
      problem = problem_;
    } else {
      problem = index.status().message();
    }
  }
  if (is_in_sidecar_) {
    value_suffix_bytes_ = sidecar->header().value_suffix_bytes;
    has_newest_versions_only_ = sidecar->header().coverage == SidecarCoverage::kNewestVersions;
  } else if (properties_->user_collected_properties.contains(kSidecarProperty)) {
    problem_ = "index unusable: " + problem;
    is_lasting_ = false;
  }
  return is_in_sidecar_;
}

void FileIndex::OpenProperties() {
  const auto& user = properties_->user_collected_properties;
  const auto bytes = user.find(kIndexProperty);
  if (bytes == user.end()) {
    if (!problem_.empty()) return;
    const std::string_view reason = FindProperty(user, kProblemProperty);
    problem_ = reason.empty() ? "written without an index" : "no index: " + std::string(reason);
    return;
  }
  const std::string_view version = FindProperty(user, kVersionProperty);
  if (version != kPropertiesVersion) {
    problem_ = "index properties of version '" + std::string(version) + "'";
    return;
  }
  const std::string_view suffix = FindProperty(user, kValueSuffixProperty);
  const auto parsed =
      std::from_chars(suffix.data(), suffix.data() + suffix.size(), value_suffix_bytes_);
  if (parsed.ec != std::errc() || parsed.ptr != suffix.data() + suffix.size()) {
    problem_ = "index properties are damaged: value_suffix_bytes";
    return;
  }
  if (OpenIndex(AsBytes(bytes->second))) return;
  problem_ = "index unusable: " + problem_;
}

bool FileIndex::OpenIndex(ByteView bytes) {
  Result<SkipIndexReader> index = SkipIndexReader::Open(bytes);
  if (index.ok()) {
    index_ = *std::move(index);
    problem_.clear();
    return true;
  }
  problem_ = index.status().message();
  is_lasting_ = index.status().code() != StatusCode::kResourceExhausted;
  return false;
}

bool FileIndex::HasRead(std::span<const Column> columns) const {
  return !columns_ || std::all_of(columns.begin(), columns.end(), [this](const Column& one) {
    return std::any_of(columns_->begin(), columns_->end(),
                       [&one](const Column& other) { return one.ToText() == other.ToText(); });
  });
}

uint64_t FileIndex::memory_bytes() const {
  constexpr uint64_t kOverhead = 1024;  // of this, the map's and the list's nodes
  if (!index_) return kOverhead;
  return kOverhead + index_->granules().index_bytes() + index_->granules().memory_bytes();
}

}  // namespace blocksieve::rocksdb_plugin
