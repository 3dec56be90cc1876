/// A small generator whose numbers never change.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// - Parameter skipped: how many numbers are left out.
    init(state: UInt64, skipping skipped: Int = 0) {
        self.state = state &+ Self.step &* UInt64(skipped)
    }

    mutating func next() -> UInt64 {
        state &+= Self.step
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number in 0..<1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
