#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

namespace blocksieve::sieve {

/// Normalizes a URL by RFC 3986, sections 6.2.2 and 6.2.3, so that different spellings become
/// equal:
///
/// * white space around the URL, the fragment, and the scheme's default port are removed;
/// * scheme and host become lower case, escapes (%2F) upper case;
/// * escaped letters, digits, '-', '.', '_' and '~' are unescaped;
/// * "." and ".." are resolved, and an empty path after a host becomes "/".
///
/// Text not of the form scheme://host... only loses the white space around it. Idempotent. Never
/// fails.
std::string NormalizeUrl(std::string_view url);

}  // namespace blocksieve::sieve
