// What a simulated disk holds, as a value: what is on the medium, and what is on its way there.
//
//   seen       what a process reads: the page cache
//   durable    what the medium has for sure
//   pending    changes since the last sync of the file, or of the folder for its names, in their order
//
// A copy costs nothing until it is changed, so every call of a run can keep the state before it.
// How the power fails is said in SimulatedDisk.swift.
// Threads: a plain value.

import CairnTestSupport
import Foundation

struct DiskState: Sendable {
    enum Change: Sendable {
        /// `isSame`: the bytes were there already.
        case write(offset: Int, bytes: [UInt8], isSame: Bool)
        case resize(Int)
    }

    struct Content: Sendable {
        var seen: [UInt8] = []
        var durable: [UInt8] = []
        var pending: [Change] = []
    }

    enum NameChange: Sendable {
        case create(String, Int)
        case remove(String)
    }

    enum Presence: Sendable, Equatable {
        case missing
        /// Made, but its parent was not synced.
        case unsynced
        case durable
    }

    /// The store's folder; there is no other.
    var folder = Presence.missing
    /// By number; names lead to them.
    var files: [Content] = []
    var names: [String: Int] = [:]
    var durableNames: [String: Int] = [:]
    var pendingNames: [NameChange] = []
    /// What was in the file that was unlinked last: its blocks may come back in another file.
    var freed: [UInt8] = []
    /// Whether they do.
    var bringsFreedBack = true

    // MARK: Calls

    mutating func create(_ name: String) -> Int {
        files.append(Content())
        names[name] = files.count - 1
        pendingNames.append(.create(name, files.count - 1))
        return files.count - 1
    }

    mutating func remove(_ name: String) {
        if let file = names.removeValue(forKey: name), bringsFreedBack {
            freed = files[file].durable
        }
        pendingNames.append(.remove(name))
    }

    mutating func syncNames() {
        durableNames = names
        pendingNames = []
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer, to file: Int, at offset: Int) {
        let isSame = files[file].seen.holds(bytes, at: offset)
        files[file].seen.put(bytes, at: offset)
        files[file].pending.append(.write(offset: offset, bytes: Array(bytes), isSame: isSame))
    }

    mutating func resize(_ file: Int, to size: Int) {
        files[file].seen.resize(to: size)
        files[file].pending.append(.resize(size))
    }

    mutating func sync(_ file: Int) {
        files[file].durable.catchUp(with: files[file].pending)
        files[file].pending = []
    }

    /// A sync that fails: some of the changes have reached the medium, the others never will, though a process
    /// goes on to read them.
    mutating func failToSync(_ file: Int, _ random: inout RandomSource) {
        files[file].durable = files[file].afterLoss(.some, stale: [], &random)
        files[file].pending = []
    }

    /// The page cache forgets what is not on its way to the medium.
    mutating func evict() {
        for file in files.indices {
            var bytes = files[file].durable
            bytes.catchUp(with: files[file].pending)
            files[file].seen = bytes
        }
    }

    /// Changes that the medium is given at last, though nobody asked for it.
    mutating func writeBack(_ file: Int, keeping count: Int) {
        guard files[file].pending.count > count else { return }
        let old = files[file].pending.prefix(files[file].pending.count - count)
        files[file].durable.catchUp(with: old)
        files[file].pending.removeFirst(old.count)
    }

    // MARK: Power

    /// What a power cut takes of what was not synced.
    enum Loss: Sendable, CaseIterable {
        case all, nothing, some
    }

    /// What is there when the power is back.
    func afterPowerCut(_ loss: Loss, _ random: inout RandomSource) -> DiskState {
        var after = DiskState()
        after.bringsFreedBack = bringsFreedBack
        guard folder == .durable || folder == .unsynced && loss.keeps(&random) else {
            return after
        }
        after.folder = .durable
        let stale = random.oneIn(4) ? freed : []
        for (name, file) in namesAfter(loss, &random).sorted(by: { $0.key < $1.key }) {
            let bytes = files[file].afterLoss(loss, stale: stale, &random)
            after.names[name] = after.files.count
            after.files.append(Content(seen: bytes, durable: bytes))
        }
        after.durableNames = after.names
        return after
    }

