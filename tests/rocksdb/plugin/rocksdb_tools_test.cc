#include <gtest/gtest.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/version.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/db_checks.h"
#include "tests/support/environment.h"
#include "tests/support/key_sets.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_db.h"

// Unmodified db_bench and ldb with the plug-in preloaded. They belong to the RocksDB that the
// plug-in was built for.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

using Environment = std::map<std::string, std::string>;

class RocksDbTools : public ::testing::TestWithParam<FilterShape> {
 protected:
  void SetUp() override {
    if (!kCanPreload) GTEST_SKIP() << "nothing can be preloaded";
    // If RocksDB was installed without its tools, PATH may have those of another one.
    const std::string wanted = "db_bench version " + std::to_string(ROCKSDB_MAJOR) + "." +
                               std::to_string(ROCKSDB_MINOR) + "." + std::to_string(ROCKSDB_PATCH);
    const ChildResult version = RunChild({"db_bench", "--version"});
    ASSERT_EQ(version.exit_code, 0) << version.output;
    if (!version.output.starts_with(wanted + "\n")) {
      GTEST_SKIP() << "the plug-in needs \"" << wanted
                   << "\"; that in PATH says: " << version.output;
    }
  }

  inline static const Environment kPreloaded = {{"LD_PRELOAD", BLOCKSIEVE_PLUGIN}};

  static DbConfig Config() { return MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01")); }

  static std::string OptionsFile(const std::string& db_path) {
    std::string name;
    MustBeOk(rocksdb::GetLatestOptionsFileName(db_path, rocksdb::Env::Default(), &name), "name");
    return db_path + "/" + name;
  }

  // Table property filter_policy of all files.
  static std::set<std::string> Policies(const std::string& db_path) {
    const auto db = OpenReadOnly(Config().ToOptions(), db_path);
    std::set<std::string> names;
    for (const auto& [path, file] : FilesOf(*db)) names.insert(file->filter_policy_name);
    return names;
  }

  static uint64_t Ticker(const std::string& output, const std::string& name) {
    const size_t at = output.find(name + " COUNT : ");
    return at == std::string::npos ? 0 : std::stoull(output.substr(at + name.size() + 9));
  }

  ChildResult DbBench(const std::string& benchmarks, const std::vector<std::string>& more) {
    std::vector<std::string> command = {"db_bench",        "--benchmarks=" + benchmarks,
                                        "--db=" + path_,   "--num=20000",
                                        "--value_size=50", "--statistics"};
    command.insert(command.end(), more.begin(), more.end());
    ChildResult child = RunChild(command, kPreloaded);
    EXPECT_EQ(child.exit_code, 0) << child.output;
    return child;
  }

  TempDir dir_;
  const std::string path_ = dir_ / "db";
};

TEST_P(RocksDbTools, DbBenchWritesAndReadsWithAnOptionsFile) {
  TestDb source(Config());
  const std::string options = "--options_file=" + OptionsFile(source.path());
  DbBench("fillseq,overwrite,flush", {options});
  EXPECT_EQ(Policies(path_), std::set<std::string>{"blocksieve"});

  const ChildResult reading =
      DbBench("readrandom,readmissing,multireadrandom,compact,readrandom",
              {options, "--use_existing_db", "--reads=10000", "--batch_size=32"});
  EXPECT_NE(reading.output.find("(10000 of 10000 found)"), std::string::npos) << reading.output;
  EXPECT_NE(reading.output.find("(0 of 10000 found)"), std::string::npos) << reading.output;
  EXPECT_GT(Ticker(reading.output, "rocksdb.bloom.filter.useful"), 9000u) << reading.output;
  EXPECT_EQ(Policies(path_), std::set<std::string>{"blocksieve"}) << "after compact";
}

TEST_P(RocksDbTools, LdbReadsWritesAndCompacts) {
  TestDb db(Config());
  db.Fill(PresentKeys(KeyShape::kUrl, 2000));
  db.Close();
  const auto ldb = [&](std::vector<std::string> command) {
    command.insert(command.begin(), {"ldb", "--db=" + db.path()});
    const ChildResult child = RunChild(command, kPreloaded);
    EXPECT_EQ(child.exit_code, 0) << child.output;
    return child.output;
  };
  const std::string present = MakeKey(KeyShape::kUrl, 1000);
  EXPECT_NE(ldb({"get", present}).find("value"), std::string::npos);
  ldb({"put", MakeKey(KeyShape::kUrl, 1001), "by ldb"});
  EXPECT_NE(ldb({"get", MakeKey(KeyShape::kUrl, 1001)}).find("by ldb"), std::string::npos);
  ldb({"compact"});
  EXPECT_EQ(Policies(db.path()), std::set<std::string>{"blocksieve"});

  // The OPTIONS file that ldb wrote still names the policy.
  ASSERT_NE(StoredOptions(db.path()).filter_policy(), nullptr);
  EXPECT_STREQ(StoredOptions(db.path()).filter_policy()->Name(), "blocksieve");
  db.Open(Config());
  TestDb::Model model = db.model();
  model[MakeKey(KeyShape::kUrl, 1001)] = "by ldb";
  EXPECT_EQ(CheckReads(&db.db(), model, {MakeKey(KeyShape::kUrl, 1003)}), "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, RocksDbTools, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
