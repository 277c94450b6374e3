#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace blocksieve::testing {

/// Function by slot of a virtual table. Destructors, whose slots cannot be asked for, are missing.
using Slots = std::map<size_t, std::string>;

/// Of the classes as filter_bits_abi.h declares them for a generation, by name.
template <int generation>
std::map<std::string, Slots> DeclaredSlots();

}  // namespace blocksieve::testing
