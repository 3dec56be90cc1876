// All that a shared store holds: registers, which may be there or not, and accounts, which are always there and whose
// balances have one sum.
//
// Each value comes from one operation, whose stamp is beside it. So who knows the order of the operations knows all of it.

/// What somebody has read of a shared store.
package struct SharedContent: Sendable, Hashable {
    package struct Account: Sendable, Hashable {
        package var balance: Int64
        package var stamp: Int64

        package init(balance: Int64, stamp: Int64) {
            self.balance = balance
            self.stamp = stamp
        }
    }

    package static let registerCount = 24
    package static let accountCount = 8
    package static let firstBalance: Int64 = 1000

    /// By number: the stamp; 0 = it is not there.
    package var registers = [Int64](repeating: 0, count: registerCount)
    package var accounts = [Account](
        repeating: Account(balance: firstBalance, stamp: 0), count: accountCount)
    /// Keys that were there more than once, or belong to nothing.
    package var wrongKeys: [String] = []

    /// What a new store holds.
    package init() {}

    package var sum: Int64 { accounts.reduce(0) { $0 + $1.balance } }

    /// What an operation leaves of it.
    package mutating func apply(_ operation: SharedOperation, stamp: Int64) {
        switch operation {
        case .set(let numbers): for number in numbers { registers[number] = stamp }
        case .drop(let numbers): for number in numbers { registers[number] = 0 }
        case .claim(let number), .renew(let number, _): registers[number] = stamp
        case .move(let from, let to, let amount):
            accounts[from].balance -= amount
            accounts[from].stamp = stamp
            accounts[to].balance += amount
            accounts[to].stamp = stamp
        case .look, .refresh, .open, .backup, .check, .compact: break
        }
    }

    // MARK: As words

    package var text: String {
        var words = registers.indices.filter { registers[$0] != 0 }.map { "\($0)=\(registers[$0])" }
        words += accounts.indices.map { "a\($0)=\(accounts[$0].balance):\(accounts[$0].stamp)" }
        words += wrongKeys.map { "wrong=\($0)" }
        return words.joined(separator: " ")
    }

    /// The content that words say; nil if they say none.
    package init?(_ words: some Collection<Substring>) {
        var known: Set<Int> = []
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            if parts[0] == "wrong" {
                wrongKeys.append(String(parts[1]))
            } else if parts[0].first == "a" {
                let numbers = parts[1].split(separator: ":").compactMap { Int64($0) }
                guard let number = Int(parts[0].dropFirst()), numbers.count == 2,
                    accounts.indices.contains(number)
                else { return nil }
                known.insert(number)
                accounts[number] = Account(balance: numbers[0], stamp: numbers[1])
            } else {
                guard let number = Int(parts[0]), registers.indices.contains(number),
                    let stamp = Int64(parts[1])
                else { return nil }
                registers[number] = stamp
            }
        }
        // An account that was not found has lost its money.
        for number in accounts.indices where !known.contains(number) {
            accounts[number] = Account(balance: 0, stamp: -1)
        }
    }
}
