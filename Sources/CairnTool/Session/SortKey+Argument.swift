// A key of --sort on the command line: name, -name, or either followed by nulls first or nulls last.

import CairnModel

extension SortKey {
    /// Parses a part of the list.
    ///
    /// - Throws: `Failure` if nothing follows the minus.
    init(argument part: String) throws {
        var name = part[...]
        var nulls: SortKey.NullsPosition?
        let words = part.split(separator: " ")
        if words.count > 2, words[words.count - 2].lowercased() == "nulls",
            let position = SortKey.NullsPosition(rawValue: words[words.count - 1].lowercased())
        {
            nulls = position
            name = part[..<words[words.count - 3].endIndex]
        }
        guard name.hasPrefix("-") else {
            self.init(String(name), nulls: nulls)
            return
        }
        guard name != "-" else {
            throw Failure("--sort: there is no key after the -", code: .usage)
        }
        self.init(String(name.dropFirst()), ascending: false, nulls: nulls)
    }
}
