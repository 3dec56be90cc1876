// The values of a batch of statements in one piece of memory, in the form for libpq: a pointer and a length for each.
//
// All are encoded before the first statement is sent: a value that is refused leaves nothing half done.
//
// Threads: one; a value.

struct EncodedBatch {
    private var buffer = FieldBuffer()
    /// The start and length of each field.
    private var starts: [Int] = []
    private var firsts: [Int] = [0]

    /// More do not fit into the protocol.
    private static let mostParameters = 65_535

    init(_ statements: [Statement]) throws(SQLFailure) {
        for (index, statement) in statements.enumerated() {
            guard statement.parameters.count <= Self.mostParameters else {
                throw SQLFailure(
                    .unencodable,
                    "a statement has \(statement.parameters.count) values; at most \(Self.mostParameters) can be sent: send arrays"
                ).at(statement: index)
            }
            for (place, parameter) in statement.parameters.enumerated() {
                starts.append(buffer.count)
                do throws(SQLFailure) {
                    try buffer.append(parameter)
                } catch {
                    throw error.at(parameter: place).at(statement: index)
                }
            }
            firsts.append(starts.count)
        }
        starts.append(buffer.count)
    }

    /// The size of a statement's values in bytes.
    func size(of statement: Int) -> Int {
        starts[firsts[statement + 1]] - starts[firsts[statement]]
    }

    /// Calls a closure with the values of a statement.
    func withValues<R>(
        of statement: Int, _ arrays: inout ParameterArrays, _ body: (borrowing ParameterArrays) -> R
    ) -> R {
        buffer.bytes.withUnsafeBytes { bytes in
            arrays.removeAll()
            for field in firsts[statement]..<firsts[statement + 1] {
                let start = starts[field]
                let length = Int32(
                    bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int32.self))
                let value = length < 0 ? nil : bytes.baseAddress.map { $0 + start + 4 }
                arrays.append(value?.assumingMemoryBound(to: CChar.self), max(0, length))
            }
            return body(arrays)
        }
    }
}

/// What libpq takes, kept from statement to statement so that its memory is.
struct ParameterArrays {
    private(set) var values: [UnsafePointer<CChar>?] = []
    private(set) var lengths: [CInt] = []
    /// All in binary form.
    private(set) var formats: [CInt] = []

    var count: CInt { CInt(values.count) }

    fileprivate mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
    }

    fileprivate mutating func append(_ value: UnsafePointer<CChar>?, _ length: CInt) {
        values.append(value)
        lengths.append(length)
        formats.append(1)
    }
}
