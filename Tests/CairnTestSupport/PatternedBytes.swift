// Large values for tests.

package import Foundation

/// Bytes that differ from place to place, and from seed to seed.
///
/// They are made 8 KiB at a time, each but the first with its number at its end: one by one, millions of bytes take seconds in a debug build.
package func patternedBytes(_ count: Int, seed: Int = 0) -> Data {
    var piece = [UInt8](repeating: 0, count: min(count, 1 << 13))
    for place in piece.indices {
        piece[place] = UInt8(truncatingIfNeeded: (place &* 7919) >> 5 ^ place &+ seed &* 31)
    }
    var bytes = Data(capacity: count + piece.count)
    var number: UInt32 = 0
    while bytes.count < count {
        if number > 0 {
            withUnsafeBytes(of: number.littleEndian) {
                piece.replaceSubrange((piece.count - $0.count)..., with: $0)
            }
        }
        bytes.append(contentsOf: piece)
        number += 1
    }
    return Data(bytes.prefix(count))
}
