// The numbers of the format.                                                        Format 10
//
// None of them may change within a format version: what breaks is said at each.

/// The version that stores of this code say. Version 1 is frozen: every later version reads its stores. (There was a
/// draft 0, which none reads.)
package enum FormatVersion {
    package static let current: UInt32 = 1
}

package enum FormatLimits {
    /// The header of a segment: one page of any disk, so that the frames behind it begin on a page.
    package static let segmentHeaderSize = 4096
    /// Frames begin at multiples of this, so that a place (offset / 8) fits 32 bits and a scan for headers
    /// after damage looks at an eighth of the offsets.
    package static let frameAlignment = 8
    /// A reader may allocate this much for any frame without asking; a larger payload is damage.
    package static let maximumPayload = 16 << 20
    /// Bytes of a cell that stands for those of older blocks.                                            F-717
    package static let maximumPastCell = 1 << 20

    /// A slot takes 10 bits of a directory cell.
    package static let maximumRows = 1024
    /// Below this, compressing costs more than it saves, and zone maps too (BL6).
    package static let minimumRowsToCompress = 32
    /// What a block's slices may take before LZ4, all together; decoders allocate no more.
    package static let maximumRawBlock = 16 << 20
    /// What writers aim at instead.
    package static let nominalRawBlock = 64 << 10
    /// Positions in the log, offsets and commit numbers are below: adding to one must not trap.
    package static let maximumLSN: UInt64 = 1 << 62
    /// Object numbers run from 1; 0 is none, and all ones is never issued.
    package static let maximumNumber: UInt32 = 0xffff_fffe
    /// Row versions take 22 bits of a directory cell; 0 is skipped.
    package static let maximumVersion: UInt32 = (1 << 22) - 1
    /// Property ids from here on belong to the format.
    package static let firstHiddenProperty: UInt32 = 0xffff_ff00
}

/// The columns that every block has beside those of its entity.
package enum HiddenProperty {
    /// The object number.
    package static let number: UInt32 = 0xffff_fffe
    /// The row version.
    package static let version: UInt32 = 0xffff_ffff
}
