// What a process does to a store that it shares with others, in words that one process says and another one reads.
//
// The words say all that the operation will change, so that who hears them knows what was done if it was done, though the
// process has died.

/// An operation of a process on the shared store.
package enum SharedOperation: Sendable, Hashable {
    /// Registers get the operation's stamp, whether they are there or not.
    case set([Int])
    /// Registers are deleted, if they are there.
    case drop([Int])
    /// A register is made, if it is not there.
    case claim(Int)
    /// A register is deleted and another object with its key made, if it still has the stamp that was read before, or is gone
    /// already.
    case renew(Int, seen: Int64)
    /// An amount goes from one account to another.
    case move(from: Int, to: Int, amount: Int64)
    /// All is read as this process has it.
    case look
    /// All is read after the store was refreshed.
    case refresh
    /// The store is opened, and all is read.
    case open
    /// The store is backed up, and the backup is read.
    case backup
    case check
    case compact

    /// Whether what it reads must be what had been made durable when it was begun.
    package var isRecent: Bool { self == .refresh || self == .open }

    /// Whether it is to be a commit.
    package var isWrite: Bool {
        switch self {
        case .set, .drop, .claim, .renew, .move: true
        case .look, .refresh, .open, .backup, .check, .compact: false
        }
    }

    /// The operation as words.
    package var text: String {
        func list(_ name: String, _ numbers: [Int]) -> String {
            ([name] + numbers.map { "\($0)" }).joined(separator: " ")
        }
        return switch self {
        case .set(let registers): list("set", registers)
        case .drop(let registers): list("drop", registers)
        case .claim(let register): "claim \(register)"
        case .renew(let register, let stamp): "renew \(register) \(stamp)"
        case .move(let from, let to, let amount): "move \(from) \(to) \(amount)"
        case .look: "look"
        case .refresh: "refresh"
        case .open: "open"
        case .backup: "backup"
        case .check: "check"
        case .compact: "compact"
        }
    }

    /// The operation that words say; nil if they say none.
    package init?(_ words: some Collection<Substring>) {
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard let name = words.first, numbers.count == words.count - 1 else { return nil }
        switch (name, numbers.count) {
        case ("set", 1...): self = .set(numbers.map { Int($0) })
        case ("drop", 1...): self = .drop(numbers.map { Int($0) })
        case ("claim", 1): self = .claim(Int(numbers[0]))
        case ("renew", 2): self = .renew(Int(numbers[0]), seen: numbers[1])
        case ("move", 3):
            self = .move(from: Int(numbers[0]), to: Int(numbers[1]), amount: numbers[2])
        case ("look", 0): self = .look
        case ("refresh", 0): self = .refresh
        case ("open", 0): self = .open
        case ("backup", 0): self = .backup
        case ("check", 0): self = .check
        case ("compact", 0): self = .compact
        default: return nil
        }
    }
}
