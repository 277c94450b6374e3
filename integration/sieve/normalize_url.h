#pragma once

#include <string>
#include <string_view>

namespace blocksieve::sieve {

/// The URL in one of the spellings that RFC 3986, section 6.2.2 and 6.2.3, has for it, so that
/// spellings of the same URL become equal:
///
/// * white space around it, a fragment, and a port that is the scheme's own are left out;
/// * scheme and host are in lower case, and escapes (%2F) in upper case;
/// * escaped letters, digits, '-', '.', '_' and '~' are unescaped;
/// * "." and ".." are resolved, and an empty path behind a host is "/".
///
/// What is not of the form scheme://host... keeps everything but the white space: bytes are not
/// interpreted that may be something else. The normal form of a normal form is itself. Never fails.
std::string NormalizeUrl(std::string_view url);

}  // namespace blocksieve::sieve
