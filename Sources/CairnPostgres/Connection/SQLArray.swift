// An array for `unnest($1::int8[])`: one parameter with as many values as a batch has rows.
//
// Threads: one; a value.

import FoundationEssentials

/// Values of one type, including NULLs. They are encoded as they are appended, so there is no second copy of them.
struct SQLArray: Sendable {
    let elements: SQLType
    private(set) var count = 0
    private(set) var hasNull = false
    private(set) var fields = FieldBuffer()

    init(of elements: SQLType) { self.elements = elements }

    mutating func appendNull() {
        fields.appendNull()
        hasNull = true
        count += 1
    }

    /// Appends a number of the type whose size it has, or the microseconds of a time.
    mutating func append<T: FixedWidthInteger>(number: T) {
        fields.append(number: number)
        count += 1
    }

    mutating func append(bool: Bool) {
        fields.append(bool: bool)
        count += 1
    }

    mutating func append(float: Float) {
        fields.append(float: float)
        count += 1
    }

    mutating func append(double: Double) {
        fields.append(double: double)
        count += 1
    }

    mutating func append(uuid: UUID) {
        fields.append(uuid: uuid)
        count += 1
    }

    mutating func append(text: String) throws(SQLFailure) {
        try fields.append(text: text)
        count += 1
    }

    mutating func append(numeric text: String) throws(SQLFailure) {
        try fields.append(numeric: text)
        count += 1
    }

    mutating func append(bytes: [UInt8]) throws(SQLFailure) {
        try fields.append(bytes: bytes)
        count += 1
    }

    mutating func append(data: Data) throws(SQLFailure) {
        try fields.append(data: data)
        count += 1
    }

    /// Appends what a closure writes: one field.
    mutating func append(
        isNull: Bool, _ write: (inout FieldBuffer) throws(SQLFailure) -> Void
    ) throws(SQLFailure) {
        try write(&fields)
        if isNull { hasNull = true }
        count += 1
    }

    /// Appends a parameter, which has to be of the array's type or NULL.
    mutating func append(_ parameter: SQLParameter) throws(SQLFailure) {
        let type = parameter.type
        guard type != .unspecified else { return appendNull() }
        precondition(type == elements, "the value does not have the array's type")
        try fields.append(parameter)
        count += 1
    }
}

extension SQLArray {
    static func int64s(_ numbers: [Int64?]) -> SQLArray { integers(.int64, numbers) }
    static func int32s(_ numbers: [Int32?]) -> SQLArray { integers(.int32, numbers) }
    static func int16s(_ numbers: [Int16?]) -> SQLArray { integers(.int16, numbers) }

    static func texts(_ texts: [String?]) throws(SQLFailure) -> SQLArray {
        var array = SQLArray(of: .text)
        for text in texts {
            if let text { try array.append(text: text) } else { array.appendNull() }
        }
        return array
    }

    private static func integers<T: FixedWidthInteger>(
        _ type: SQLType, _ numbers: [T?]
    ) -> SQLArray {
        var array = SQLArray(of: type)
        array.fields.reserve(numbers.count * (4 + MemoryLayout<T>.size))
        for number in numbers {
            if let number { array.append(number: number) } else { array.appendNull() }
        }
        return array
    }
}
