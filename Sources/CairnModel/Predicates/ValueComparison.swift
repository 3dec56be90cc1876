// The comparison of two values, for everything that evaluates predicates.
//
//   1. Nil equals nil and nothing else; every other comparison with nil is false.
//   2. Numbers of all types and truth values are compared by size, exactly; dates with dates.
//   3. Texts are compared by their bytes, which is scalar by scalar: two ways to write a letter are two texts, as they are for
//      keys and indexes. With options both are folded first, which makes them one: [c] and [d] in the same way in every locale;
//      [l] orders by letters first and by their case and accents after that.
//   4. Values of kinds that have nothing to do with each other are not equal and have no order.
//   5. What is no number equals nothing, and nothing is less or greater.
//
// Threads: a value.

import FoundationEssentials

/// The comparison of two values.
package struct ValueComparison: Sendable {
    package let `operator`: PredicateNode.Comparison.Operator
    package let options: PredicateNode.Comparison.Options

    package init(
        operator: PredicateNode.Comparison.Operator,
        options: PredicateNode.Comparison.Options = []
    ) {
        self.operator = `operator`
        self.options = options
    }

    /// Whether it holds. IN and CONTAINS ask whether one text is in another; BETWEEN, LIKE and MATCHES are of
    /// no single value, and do not hold.
    package func holds(_ left: Value, _ right: Value) -> Bool {
        switch `operator` {
        case .equal: return equals(left, right)
        case .notEqual: return !equals(left, right)
        case .less: return order(left, right).map { $0 < 0 } ?? false
        case .lessOrEqual: return order(left, right).map { $0 <= 0 } ?? false
        case .greater: return order(left, right).map { $0 > 0 } ?? false
        case .greaterOrEqual: return order(left, right).map { $0 >= 0 } ?? false
        case .contains: return texts(left, right) { $0.isIn($1) }
        case .in: return texts(right, left) { $0.isIn($1) }
        case .beginsWith: return texts(left, right) { $1.utf8.starts(with: $0.utf8) }
        case .endsWith:
            return texts(left, right) { $1.utf8.reversed().starts(with: $0.utf8.reversed()) }
        case .between, .like, .matches: return false
        }
    }

    /// Whether a text is like a pattern.
    package func isLike(_ text: Value, _ pattern: Value) -> Bool {
        guard case .string(let text) = text, case .string(let pattern) = pattern else {
            return false
        }
        return LikePattern(folded(pattern)).matches(folded(text))
    }

    /// Asks something of a part and a whole.
    private func texts(_ whole: Value, _ part: Value, _ ask: (String, String) -> Bool) -> Bool {
        guard case .string(let whole) = whole, case .string(let part) = part else { return false }
        return ask(folded(part), folded(whole))
    }

    /// A text as it is compared.
    package func folded(_ text: String) -> String {
        let isCaseless = options.contains(.caseInsensitive)
        let isPlain = options.contains(.diacriticInsensitive)
        let isOfPeople = options.contains(.localeSensitive)
        // What is normalised already is taken as it is.
        guard isCaseless || isPlain || isOfPeople, !options.contains(.normalized) else {
            return text
        }
        return text.folded(case: isCaseless, diacritics: isPlain)
    }

    /// Whether two values are equal.
    package func equals(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.string(let a), .string(let b)): return folded(a).hasSameBytes(as: folded(b))
        case (.binary(let a), .binary(let b)): return a == b
        case (.uuid(let a), .uuid(let b)): return a == b
        case (.uri(let a), .uri(let b)): return a.absoluteString == b.absoluteString
        case (.objectID(let a), .objectID(let b)): return a == b
        case (.objectID(let id), .uri(let uri)), (.uri(let uri), .objectID(let id)):
            return ObjectID(uriRepresentation: uri) == id
        default: return Number.order(left, right) == 0
        }
    }

    /// Negative, zero or positive; nil if the two have no order.
    package func order(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.null, _), (_, .null): return nil
        case (.string(let a), .string(let b)):
            let (a, b) = (folded(a), folded(b))
            if options.contains(.localeSensitive) {
                let letters = Self.bytes(
                    a.folded(case: true, diacritics: true).utf8,
                    b.folded(case: true, diacritics: true).utf8)
                if letters != 0 { return letters }
            }
            return Self.bytes(a.utf8, b.utf8)
        case (.binary(let a), .binary(let b)): return Self.bytes(a, b)
        case (.uri(let a), .uri(let b)):
            return Self.bytes(a.absoluteString.utf8, b.absoluteString.utf8)
        case (.uuid(let a), .uuid(let b)):
            return withUnsafeBytes(of: a.uuid) { a in
                withUnsafeBytes(of: b.uuid) { b in Self.bytes(a, b) }
            }
        default: return Number.order(left, right)
        }
    }

    /// The order of two lists of bytes: negative, zero or positive.
    @inlinable package static func bytes(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>)
        -> Int
    {
        var left = a.makeIterator()
        var right = b.makeIterator()
        while true {
            switch (left.next(), right.next()) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let a?, let b?): if a != b { return a < b ? -1 : 1 }
            }
        }
    }
}

extension String {
    /// Whether its bytes are in those of another text, one after the other.
    fileprivate func isIn(_ whole: String) -> Bool {
        let part = Array(utf8)
        guard let first = part.first else { return true }
        let whole = Array(whole.utf8)
        guard part.count <= whole.count else { return false }
        for start in 0...(whole.count - part.count)
        where whole[start] == first && whole[start...].starts(with: part) { return true }
        return false
    }
}
