// A cache of the tokens of formats: programs use the same few formats repeatedly, and splitting a format into tokens takes
// longer than everything else about it.
//
// Strings are equal if they look the same, tokens are of what was written: only texts in ASCII, which are alike in neither
// way without the other, are known again.
//
// Threads: any; one lock.

import Synchronization

enum KnownFormats {
    /// The maximum number of cached formats. One more empties the cache.
    private static let most = 256
    /// Longer ones were made by a program, and will hardly come again.
    private static let longest = 512

    private static let known = Mutex<[String: [PredicateToken]]>([:])

    /// The tokens of a text; the last one is the end.
    static func tokens(of format: String) throws(PredicateFormatError) -> [PredicateToken] {
        guard format.utf8.count <= longest, format.utf8.allSatisfy({ $0 < 0x80 }) else {
            return try PredicateLexer.tokens(of: format)
        }
        if let tokens = known.withLock({ $0[format] }) { return tokens }
        let tokens = try PredicateLexer.tokens(of: format)
        known.withLock { known in
            if known.count >= most { known.removeAll(keepingCapacity: true) }
            known[format] = tokens
        }
        return tokens
    }
}
