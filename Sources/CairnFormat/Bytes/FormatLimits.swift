// The numbers of the format.                                                        Format 10
//
// None of them may change within a format version: each says what would break.

/// The version in the stores that this code writes. Version 1 is frozen: every later version reads its
/// stores. (There was a draft 0, which no version reads.)
package enum FormatVersion {
    package static let current: UInt32 = 1
}

package enum FormatLimits {
    /// The size of a segment header in bytes: one page of any disk, so that the frames after it begin on a
    /// page.
    package static let segmentHeaderSize = 4096
    /// Frames begin at multiples of this, so that a place (offset / 8) fits 32 bits, and a scan for headers
    /// after damage checks only an eighth of the offsets.
    package static let frameAlignment = 8
    /// The size that a reader may allocate for any frame unconditionally, in bytes; a larger payload is
    /// damage.
    package static let maximumPayload = 16 << 20
    /// The maximum size of a cell that replaces cells of older blocks, in bytes.                        F-717
    package static let maximumPastCell = 1 << 20

    /// A slot has 10 bits of a directory cell.
    package static let maximumRows = 1024
    /// Below this, compression and zone maps cost more than they save (BL6).
    package static let minimumRowsToCompress = 32
    /// The limit for all slices of a block before LZ4, in bytes; decoders allocate no more.
    package static let maximumRawBlock = 16 << 20
    /// The size that writers aim for, in bytes.
    package static let nominalRawBlock = 64 << 10
    /// Positions in the log, offsets and commit numbers are below this: adding to one must not trap.
    package static let maximumLSN: UInt64 = 1 << 62
    /// Object numbers start at 1; 0 is none, and all ones is never issued.
    package static let maximumNumber: UInt32 = 0xffff_fffe
    /// Row versions have 22 bits of a directory cell; 0 is skipped.
    package static let maximumVersion: UInt32 = (1 << 22) - 1
    /// Property ids from here on are reserved for the format.
    package static let firstHiddenProperty: UInt32 = 0xffff_ff00
}

/// The columns that every block has in addition to those of its entity.
package enum HiddenProperty {
    /// The object number.
    package static let number: UInt32 = 0xffff_fffe
    /// The row version.
    package static let version: UInt32 = 0xffff_ffff
}
