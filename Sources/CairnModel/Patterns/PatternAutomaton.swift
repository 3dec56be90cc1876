// Runs a program over a text, without backtracking.
//
//   1. Where it is, is the set of the steps at which it may be: so every character is looked at once, and costs no more than
//      the program has steps.
//   2. A set of steps is a state. Where a state goes by a class of characters is noted, and the next time it is one look into
//      a table. States are made as texts need them. If there are too many, all are forgotten and it begins anew.
//   3. The state before a place is the set before conditions are asked; they are asked when the next character is taken. At
//      places where some of them hold the move is noted by state, conditions and class.
//
// Threads: one run at a time.

/// A program, and those of its states that have been computed.
struct PatternAutomaton {
    private let program: PatternProgram
    private let words: Int
    /// How many words the sets of a class have.
    private let setWords: Int
    private let mostStates: Int
    /// The classes that a row of the table has.
    private var stride: Int
    private var states: [[UInt64]] = []
    private var numbers: [[UInt64]: Int32] = [:]
    /// By state and class; -1 if it is not known.
    private var table: [Int32] = []
    /// The same at places where conditions hold.
    private var moves: [Move: Int32] = [:]
    private var ends: [Move: Bool] = [:]
    private var seen: [UInt64]
    private var stack: [Int] = []

    private struct Move: Hashable {
        let state: Int32
        let `class`: Int32
        let mask: UInt64
    }

    /// The state from which nothing leads on; not of a program that may begin anywhere.
    static let dead: Int32 = 0
    /// The state at the first place.
    static let first: Int32 = 1

    /// - Parameter classes: how many classes of characters there are.
    init(_ program: PatternProgram, setWords: Int, classes: Int) {
        self.program = program
        self.setWords = setWords
        words = (program.steps.count + 63) / 64
        stride = max(classes, 8)
        seen = Array(repeating: 0, count: words)
        // About a megabyte.
        mostStates = max(16, 1_000_000 / (stride * 4 + words * 16 + 64))
        forget()
    }

    var isBackward: Bool { program.isBackward }
    var conditions: UInt64 { program.conditions }

    /// Makes room for another class.
    mutating func makeRoom(forClasses classes: Int) {
        guard classes > stride else { return }
        self = PatternAutomaton(program, setWords: setWords, classes: 2 * classes)
    }

    mutating func forget() {
        states.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        table.removeAll(keepingCapacity: true)
        moves.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        let none = [UInt64](repeating: 0, count: words)
        var first = none
        first[program.start / 64] |= 1 << UInt64(program.start % 64)
        _ = number(of: none)
        _ = number(of: first)
    }

    private mutating func number(of state: [UInt64]) -> Int32 {
        if let number = numbers[state] { return number }
        let number = Int32(states.count)
        states.append(state)
        numbers[state] = number
        table.append(contentsOf: repeatElement(-1, count: stride))
        return number
    }

    // MARK: Moving

    /// The state behind a character.
    ///
    /// - Parameters:
    ///   - mask: the conditions that hold at the place before it.
    ///   - signatures: the sets of characters that each class is in, as bits.
    @inline(__always)
    mutating func move(_ state: Int32, _ class: Int32, mask: UInt64, _ signatures: [UInt64])
        -> Int32
    {
        if mask & program.conditions == 0 {
            let known = table[Int(state) * stride + Int(`class`)]
            if known >= 0 { return known }
        }
        return moveSlowly(state, `class`, mask: mask & program.conditions, signatures)
    }

    private mutating func moveSlowly(
        _ state: Int32, _ class: Int32, mask: UInt64, _ signatures: [UInt64]
    ) -> Int32 {
        let move = Move(state: state, class: `class`, mask: mask)
        if mask != 0, let known = moves[move] { return known }
        var next = [UInt64](repeating: 0, count: words)
        if program.isFloating { next[program.start / 64] |= 1 << UInt64(program.start % 64) }
        let sets = Int(`class`) * setWords
        _ = reach(from: state, mask) { step in
            guard case .take(let set, let target) = step,
                signatures[sets + set / 64] & (1 << UInt64(set % 64)) != 0
            else { return }
            next[target / 64] |= 1 << UInt64(target % 64)
        }
        if states.count >= mostStates || moves.count >= 4 * mostStates {
            forget()
            return number(of: next)
        }
        let number = number(of: next)
        if mask == 0 {
            table[Int(state) * stride + Int(`class`)] = number
        } else {
            moves[move] = number
        }
        return number
    }

    /// Whether the text may end in a state.
    mutating func ends(_ state: Int32, mask: UInt64) -> Bool {
        let end = Move(state: state, class: -1, mask: mask & program.conditions)
        if let known = ends[end] { return known }
        let does = reach(from: state, end.mask) { _ in }
        if ends.count >= 4 * mostStates { ends.removeAll(keepingCapacity: true) }
        ends[end] = does
        return does
    }

    /// Visits the steps that are reached from a state without taking a character; whether the end is one of them.
    private mutating func reach(
        from state: Int32, _ mask: UInt64, _ visit: (PatternProgram.Step) -> Void
    ) -> Bool {
        for word in 0..<words { seen[word] = 0 }
        stack.removeAll(keepingCapacity: true)
        var ends = false
        func go(_ step: Int, _ seen: inout [UInt64], _ stack: inout [Int]) {
            let bit: UInt64 = 1 << UInt64(step % 64)
            guard seen[step / 64] & bit == 0 else { return }
            seen[step / 64] |= bit
            stack.append(step)
        }
        let from = states[Int(state)]
        for word in 0..<words {
            var bits = from[word]
            while bits != 0 {
                go(word * 64 + bits.trailingZeroBitCount, &seen, &stack)
                bits &= bits - 1
            }
        }
        while let number = stack.popLast() {
            let step = program.steps[number]
            switch step {
            case .take: visit(step)
            case .both(let one, let other):
                go(one, &seen, &stack)
                go(other, &seen, &stack)
            case .condition(let bit, let holds, let next):
                if (mask & (1 << UInt64(bit)) != 0) == holds { go(next, &seen, &stack) }
            case .accept: ends = true
            }
        }
        return ends
    }
}
