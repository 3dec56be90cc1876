// JSON in the one form in which stores write it: without white space, with the keys of every object in byte order, and with
// integers only.
//
// The general decoder finds out at run time what conforms to what, which the first time takes longer than all else
// that opening a store does. So what stores write themselves is read here. This reader judges nothing: of whatever
// has another form, or is of a kind that is seldom in a model, it says that it is not plain, and then the general
// decoder has the word.
//
// Invariants: what is read here, the general decoder reads alike.
// Threads: one reader in one thread.

/// The JSON does not have the plain form.
package struct NotPlainJSON: Error {
    package init() {}
}

/// Reads plain JSON value by value.
package struct PlainJSON {
    /// How far an object has been read.
    package struct Keys {
        fileprivate var last: Range<Int>?
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// Objects in each other that are open.
    private var depth = 0
    private static let maximumDepth = 64

    /// - Parameter bytes: what outlives the reader.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    // MARK: Bytes

    /// Takes a byte if it is next.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(NotPlainJSON) {
        guard take(byte) else { throw NotPlainJSON() }
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        for index in 0..<count where bytes[position + index] != word.utf8Start[index] {
            return false
        }
        position += count
        return true
    }

    /// Throws unless everything has been read.
    package func end() throws(NotPlainJSON) {
        guard position == bytes.count else { throw NotPlainJSON() }
    }

    // MARK: Objects and arrays

    /// Begins an object.
    package mutating func object() throws(NotPlainJSON) -> Keys {
        try expect(UInt8(ascii: "{"))
        depth += 1
        guard depth <= Self.maximumDepth else { throw NotPlainJSON() }
        return Keys()
    }

    /// The next key of an object, whose value is to be read then; nil at the object's end.
    package mutating func key(_ keys: inout Keys) throws(NotPlainJSON) -> String? {
        if take(UInt8(ascii: "}")) {
            depth -= 1
            return nil
        }
        if keys.last != nil { try expect(UInt8(ascii: ",")) }
        let (key, range) = try text()
        if let last = keys.last {
            // So none is there twice.
            guard bytes[last].lexicographicallyPrecedes(bytes[range]) else { throw NotPlainJSON() }
        }
        keys.last = range
        try expect(UInt8(ascii: ":"))
        return key
    }

    /// Begins an array.
    package mutating func array() throws(NotPlainJSON) { try expect(UInt8(ascii: "[")) }

    /// Whether an array goes on with an element, which is to be read then.
    ///
    /// - Parameter count: how many of its elements have been read.
    package mutating func element(after count: Int) throws(NotPlainJSON) -> Bool {
        if take(UInt8(ascii: "]")) { return false }
        if count > 0 { try expect(UInt8(ascii: ",")) }
        return true
    }

    // MARK: Values

    /// A truth value.
    package mutating func bool() throws(NotPlainJSON) -> Bool {
        if takeWord("true") { return true }
        if takeWord("false") { return false }
        throw NotPlainJSON()
    }

    /// A text without escapes.
    package mutating func string() throws(NotPlainJSON) -> String { try text().0 }

    /// A text, and where its bytes are.
    private mutating func text() throws(NotPlainJSON) -> (String, Range<Int>) {
        try expect(UInt8(ascii: "\""))
        let start = position
        var isASCII = true
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            guard bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\\") else {
                throw NotPlainJSON()
            }
            isASCII = isASCII && bytes[position] < 0x80
            position += 1
        }
        let range = start..<position
        try expect(UInt8(ascii: "\""))
        let units = UnsafeRawBufferPointer(rebasing: bytes[range])
        if isASCII { return (String(decoding: units, as: UTF8.self), range) }
        guard let text = String(validating: units, as: UTF8.self) else { throw NotPlainJSON() }
        return (text, range)
    }

    /// A whole number: whether it is negative, and how large.
    private mutating func number() throws(NotPlainJSON) -> (isNegative: Bool, magnitude: UInt64) {
        let isNegative = take(UInt8(ascii: "-"))
        let start = position
        var magnitude: UInt64 = 0
        while position < bytes.count, (48...57).contains(bytes[position]) {
            let (tens, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooLarge) = tens.addingReportingOverflow(
                UInt64(bytes[position] - 48))
            guard !isTooLarge, !isStillTooLarge else { throw NotPlainJSON() }
            magnitude = sum
            position += 1
        }
        // Not even a number with zeros before it, or a zero with a sign.
        guard position > start, bytes[start] != 48 || position == start + 1 && !isNegative,
            position == bytes.count || !Self.goesOn(bytes[position])
        else { throw NotPlainJSON() }
        return (isNegative, magnitude)
    }

    /// Whether a number that is not whole goes on like that.
    private static func goesOn(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
    }

    /// A number from 0 on.
    package mutating func uint64() throws(NotPlainJSON) -> UInt64 {
        let (isNegative, magnitude) = try number()
        guard !isNegative else { throw NotPlainJSON() }
        return magnitude
    }

    /// A number of 32 bits from 0 on.
    package mutating func uint32() throws(NotPlainJSON) -> UInt32 {
        guard let value = UInt32(exactly: try uint64()) else { throw NotPlainJSON() }
        return value
    }

    /// A number with a sign.
    package mutating func int64() throws(NotPlainJSON) -> Int64 {
        let (isNegative, magnitude) = try number()
        guard magnitude <= UInt64(Int64.max) else { throw NotPlainJSON() }
        return isNegative ? -Int64(magnitude) : Int64(magnitude)
    }

    /// A number with a sign.
    package mutating func int() throws(NotPlainJSON) -> Int {
        guard let value = Int(exactly: try int64()) else { throw NotPlainJSON() }
        return value
    }

    /// A list of texts.
    package mutating func strings() throws(NotPlainJSON) -> [String] {
        var list: [String] = []
        try array()
        while try element(after: list.count) { list.append(try string()) }
        return list
    }

    /// A list of lists of texts.
    package mutating func stringLists() throws(NotPlainJSON) -> [[String]] {
        var list: [[String]] = []
        try array()
        while try element(after: list.count) { list.append(try strings()) }
        return list
    }

    /// Texts by texts.
    mutating func dictionary() throws(NotPlainJSON) -> [String: String] {
        var dictionary: [String: String] = [:]
        var keys = try object()
        while let key = try key(&keys) {
            // Keys whose characters are the same may differ in bytes.
            guard dictionary.updateValue(try string(), forKey: key) == nil else {
                throw NotPlainJSON()
            }
        }
        return dictionary
    }
}
