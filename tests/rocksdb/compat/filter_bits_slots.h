#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <map>
#include <string>

namespace blocksieve::testing {

/// Function by slot of a virtual table, without destructors, whose slots cannot be determined.
using Slots = std::map<size_t, std::string>;

/// The virtual tables of the classes in filter_bits_abi.h for a generation, by class name.
template <int generation>
std::map<std::string, Slots> DeclaredSlots();

}  // namespace blocksieve::testing
