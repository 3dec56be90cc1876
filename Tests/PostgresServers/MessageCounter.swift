// Finds the messages of PostgreSQL's protocol in a stream of bytes, whatever pieces it comes in.
//
// Each begins with its type and its length; the first one that a client sends has no type, and is not counted.
//
// Threads: one; a value.

struct MessageCounter {
    private var header: [UInt8] = []
    /// How much of the message in turn is to come.
    private var left = 0
    private var isFirst: Bool

    init(isClient: Bool) { isFirst = isClient }

    /// Where messages begin in the next piece.
    mutating func starts(in bytes: ArraySlice<UInt8>) -> [Int] {
        var starts: [Int] = []
        var place = bytes.startIndex
        while place < bytes.endIndex {
            if left > 0 {
                let step = min(left, bytes.endIndex - place)
                left -= step
                place += step
                continue
            }
            if header.isEmpty, !isFirst { starts.append(place) }
            header.append(bytes[place])
            place += 1
            let type = isFirst ? 0 : 1
            guard header.count == type + 4 else { continue }
            let length = header[type...].reduce(0) { $0 << 8 | Int($1) }
            left = max(0, length - 4)
            header = []
            isFirst = false
        }
        return starts
    }
}