    private func namesAfter(_ loss: Loss, _ random: inout RandomSource) -> [String: Int] {
        var names = durableNames
        // A journal keeps the order of names; not every file system has one.
        let isOrdered = random.oneIn(2)
        for change in pendingNames {
            let isKept = loss.keeps(&random)
            if !isKept {
                if isOrdered { break } else { continue }
            }
            switch change {
            case .create(let name, let file): names[name] = file
            case .remove(let name): names[name] = nil
            }
        }
        return names
    }

    /// Whether a power cut could take anything.
    var hasUnsynced: Bool {
        folder == .unsynced || !pendingNames.isEmpty
            || names.values.contains { !files[$0].pending.isEmpty }
    }

    /// Whether the page cache shows anything that the medium will never have.
    var hasDropped: Bool {
        files.contains { $0.pending.isEmpty && $0.seen != $0.durable }
    }

    /// A number that equal states share.
    var fingerprint: Int {
        var hasher = Hasher()
        hasher.combine(folder)
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            hasher.combine(name)
            files[file].seen.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }
}

extension DiskState.Loss {
    fileprivate func keeps(_ random: inout RandomSource) -> Bool {
        switch self {
        case .all: false
        case .nothing: true
        case .some: random.oneIn(2)
        }
    }
}

extension DiskState.Content {
    private static let sector = 512

    /// What is on the medium when a power cut has taken its part.
    func afterLoss(_ loss: DiskState.Loss, stale: [UInt8], _ random: inout RandomSource) -> [UInt8]
    {
        var bytes = durable
        // In some images nearly all is lost, in others nearly nothing.
        let share: UInt64 =
            switch loss {
            case .all: 0
            case .nothing: 8
            case .some: random.next() % 9
            }
        func isKept() -> Bool { share == 8 || share > 0 && random.next() % 8 < share }
        for change in pending {
            switch change {
            case .resize(let size): if isKept() { bytes.resize(to: size) }
            case .write(let offset, let written, _):
                // The size may be there before the data is, with zeros or with what was there before.
                if loss == .some, offset + written.count > bytes.count, random.oneIn(4) {
                    let old = bytes.count
                    bytes.resize(to: offset + written.count)
                    for place in old..<min(bytes.count, max(old, stale.count)) {
                        bytes[place] = stale[place]
                    }
                }
                written.withUnsafeBytes { written in
                    var start = 0
                    while start < written.count {
                        let end = min(
                            written.count,
                            (offset + start) / Self.sector * Self.sector + Self.sector - offset)
                        if isKept() {
                            var part = start..<end
                            if loss == .some, random.oneIn(16) {
                                let torn = start + Int(random.next() % UInt64(end - start))
                                part = random.oneIn(2) ? start..<torn : torn..<end
                            }
                            bytes.put(
                                UnsafeRawBufferPointer(rebasing: written[part]),
                                at: offset + part.lowerBound)
                        }
                        start = end
                    }
                }
            }
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func resize(to size: Int) {
        if size < count {
            removeSubrange(size...)
        } else if size > count {
            append(contentsOf: repeatElement(0, count: size - count))
        }
    }

    fileprivate mutating func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        if bytes.isEmpty { return }
        if count < offset { resize(to: offset) }
        let inside = Swift.min(bytes.count, count - offset)
        if inside > 0 {
            withUnsafeMutableBytes {
                UnsafeMutableRawBufferPointer(rebasing: $0[offset..<offset + inside])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<inside]))
            }
        }
        if inside < bytes.count { append(contentsOf: bytes[inside...]) }
    }

    fileprivate func holds(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        let count = bytes.count
        guard offset + count <= self.count else { return false }
        return withUnsafeBytes { held in
            guard let held = held.baseAddress, let bytes = bytes.baseAddress else { return true }
            return memcmp(held + offset, bytes, count) == 0
        }
    }

    fileprivate mutating func catchUp(with changes: some Sequence<DiskState.Change>) {
        for change in changes {
            switch change {
            case .resize(let size): resize(to: size)
            case .write(let offset, let bytes, _): bytes.withUnsafeBytes { put($0, at: offset) }
            }
        }
    }
}
