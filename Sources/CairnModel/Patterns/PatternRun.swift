// Matches texts; everything that is computed on the way is kept for the next text.
//
//   1. Characters that are in the same sets are of one class. The classes of ASCII are known from the start, those of other
//      characters of one scalar when they are met.
//   2. A text becomes the list of its classes. ASCII without CR is read by bytes: there a character is a byte.
//   3. If places matter, what holds at each is found first: anchors by the characters beside it, then what is looked for.
//
// Threads: one run at a time.

/// One run of a regular expression.
struct PatternRun {
    private let sets: [PatternSet]
    private let setWords: Int
    private let wordSet: Int
    private let newlineSet: Int
    private let conditions: UInt64
    private var looks: [PatternAutomaton]
    private var whole: PatternAutomaton
    private var ascii: [Int32] = []
    private var scalars: [UInt32: Int32] = [:]
    /// The sets that each class is in.
    private var signatures: [UInt64] = []
    private var classes: [[UInt64]: Int32] = [:]
    /// The text that is asked, and what holds at its places.
    private var text: [Int32] = []
    private var masks: [UInt64] = []

    private static let mostClasses = 1_024
    /// The memory for longer texts is given back.
    private static let longestKept = 65_536

    init(_ programs: PatternPrograms) {
        sets = programs.sets
        let words = (sets.count + 63) / 64
        setWords = words
        wordSet = programs.wordSet
        newlineSet = programs.newlineSet
        conditions = programs.conditions
        var automata = programs.programs.map { PatternAutomaton($0, setWords: words, classes: 0) }
        whole = automata.removeLast()
        looks = automata
        classifyASCII()
    }

    // MARK: Classes

    private mutating func classifyASCII() {
        ascii.removeAll(keepingCapacity: true)
        for byte in UInt8(0)..<128 {
            ascii.append(newClass(of: Character(Unicode.Scalar(byte))))
        }
    }

    /// Forgets the classes if there are too many: those of the text in hand are made anew.
    private mutating func forgetClasses() {
        classes.removeAll()
        signatures.removeAll()
        scalars.removeAll()
        classifyASCII()
        for index in looks.indices { looks[index].forget() }
        whole.forget()
    }

    private mutating func newClass(of character: Character) -> Int32 {
        var signature = [UInt64](repeating: 0, count: setWords)
        for (number, set) in sets.enumerated() where set.contains(character) {
            signature[number / 64] |= 1 << UInt64(number % 64)
        }
        if let known = classes[signature] { return known }
        let number = Int32(classes.count)
        classes[signature] = number
        signatures += signature
        for index in looks.indices { looks[index].makeRoom(forClasses: classes.count) }
        whole.makeRoom(forClasses: classes.count)
        return number
    }

    private mutating func classOf(_ character: Character) -> Int32 {
        let scalar = character.unicodeScalars
        guard let first = scalar.first, scalar.count == 1 else { return newClass(of: character) }
        if first.isASCII { return ascii[Int(first.value)] }
        if let known = scalars[first.value] { return known }
        let number = newClass(of: character)
        if scalars.count >= Self.mostClasses { scalars.removeAll(keepingCapacity: true) }
        scalars[first.value] = number
        return number
    }

    private mutating func read(_ text: String) {
        if classes.count > Self.mostClasses { forgetClasses() }
        self.text.removeAll(keepingCapacity: true)
        var text = text
        let isRead = text.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) else { return false }
            for byte in bytes { self.text.append(ascii[Int(byte)]) }
            return true
        }
        if isRead { return }
        for character in text { self.text.append(classOf(character)) }
    }

    private func isIn(_ set: Int, _ number: Int32) -> Bool {
        signatures[Int(number) * setWords + set / 64] & (1 << UInt64(set % 64)) != 0
    }

    // MARK: Matching

    /// Whether the whole of a text matches.
    ///
    /// Complexity: the length of the text, times that of the pattern at most.
    mutating func matches(_ text: String) -> Bool {
        read(text)
        defer {
            if self.text.count > Self.longestKept {
                self.text = []
                masks = []
            }
        }
        if conditions != 0 { findConditions() }
        var state = PatternAutomaton.first
        for place in self.text.indices {
            state = whole.move(
                state, self.text[place], mask: conditions == 0 ? 0 : masks[place], signatures)
            if state == PatternAutomaton.dead { return false }
        }
        return whole.ends(state, mask: conditions == 0 ? 0 : masks[self.text.count])
    }

    private mutating func findConditions() {
        let count = text.count
        masks.removeAll(keepingCapacity: true)
        for place in 0...count {
            let isNewlineBefore = place > 0 && isIn(newlineSet, text[place - 1])
            let isNewline = place < count && isIn(newlineSet, text[place])
            let isWordBefore = place > 0 && isIn(wordSet, text[place - 1])
            let isWord = place < count && isIn(wordSet, text[place])
            var mask: UInt64 = 0
            func set(_ anchor: PatternAnchor, _ holds: Bool) {
                if holds { mask |= 1 << UInt64(anchor.bit) }
            }
            set(.start, place == 0)
            set(.end, place == count)
            set(.lastLineEnd, place == count || place == count - 1 && isNewline)
            set(.lineStart, place == 0 || isNewlineBefore)
            set(.lineEnd, place == count || isNewline)
            set(.wordBoundary, isWordBefore != isWord)
            masks.append(mask)
        }
        for index in looks.indices { look(index) }
    }

    /// Finds where one of the programs that look ahead or behind holds.
    private mutating func look(_ index: Int) {
        let bit: UInt64 = 1 << UInt64(Int(PatternAnchor.count) + index)
        let count = text.count
        var state = PatternAutomaton.first
        let isBackward = looks[index].isBackward
        for step in 0...count {
            let place = isBackward ? count - step : step
            if looks[index].ends(state, mask: masks[place]) { masks[place] |= bit }
            if step == count { break }
            state = looks[index].move(
                state, text[isBackward ? place - 1 : place], mask: masks[place], signatures)
        }
    }
}
