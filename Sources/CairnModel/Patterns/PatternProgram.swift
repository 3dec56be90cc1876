// A regular expression as a list of instructions, by Thompson's construction.
//
//   1. The list is built from the end: each part knows where the text goes on behind it.
//   2. A part that is repeated up to a number of times is there as often. What would become too long is refused, and so is
//      what would take too long to build although it comes to nothing.
//   3. What is looked for ahead or behind is a program of its own. That it holds at a place is known before the program that
//      asks for it runs: ahead is read from the end of the text, behind from its start. So programs for what lies ahead are
//      built the other way round.
//
// Threads: immutable, so any.

/// The instructions of a regular expression, or of a lookahead or lookbehind in it.
struct PatternProgram: Sendable {
    enum Step: Sendable {
        /// Consumes one character of a set.
        case take(set: Int, next: Int)
        /// Continues at both.
        case both(Int, Int)
        /// Continues if a condition on the position holds.
        case condition(bit: UInt8, holds: Bool, next: Int)
        /// The text can end here.
        case accept
    }

    fileprivate(set) var steps: [Step] = [.accept]
    fileprivate(set) var start = 0
    /// The conditions on places that it asks for.
    fileprivate(set) var conditions: UInt64 = 0
    /// Whether it is read from the end of the text.
    let isBackward: Bool
    /// Whether it may begin at every place: it is what is looked for, not the whole.
    let isFloating: Bool
}

/// All programs of a regular expression, and the sets of characters that they ask for.
struct PatternPrograms: Sendable {
    /// The most steps of a program, and the most that are there for one repetition.
    static let mostSteps = 20_000
    static let mostRepeated = 5_000
    /// What is looked for ahead and behind has bits in one mask.
    private static let mostLooks = 64 - Int(PatternAnchor.count)

    /// What is looked for, each only with those before it, and the whole at last.
    private(set) var programs: [PatternProgram] = []
    let sets: [PatternSet]
    /// The conditions on places that any program asks for.
    private(set) var conditions: UInt64 = 0
    /// The set that asks for letters of words, and for line ends, by number.
    let wordSet: Int
    let newlineSet: Int
    /// What is looked for, by its number in the pattern: the bit of it.
    private var looks: [Int: UInt8] = [:]
    /// How many parts were built.
    private var work = 0

    /// - Throws: `PatternError` if it is too long.
    init(_ node: PatternNode, sets: [PatternSet]) throws(PatternError) {
        // What a place is like is asked of the characters beside it.
        self.sets = sets + [.word, .newline]
        wordSet = sets.count
        newlineSet = sets.count + 1
        let whole = try program(of: node, isBackward: false, isFloating: false)
        programs.append(whole)
        for program in programs { conditions |= program.conditions }
    }

    private mutating func program(of node: PatternNode, isBackward: Bool, isFloating: Bool)
        throws(PatternError) -> PatternProgram
    {
        var program = PatternProgram(isBackward: isBackward, isFloating: isFloating)
        program.start = try add(node, before: 0, to: &program)
        return program
    }

    /// Adds the steps of a part that goes on at another step; where it begins.
    private mutating func add(
        _ node: PatternNode, before next: Int, to program: inout PatternProgram
    ) throws(PatternError) -> Int {
        work += 1
        if work > 4 * Self.mostSteps || program.steps.count > Self.mostSteps { throw .tooLong }
        switch node {
        case .empty: return next
        case .set(let set):
            return program.add(.take(set: set, next: next))
        case .sequence(let parts):
            var next = next
            if program.isBackward {
                for part in parts { next = try add(part, before: next, to: &program) }
            } else {
                for part in parts.reversed() { next = try add(part, before: next, to: &program) }
            }
            return next
        case .choice(let parts):
            var entry: Int?
            for part in parts.reversed() {
                let one = try add(part, before: next, to: &program)
                entry = entry.map { program.add(.both(one, $0)) } ?? one
            }
            return entry ?? next
        case .repeated(let part, let least, let most):
            return try add(part, least, most, before: next, to: &program)
        case .anchor(let anchor, let holds):
            program.conditions |= 1 << anchor.bit
            return program.add(.condition(bit: anchor.bit, holds: holds, next: next))
        case .look(let part, let ahead, let holds, let number):
            let bit = try look(for: part, ahead: ahead, number)
            program.conditions |= 1 << bit
            return program.add(.condition(bit: bit, holds: holds, next: next))
        }
    }

    private mutating func look(for part: PatternNode, ahead: Bool, _ number: Int)
        throws(PatternError) -> UInt8
    {
        if let bit = looks[number] { return bit }
        let program = try program(of: part, isBackward: ahead, isFloating: true)
        guard programs.count < Self.mostLooks else {
            throw PatternError(
                message: "it has more than \(Self.mostLooks) look-aheads and look-behinds",
                offset: nil)
        }
        programs.append(program)
        let bit = PatternAnchor.count + UInt8(programs.count - 1)
        looks[number] = bit
        return bit
    }

    private mutating func add(
        _ part: PatternNode, _ least: Int, _ most: Int?, before next: Int,
        to program: inout PatternProgram
    ) throws(PatternError) -> Int {
        let before = program.steps.count
        var entry = next
        var rest = least
        func check(_ program: PatternProgram) throws(PatternError) {
            if program.steps.count - before > Self.mostRepeated { throw .tooLong }
        }
        if let most {
            for _ in least..<most {
                entry = program.add(
                    .both(try add(part, before: entry, to: &program), next))
                try check(program)
            }
        } else {
            let loop = program.add(.both(next, next))
            let body = try add(part, before: loop, to: &program)
            program.steps[loop] = .both(body, next)
            entry = loop
            if rest > 0 {
                entry = body
                rest -= 1
            }
        }
        for _ in 0..<rest {
            entry = try add(part, before: entry, to: &program)
            try check(program)
        }
        return entry
    }
}

extension PatternProgram {
    fileprivate init(isBackward: Bool, isFloating: Bool) {
        self.isBackward = isBackward
        self.isFloating = isFloating
    }

    fileprivate mutating func add(_ step: Step) -> Int {
        steps.append(step)
        return steps.count - 1
    }
}

extension PatternError {
    fileprivate static var tooLong: PatternError {
        PatternError(
            message:
                "it has more than \(PatternPrograms.mostSteps) positions, or more than \(PatternPrograms.mostRepeated) in one repetition: use smaller repeat counts",
            offset: nil)
    }
}
