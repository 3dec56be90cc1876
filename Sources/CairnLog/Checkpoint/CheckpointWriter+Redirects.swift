// Redirects in a checkpoint.                                                            Format 85, F-862

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore

/// The size of an entry in bytes: tree, number, number of the survivor, turn, segment.
private let entryBytes = 20

extension CheckpointWriter {
    /// The number of entries in a part.
    private static var entriesPerUnit: Int { 65_536 }

    mutating func write(_ redirects: RedirectTable?) throws(FileSystemError) -> [CheckpointUnit] {
        guard let redirects else { return [] }
        var units: [CheckpointUnit] = []
        var count = 0
        for (key, entry) in redirects.entries.inKeyOrder() {
            raw.append(key.tree)
            raw.append(key.number)
            raw.append(entry.target)
            raw.append(entry.turn)
            raw.append(entry.segment)
            count += 1
            if count % Self.entriesPerUnit == 0 { units.append(try appendUnit()) }
        }
        if raw.count > 0 { units.append(try appendUnit()) }
        return units
    }
}

extension CheckpointReader {
    /// Restores the redirects from ids of merged objects. Read immediately, because they are few.
    func fillRedirects(_ state: inout EngineState, _ contents: CheckpointContents) throws {
        if contents.redirects.isEmpty { return }
        let live = Set(state.segments.all.map(\.number))
        var entries: [RedirectTable.Key: RedirectTable.Entry] = [:]
        for unit in contents.redirects {
            try read(unit) { bytes in
                guard bytes.count % entryBytes == 0 else { throw Unusable() }
                entries.reserveCapacity(entries.count + bytes.count / entryBytes)
                for offset in stride(from: 0, to: bytes.count, by: entryBytes) {
                    func word(_ index: Int) -> UInt32 {
                        UInt32(
                            littleEndian: bytes.loadUnaligned(
                                fromByteOffset: offset + 4 * index, as: UInt32.self))
                    }
                    let key = RedirectTable.Key(tree: word(0), word(1))
                    let entry = RedirectTable.Entry(
                        target: word(2), turn: word(3), segment: word(4))
                    guard key.tree > 0, key.number > 0, entry.turn > 0, entry.target != key.number,
                        live.contains(entry.segment), entries.updateValue(entry, forKey: key) == nil
                    else { throw Unusable() }
                }
            }
        }
        state.redirects = RedirectTable.adding(entries, to: nil)
    }
}
