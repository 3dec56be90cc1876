// The tokens of formats that were read before: a program asks with the same few texts over and over, and cutting a text into
// tokens takes longer than anything else about it.
//
// Strings are equal if they look the same, tokens are of what was written: only texts in ASCII, which are alike in neither
// way without the other, are known again.
//
// Threads: any; one lock.

import Synchronization

enum KnownFormats {
    /// So many are known; one more, and it begins anew.
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
