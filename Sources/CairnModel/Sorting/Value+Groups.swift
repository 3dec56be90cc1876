// When two values are equal as group keys, in distinct rows, and as members of sets.
//
//   1. Integers, doubles, floats and decimals are one if they are the same number, whatever their types; truth values are no
//      numbers here. Nothing is rounded: an integer that no double holds is equal to no double.
//   2. A fraction is the number that its shortest text means, as where decimals are compared with doubles and floats:
//      0.1 is one number as a decimal, a double and a float.
//   3. Both zeros are one, and all that is no number is one.
//
// Values that are one are equal when they are compared (see `Number`), and equal values are one, but for this:
//
//   - A float and a double are compared as the binary numbers that they are. 0.1 of either type is one here, and not equal
//     there; of a float and the double that it is exactly it is the other way round.
//   - Truth values equal 0 and 1, ids their URIs; here they do not. What is no number does not even equal itself.
//
// Threads: values.

import FoundationEssentials

extension Value {
    /// The value as a group key: both zeros are the same key.
    package var asGroupKey: Value {
        switch self {
        case .double(let value) where value == 0: .double(0)
        case .float(let value) where value == 0: .float(0)
        default: self
        }
    }

    /// What a value is told apart by where others may have another type: the same for equal numbers.
    ///
    /// A whole number of 64 bits is an integer, any other one a double if that means the same, and a decimal if none does.
    /// Where all numbers have one type, ``asGroupKey`` tells the same ones apart and takes less time.
    package var groupIdentity: Value {
        switch self {
        case .double(let number): Self.identity(number)
        case .float(let number):
            // The double of the same text: of a whole number, the same number.
            Self.identity(
                number.rounded() == number
                    ? Double(number) : Double("\(number)") ?? Double(number))
        case .decimal(let number): Self.identity(number)
        default: self
        }
    }

    private static func identity(_ number: Double) -> Value {
        if let whole = Int64(exactly: number) { return .integer(whole) }
        return .double(number)
    }

    private static func identity(_ number: Decimal) -> Value {
        if number.isNaN { return .double(.nan) }
        let text = "\(number)"
        if let whole = Int64(text) { return .integer(whole) }
        // If any double is the same number, it is the nearest one.
        guard let double = Double(text),
            Number.order(Number.decimal(number), Number.double(double)) == 0
        else { return .decimal(number) }
        return identity(double)
    }

    /// Whether numbers of several types are among values.
    static func hasMixedNumbers(_ values: some Sequence<Value>) -> Bool {
        var types: UInt8 = 0
        for value in values { types |= value.numberType }
        return types.nonzeroBitCount > 1
    }

    /// A bit for each type of numbers; none for what is no number.
    var numberType: UInt8 {
        switch self {
        case .integer: 1
        case .double: 2
        case .float: 4
        case .decimal: 8
        default: 0
        }
    }
}
