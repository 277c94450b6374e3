// Key filters: builds one and asks it.

#include <blocksieve/filter.h>

#include <cstdio>

int main() {
  auto builder = blocksieve::FilterBuilder::Create({.target_fpr = 0.001});
  if (!builder.ok()) return 1;
  for (const char* key : {"apple", "pear", "plum"}) builder->AddKey(key);
  const auto block = builder->Finish();
  if (!block.ok()) return 1;

  const auto reader = blocksieve::FilterReader::Open(block->view());
  const bool works = reader.MayMatch("pear") && !reader.MayMatch("stone");
  std::puts(works ? "filters: works" : "filters: wrong answer");
  return works ? 0 : 1;
}
