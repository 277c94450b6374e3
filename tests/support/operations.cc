// SPDX-License-Identifier: Apache-2.0
#include "tests/support/operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace blocksieve::testing {
namespace {

using Fails = std::function<bool(const Operations&)>;

std::string Escape(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (byte > ' ' && byte < '\x7f' && byte != '%') {
      text += byte;
    } else {
      char code[4];
      std::snprintf(code, sizeof(code), "%%%02X", static_cast<unsigned>(byte) & 0xff);
      text += code;
    }
  }
  return text;
}

std::string Unescape(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return bytes;
}

// Calls take(piece) for each non-empty piece.
template <class Take>
void Split(std::string_view text, char separator, Take take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Replaces *text by `shorter` if that fails, too.
bool Take(Operations shorter, const Fails& fails, Operations* text) {
  if (shorter == *text || !fails(shorter)) return false;
  *text = std::move(shorter);
  return true;
}

// Drops halves, quarters and so on, the last ones first. `list(text)` is what elements go from.
template <class List>
bool DropFrom(const List& list, const Fails& fails, Operations* text) {
  bool dropped = false;
  for (size_t count = list(text).size(); count > 0; count /= 2) {
    for (size_t end = list(text).size(); end > 0;) {
      const size_t begin = end > count ? end - count : 0;
      Operations shorter = *text;
      auto& elements = list(&shorter);
      elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(begin),
                     elements.begin() + static_cast<std::ptrdiff_t>(end));
      dropped |= Take(std::move(shorter), fails, text);
      end = begin;
    }
  }
  return dropped;
}

// A key may be in several operations: it is replaced in all of them.
bool ShortenTexts(const Fails& fails, Operations* text) {
  static const std::set<std::string> kShortened = {"begin", "end",   "key",
                                                   "lower", "upper", "value"};
  std::set<std::string> long_ones;
  for (const Operation& operation : *text) {
    for (const auto& [name, value] : operation.args) {
      if (kShortened.contains(name) && value.size() > 1) long_ones.insert(value);
    }
  }
  bool shortened = false;
  for (const std::string& value : long_ones) {
    for (const size_t size : {size_t{1}, value.size() / 2, value.size() - 1}) {
      Operations shorter = *text;
      for (Operation& operation : shorter) {
        for (auto& [name, other] : operation.args) {
          if (kShortened.contains(name) && other == value) other.resize(size);
        }
      }
      if (!Take(std::move(shorter), fails, text)) continue;
      shortened = true;
      break;
    }
  }
  return shortened;
}

}  // namespace

bool Operation::Has(std::string_view name) const {
  return std::ranges::any_of(args, [&](const auto& arg) { return arg.first == name; });
}

std::string Operation::Get(std::string_view name, std::string_view otherwise) const {
  for (const auto& [its_name, value] : args) {
    if (its_name == name) return value;
  }
  return std::string(otherwise);
}

uint64_t Operation::Number(std::string_view name) const {
  return std::strtoull(Get(name).c_str(), nullptr, 10);
}

std::vector<std::string> Operation::All(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [its_name, value] : args) {
    if (its_name == name) values.push_back(value);
  }
  return values;
}

std::string ToText(const Operations& operations) {
  std::string text;
  for (const Operation& operation : operations) {
    text += operation.verb;
    for (const auto& [name, value] : operation.args) text += " " + name + "=" + Escape(value);
    text += '\n';
  }
  return text;
}

Operations ParseOperations(std::string_view text) {
  Operations operations;
  Split(text, '\n', [&](std::string_view line) {
    if (line.starts_with('#')) return;
    Operation operation;
    Split(line, ' ', [&](std::string_view word) {
      const size_t equals = std::min(word.find('='), word.size());
      if (operation.verb.empty()) {
        operation.verb = word;
      } else {
        operation.Add(std::string(word.substr(0, equals)),
                      Unescape(word.substr(std::min(equals + 1, word.size()))));
      }
    });
    if (!operation.verb.empty()) operations.push_back(std::move(operation));
  });
  return operations;
}

Operations Shrink(Operations text, const Fails& fails, size_t enough) {
  bool shrinks = true;
  while (shrinks && text.size() > enough) {
    shrinks = DropFrom(
        [](Operations * all) -> auto& { return *all; }, fails, &text);
    if (text.size() <= enough) break;
    for (size_t i = 0; i < text.size(); ++i)
      shrinks |= DropFrom(
          [i](Operations * all) -> auto& { return (*all)[i].args; }, fails, &text);
    shrinks |= ShortenTexts(fails, &text);
  }
  return text;
}

}  // namespace blocksieve::testing
