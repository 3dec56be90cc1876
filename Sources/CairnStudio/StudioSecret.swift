// Secrets of a session: 256 random bits as text.
//
// Threads: values.

/// A secret that nobody guesses.
struct StudioSecret: Sendable {
    let text: String

    /// A new one, from the system's generator.
    init() {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        text = String(
            (0..<64).map { _ in digits[Int.random(in: 0..<16, using: &generator)] })
    }

    /// Whether a text is the secret. How long that takes says nothing of where they differ.
    func matches(_ other: some StringProtocol) -> Bool {
        let mine = Array(text.utf8)
        let others = Array(other.utf8)
        guard mine.count == others.count else { return false }
        return zip(mine, others).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
