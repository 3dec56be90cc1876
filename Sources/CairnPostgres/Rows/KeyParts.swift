// The values encoded in the bytes of a key, for constraints that are indexes over their columns.
//
// A key of one column is the bytes of its value; of several, each has its length before it (`KeyBuffer` of the engine).
//
// Threads: a plain value.

struct KeyParts {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Appends the value of each column.
    func append(to arrays: inout [ColumnArray]) throws(SQLFailure) {
        guard arrays.count > 1 else { return try arrays[0].append(key: bytes[...]) }
        var rest = bytes[...]
        for index in arrays.indices {
            guard let length = Self.word(rest.prefix(4)), rest.count >= 4 + length else {
                throw SQLFailure(.unreadable, "a key has fewer parts than its constraint")
            }
            rest = rest.dropFirst(4)
            try arrays[index].append(key: rest.prefix(length))
            rest = rest.dropFirst(length)
        }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.count == 4 ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
    }
}
