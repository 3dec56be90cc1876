/// How full a block is when it is written. The commit that writes the 32nd block of one of the smaller levels
/// merges all of that level into one of the next.                                                         BL5
enum BlockLevel: UInt8, CaseIterable {
    /// Under a thirty-second of the maximum rows and bytes of a block.
    case tiny
    /// Under half of them.
    case partial
    /// Half of them or more.
    case full
}
