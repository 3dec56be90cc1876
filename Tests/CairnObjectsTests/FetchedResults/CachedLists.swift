// The tests of lists that are remembered by name, one after the other: the process has one cache, which some of them empty.

import Testing

/// Lists that are remembered by name.
@Suite("Lists that are remembered", .serialized)
enum CachedLists {}
