// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/levels/family_account.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace blocksieve::rocksdb_plugin {
namespace {

std::atomic<uint64_t> last_moment = 0;

}  // namespace

uint64_t FamilyAccount::Now() { return last_moment; }

void FamilyAccount::File::SetLive() {
  if (!is_live()) live_since = ++last_moment;
}
uint64_t FamilyAccount::Job::taken() const {
  uint64_t sum = 0;
  for (const auto& [_, bytes] : out) sum += bytes;
  return sum;
}

uint64_t FamilyAccount::Job::out_bytes() const { return std::max(taken(), whole_bytes); }

int FamilyAccount::LevelOf(uint64_t file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? 0 : found->second.level;
}

uint64_t FamilyAccount::BytesOf(uint64_t file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? 0 : found->second.sizes.bytes;
}

FamilyAccount::Job* FamilyAccount::FindJob(int id) {
  auto found = jobs_.find(id);
  if (found == jobs_.end()) found = jobs_.find(kUnknownJob);
  return found == jobs_.end() ? nullptr : &found->second;
}

void FamilyAccount::Count(const File& file, bool adds) {
  const auto count = [adds](uint64_t* sum, uint64_t value) { *sum += adds ? value : -value; };
  count(&num_bytes_, file.sizes.bytes);
  count(&index_bytes_, file.sizes.index_bytes);
  if (file.is_input) return;
  Level& level = levels_[file.level];
  count(&level.bytes, file.sizes.bytes);
  if (!file.is_live()) return;
  count(&level.num_keys, file.sizes.num_keys);
  count(&level.num_files, 1);
}

// All changes of files pass here, so that the sums follow.
template <class Change>
void FamilyAccount::Update(uint64_t number, Change change) {
  File& file = files_[number];
  Count(file, false);
  change(file);
  Count(file, true);
}

void FamilyAccount::SetVersion(const std::map<uint64_t, int>& levels, uint64_t since) {
  std::vector<uint64_t> gone;
  for (const auto& [number, file] : files_) {
    const bool was_live = file.is_live() && file.live_since <= since;
    if (was_live && !file.is_input && !levels.contains(number)) gone.push_back(number);
  }
  for (const uint64_t number : gone) Erase(number);
  for (const auto& [number, level] : levels) {
    if (!Has(number)) continue;
    Update(number, [level = level](File& file) {
      file.level = level;
      file.SetLive();
    });
  }
  for (auto& [_, job] : jobs_) CountInputs(&job);
}

void FamilyAccount::SetFile(uint64_t number, int level, const FileSizes& sizes) {
  Update(number, [&](File& file) {
    file.level = level;
    file.sizes = sizes;
    file.SetLive();
  });
}

void FamilyAccount::Erase(uint64_t number) {
  const auto found = files_.find(number);
  if (found == files_.end()) return;
  Count(found->second, false);
  for (auto& [_, job] : jobs_) {
    // Deleted before RocksDB reported the end of the job.
    if (found->second.is_input && job.job.inputs.contains(number))
      job.in_bytes -= found->second.sizes.bytes;
    job.out.erase(number);
  }
  files_.erase(found);
}

// Counts the inputs that the account has by now.
void FamilyAccount::CountInputs(Job* job) {
  for (const uint64_t number : job->job.inputs) {
    const auto found = files_.find(number);
    if (found == files_.end() || found->second.is_input) continue;
    job->in_bytes += found->second.sizes.bytes;
    Update(number, [](File& file) { file.is_input = true; });
  }
}

void FamilyAccount::BeginJob(const SstJob& job) {
  EndJob(job.id, false, {});
  Job& running = jobs_[job.id];
  running.job = job;
  CountInputs(&running);
}

void FamilyAccount::EndJob(int id, bool is_ok, const std::set<uint64_t>& outputs) {
  if (const auto found = jobs_.find(id); found != jobs_.end()) {
    const Job ended = std::move(found->second);
    jobs_.erase(found);  // first, so that its inputs are counted no more
    for (const uint64_t number : ended.job.inputs) {
      if (!Has(number)) continue;
      if (is_ok && !outputs.contains(number)) {
        Erase(number);
      } else {
        Update(number, [](File& file) { file.is_input = false; });
      }
    }
    for (const auto& [number, _] : ended.out) {
      // RocksDB drops those of a failed job, and those without entries, perhaps without a word.
      const bool is_kept = is_ok && (outputs.empty() || outputs.contains(number));
      if (!is_kept)
        Erase(number);
      else if (Has(number))
        Update(number, [](File& file) { file.SetLive(); });
    }
  }
  for (const uint64_t number : outputs) {
    if (Has(number)) Update(number, [](File& file) { file.SetLive(); });
  }
}

void FamilyAccount::SetOutput(int id, uint64_t number, int level, const FileSizes& sizes) {
  Update(number, [&](File& file) {
    file.level = level;
    file.sizes = sizes;
  });
  if (Job* const job = FindJob(id)) job->out[number] = sizes.bytes;
}

uint64_t FamilyAccount::ReserveForJob(int id, uint64_t bytes, uint64_t available) {
  Job* const job = FindJob(id);
  if (job == nullptr) return 0;
  if (job->whole_bytes == 0) job->whole_bytes = std::min(bytes, available);
  return job->whole_bytes;
}

uint64_t FamilyAccount::CreditOf(int id) {
  const Job* const job = FindJob(id);
  return job == nullptr ? 0 : job->in_bytes - std::min(job->in_bytes, job->out_bytes());
}

bool FamilyAccount::IsManual(int job) {
  const Job* const found = FindJob(job);
  return found != nullptr && found->job.is_manual;
}

uint64_t FamilyAccount::KeysOf(int id) {
  const Job* const job = FindJob(id);
  return job == nullptr ? 0 : job->job.num_keys;
}

uint64_t FamilyAccount::num_bytes() const {
  uint64_t sum = num_bytes_;
  for (const auto& [_, job] : jobs_) {
    const uint64_t ahead = job.out_bytes() - job.taken();
    sum += ahead - std::min(job.in_bytes, job.out_bytes());
  }
  return sum;
}

uint64_t FamilyAccount::BytesOnLevel(int level) const {
  const auto found = levels_.find(level);
  return found == levels_.end() ? 0 : found->second.bytes;
}

std::vector<TreeLevel> FamilyAccount::LevelsToCome() const {
  std::map<int, uint64_t> num_keys;
  double runs = 0;  // of level 0
  for (const auto& [level, staying] : levels_) {
    num_keys[level] += staying.num_keys;
    if (level == 0) runs += static_cast<double>(staying.num_files);
  }
  for (const auto& [_, job] : jobs_) {
    uint64_t keys = job.job.inputs.empty() ? job.job.num_keys : 0;
    for (const uint64_t number : job.job.inputs) {
      const auto file = files_.find(number);
      if (file != files_.end()) keys += file->second.sizes.num_keys;
    }
    num_keys[job.job.output_level] += keys;
    if (job.job.output_level == 0 && keys != 0) ++runs;
  }
  const int last = num_keys.empty() ? 0 : std::max(num_keys.rbegin()->first, 0);
  std::vector<TreeLevel> levels(static_cast<size_t>(last) + 1, {.num_runs = 0});
  for (const auto& [level, keys] : num_keys) {
    if (level < 0 || keys == 0) continue;
    TreeLevel& shape = levels[static_cast<size_t>(level)];
    shape.num_runs = level == 0 ? std::max(runs, 1.0) : 1;
    shape.keys_per_run = static_cast<double>(keys) / shape.num_runs;
  }
  return levels;
}

}  // namespace blocksieve::rocksdb_plugin
