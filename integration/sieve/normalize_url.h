#pragma once

#include <string>
#include <string_view>

namespace blocksieve::sieve {

/// The normal spelling of a URL by RFC 3986, sections 6.2.2 and 6.2.3. Different spellings of a URL
/// thus become equal:
///
/// * white space around the URL, the fragment, and the scheme's default port are removed;
/// * scheme and host become lower case, escapes (%2F) upper case;
/// * escaped letters, digits, '-', '.', '_' and '~' are unescaped;
/// * "." and ".." are resolved, and an empty path after a host becomes "/".
///
/// Text that is not of the form scheme://host... only loses the white space around it. Normalizing
/// twice changes nothing more. Never fails.
std::string NormalizeUrl(std::string_view url);

}  // namespace blocksieve::sieve
