// The functions of expressions: their names, argument counts, and the operators for arithmetic.

extension ExpressionNode {
    /// A function, by its name in the format language.
    public enum Function: String, Sendable, Hashable, CaseIterable, Codable {
        /// `a + b`.
        case add = "add:to:"
        /// `a - b`.
        case subtract = "from:subtract:"
        /// `a * b`.
        case multiply = "multiply:by:"
        /// `a / b`: the integer quotient for two integers. Division by zero gives nil.
        case divide = "divide:by:"
        /// The remainder of a division, with the sign of the dividend.
        case modulus = "modulus:by:"
        /// `a ** b`.
        case raise = "raise:toPower:"
        /// `a & b`.
        case bitwiseAnd = "bitwiseAnd:with:"
        /// `a | b`.
        case bitwiseOr = "bitwiseOr:with:"
        /// `a ^ b`.
        case bitwiseXor = "bitwiseXor:with:"
        /// `a << b`.
        case shiftLeft = "leftshift:by:"
        /// `a >> b`.
        case shiftRight = "rightshift:by:"
        /// `~a`.
        case onesComplement = "onesComplement:"
        /// The sum of numbers.
        case sum = "sum:"
        /// The number of members.
        case count = "count:"
        /// The minimum.
        case minimum = "min:"
        /// The maximum.
        case maximum = "max:"
        /// The average of numbers.
        case average = "average:"
        /// The median of numbers.
        case median = "median:"
        /// The most frequent numbers.
        case mode = "mode:"
        /// The population standard deviation of numbers.
        case standardDeviation = "stddev:"
        /// The square root.
        case squareRoot = "sqrt:"
        /// The logarithm to base 10.
        case logarithm = "log:"
        /// The natural logarithm.
        case naturalLogarithm = "ln:"
        /// e raised to a power.
        case exponential = "exp:"
        /// The number rounded down to an integer.
        case floor = "floor:"
        /// The number rounded up to an integer.
        case ceiling = "ceiling:"
        /// The absolute value.
        case absolute = "abs:"
        /// The number truncated to an integer.
        case truncate = "trunc:"
        /// A string in upper case.
        case uppercase = "uppercase:"
        /// A string in lower case.
        case lowercase = "lowercase:"
        /// A string without case and diacritics.
        case canonical = "canonical:"
        /// The number of characters of a string.
        case length = "length:"
        /// A random number from 0 up to, but not including, 1.
        case random = "random"
        /// A random integer from 0 up to, but not including, the argument.
        case randomBelow = "random:"
        /// The time at which evaluation of the predicate began.
        case now = "now"
        /// The value itself; a hint not to use an index.
        case noindex = "noindex:"
        /// The distance between two locations.
        case distance = "distanceToLocation:fromLocation:"

        /// How many arguments it takes.
        package var arity: ClosedRange<Int> {
            switch self {
            case .random, .now: 0...0
            case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
                1...Int.max
            default:
                switch rawValue.utf8.count(where: { $0 == UInt8(ascii: ":") }) {
                case 2: 2...2
                default: 1...1
                }
            }
        }

        /// The function that was meant by a name that there is none of: the one that begins as it does for longest, by two
        /// letters at least, as `average:` for `avg:`.
        static func similar(to name: String) -> Function? {
            func shared(_ function: Function) -> Int {
                zip(function.rawValue.lowercased(), name.lowercased()).prefix { $0 == $1 }.count
            }
            return allCases.filter { shared($0) > 1 }.max { shared($0) < shared($1) }
        }

        /// The sign between its two arguments, and how tightly it binds: more is tighter.
        var sign: (text: String, precedence: Int)? {
            switch self {
            case .bitwiseOr: ("|", 2)
            case .bitwiseXor: ("^", 3)
            case .bitwiseAnd: ("&", 4)
            case .shiftLeft: ("<<", 5)
            case .shiftRight: (">>", 5)
            case .add: ("+", 6)
            case .subtract: ("-", 6)
            case .multiply: ("*", 7)
            case .divide: ("/", 7)
            case .raise: ("**", 8)
            default: nil
            }
        }

        /// The function of a sign.
        init?(sign: String) {
            guard let function = Self.bySign[sign] else { return nil }
            self = function
        }

        private static let bySign = Dictionary(
            uniqueKeysWithValues: allCases.compactMap { function in
                function.sign.map { ($0.text, function) }
            })

        /// The function of a name as people write it: colons may be left out, and case does not matter.
        init?(name: String, argumentCount: Int) {
            let plain = name.lowercased().filter { $0 != ":" }
            guard let functions = Self.byName[plain] else { return nil }
            // `random` and `random:` differ in nothing but their arguments.
            self = functions.first { $0.arity.contains(argumentCount) } ?? functions[0]
        }

        private static let byName = Dictionary(
            grouping: allCases, by: { $0.rawValue.lowercased().filter { $0 != ":" } })
    }
}
