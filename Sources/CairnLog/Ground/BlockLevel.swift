/// How full a block is when it is written. The commit that makes the 32nd block of one of the smaller levels
/// merges all of that level into one of the next.                                                       BL5
enum BlockLevel: UInt8, CaseIterable {
    /// Under a thirty-second of the rows and bytes a block may have.
    case tiny
    /// Under half of them.
    case partial
    /// More.
    case full
}
