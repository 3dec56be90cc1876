// The functions of expressions: their names, how many arguments they take, and how arithmetic is written.

extension ExpressionNode {
    /// A function, by the name that the format language gives it.
    public enum Function: String, Sendable, Hashable, CaseIterable, Codable {
        /// `a + b`.
        case add = "add:to:"
        /// `a - b`.
        case subtract = "from:subtract:"
        /// `a * b`.
        case multiply = "multiply:by:"
        /// `a / b`: of two integers the whole part. What is divided by zero is nil.
        case divide = "divide:by:"
        /// The rest of a division, with the sign of the first.
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
        /// How many members there are.
        case count = "count:"
        /// The least.
        case minimum = "min:"
        /// The greatest.
        case maximum = "max:"
        /// The average of numbers.
        case average = "average:"
        /// The number in the middle.
        case median = "median:"
        /// The numbers that occur most often.
        case mode = "mode:"
        /// The standard deviation of all the numbers there are.
        case standardDeviation = "stddev:"
        /// The square root.
        case squareRoot = "sqrt:"
        /// The logarithm to the base of ten.
        case logarithm = "log:"
        /// The natural logarithm.
        case naturalLogarithm = "ln:"
        /// The power of e.
        case exponential = "exp:"
        /// The greatest whole number that is not greater.
        case floor = "floor:"
        /// The least whole number that is not less.
        case ceiling = "ceiling:"
        /// The number without its sign.
        case absolute = "abs:"
        /// The number without its fraction.
        case truncate = "trunc:"
        /// A text in capital letters.
        case uppercase = "uppercase:"
        /// A text in small letters.
        case lowercase = "lowercase:"
        /// A text without regard to case and accents.
        case canonical = "canonical:"
        /// The number of characters of a text.
        case length = "length:"
        /// A number from 0 up to 1.
        case random = "random"
        /// A whole number from 0 up to one that is given.
        case randomBelow = "random:"
        /// The moment at which the predicate began to be evaluated.
        case now = "now"
        /// The value itself: a hint that no index is to be used.
        case noindex = "noindex:"
        /// The distance of two places.
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
