// A sorted list in sections that knows the place of each of its objects, and finds the object of each place.
//
//   chunk     up to 512 objects, and where among them sections begin
//   chunks    in order; how many objects and sections come before each is counted when somebody asks after a change
//   homes     in which chunk an object is, by id
//
// An object is found by its id in its chunk, a place for an object by halving: the chunks, then one of them. Changing a chunk
// of n objects moves at most 512 of them, and some n / 256 counts are added up again.
//
// A section is a run of objects with one name. Ids and beginnings lie in arrays of their own, which snapshots share: what has
// not changed since is not copied.
//
// Invariants: no chunk is empty; but in a list without sections, the first object begins one; `runs` counts the beginnings
// of each name, of which there is more than one only if the list is out of order.
// Threads: the context's.

import CairnModel

/// The objects of a list that follows.
final class FetchedList {
    /// Where a section begins.
    struct SectionStart: Sendable, Hashable {
        var offset: Int
        let name: String
    }

    fileprivate struct Row {
        let keys: [Value]
        var object: ManagedObject?
    }

    fileprivate final class Chunk {
        var number: Int
        var ids: ContiguousArray<ObjectID> = []
        var rows: ContiguousArray<Row> = []
        var starts: ContiguousArray<SectionStart> = []

        init(_ number: Int) { self.number = number }

        func offset(of id: ObjectID) -> Int? {
            ids.withUnsafeBufferPointer { ids in
                for index in ids.indices
                where ids[index].reference == id.reference && ids[index] == id { return index }
                return nil
            }
        }
    }

    /// Where an object is.
    struct Position: Hashable {
        /// Its place in the whole list.
        let index: Int
        let section: Int
        /// Its place in the section.
        let item: Int
    }

    private static let mostInChunk = 512

    let isSectioned: Bool
    private(set) var order: ListOrder
    private var chunks: [Chunk] = []
    private var homes: [ObjectID: Chunk] = [:]
    /// How many sections there are of a name.
    private var runs: [String: Int] = [:]
    private(set) var sectionCount = 0
    private(set) var count = 0
    /// New objects by themselves, with the ids that they have here: a save gives them others.
    private(set) var newObjects: [ObjectIdentifier: ObjectID] = [:]
    /// How many objects and how many beginnings of sections come before each chunk; nil if that is not counted.
    private var counted: (objects: [Int], sections: [Int])?

    /// A list of objects that are in order.
    init(_ objects: some Sequence<ListedObject>, _ order: ListOrder, isSectioned: Bool) {
        self.order = order
        self.isSectioned = isSectioned
        for object in objects { append(object) }
    }

    private func append(_ object: ListedObject) {
        if chunks.last.map({ $0.ids.count >= Self.mostInChunk / 2 }) ?? true {
            chunks.append(Chunk(chunks.count))
        }
        let chunk = chunks[chunks.count - 1]
        let last = count == 0 ? nil : lastName
        put(object, chunk, chunk.ids.count)
        if let name = object.section, name != last {
            chunk.starts.append(SectionStart(offset: chunk.ids.count - 1, name: name))
            countRun(name, 1)
            lastName = name
        }
    }

    /// The name of the last section while objects are appended.
    private var lastName: String?

    private func countRun(_ name: String, _ change: Int) {
        runs[name, default: 0] += change
        if runs[name] == 0 { runs[name] = nil }
        sectionCount += change
    }

    private func put(_ object: ListedObject, _ chunk: Chunk, _ offset: Int) {
        chunk.ids.insert(object.id, at: offset)
        chunk.rows.insert(Row(keys: object.keys, object: object.object), at: offset)
        homes[object.id] = chunk
        if object.id.isTemporary, let kept = object.object {
            newObjects[ObjectIdentifier(kept)] = object.id
        }
        count += 1
        counted = nil
    }

    // MARK: Asking

    /// Whether a section is there twice: the order does not keep its objects together.
    var isOutOfOrder: Bool { isSectioned && runs.count != sectionCount }

    /// How many sections a reader sees: one, if the list is not in sections.
    var visibleSections: Int { isSectioned ? sectionCount : 1 }

    func contains(_ id: ObjectID) -> Bool { homes[id] != nil }

    func hasSection(_ name: String) -> Bool { runs[name] != nil }

    /// The id that an object has here, which may be the one that it had before it was saved.
    func id(of object: ManagedObject) -> ObjectID? {
        if homes[object.objectID] != nil { return object.objectID }
        return newObjects[ObjectIdentifier(object)]
    }

    /// Where an object is.
    func position(of id: ObjectID) -> Position? {
        guard let chunk = homes[id], let offset = chunk.offset(of: id) else { return nil }
        let before = counts()
        let index = before.objects[chunk.number] + offset
        guard isSectioned else { return Position(index: index, section: 0, item: index) }
        let own = startsAtOrBefore(offset, chunk)
        let section = before.sections[chunk.number] + own - 1
        return Position(index: index, section: section, item: index - start(ofSection: section))
    }

    /// What an object is sorted by, and the name of its section.
    func terms(of id: ObjectID) -> (keys: [Value], section: String?)? {
        guard let chunk = homes[id], let offset = chunk.offset(of: id) else { return nil }
        return (chunk.rows[offset].keys, isSectioned ? name(at: offset, chunk) : nil)
    }

    /// The object of an id, if it is kept.
    func object(of id: ObjectID) -> ManagedObject? {
        guard let chunk = homes[id], let offset = chunk.offset(of: id) else { return nil }
        return chunk.rows[offset].object
    }

    /// The id at a place, and the object if it is kept.
    func entry(at index: Int) -> (id: ObjectID, object: ManagedObject?) {
        let before = counts().objects
        let chunk = chunks[Self.last(before, notAbove: index)]
        let offset = index - before[chunk.number]
        return (chunk.ids[offset], chunk.rows[offset].object)
    }

    /// The first place of a section; the end of the list for the one behind the last.
    func start(ofSection section: Int) -> Int {
        if !isSectioned { return section == 0 ? 0 : count }
        if section >= sectionCount { return count }
        let before = counts()
        let number = Self.last(before.sections, notAbove: section)
        let own = section - before.sections[number]
        return before.objects[number] + chunks[number].starts[own].offset
    }

    func sectionName(_ section: Int) -> String {
        if !isSectioned { return "" }
        let before = counts().sections
        let number = Self.last(before, notAbove: section)
        return chunks[number].starts[section - before[number]].name
    }

    /// How many objects a section has.
    func sectionSize(_ section: Int) -> Int {
        start(ofSection: section + 1) - start(ofSection: section)
    }

    /// All objects in order.
    func forEach(_ body: (ObjectID, ManagedObject?) -> Void) {
        for chunk in chunks {
            for index in chunk.ids.indices { body(chunk.ids[index], chunk.rows[index].object) }
        }
    }

    /// What the list is now, to be given away.
    func content() -> [FetchedResultsSnapshot.Chunk] {
        chunks.map { FetchedResultsSnapshot.Chunk(ids: $0.ids, starts: $0.starts) }
    }

    /// The last place of rising numbers where one is not above another: of equal ones, the last.
    private static func last(_ numbers: [Int], notAbove number: Int) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] <= number { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    private func counts() -> (objects: [Int], sections: [Int]) {
        if let counted { return counted }
        var before: (objects: [Int], sections: [Int]) = ([], [])
        before.objects.reserveCapacity(chunks.count)
        before.sections.reserveCapacity(chunks.count)
        var (objects, sections) = (0, 0)
        for chunk in chunks {
            before.objects.append(objects)
            before.sections.append(sections)
            objects += chunk.ids.count
            sections += chunk.starts.count
        }
        counted = before
        return before
    }

    private func startsAtOrBefore(_ offset: Int, _ chunk: Chunk) -> Int {
        var (low, high) = (0, chunk.starts.count)
        while low < high {
            let middle = (low + high) / 2
            if chunk.starts[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The name of the section of a place; -1 stands for the last place before the chunk.
    private func name(at offset: Int, _ chunk: Chunk) -> String? {
        let own = startsAtOrBefore(offset, chunk)
        if own > 0 { return chunk.starts[own - 1].name }
        for number in stride(from: chunk.number - 1, through: 0, by: -1) {
            if let last = chunks[number].starts.last { return last.name }
        }
        return nil
    }

    // MARK: Changing

    /// Takes an object out; false if it is not there.
    @discardableResult
    func remove(_ id: ObjectID) -> Bool {
        guard let chunk = homes[id], let offset = chunk.offset(of: id) else { return false }
        homes[id] = nil
        if id.isTemporary, let kept = chunk.rows[offset].object {
            newObjects[ObjectIdentifier(kept)] = nil
        }
        let isLast = offset == chunk.ids.count - 1
        if isSectioned {
            let own = startsAtOrBefore(offset, chunk)
            let isStart = own > 0 && chunk.starts[own - 1].offset == offset
            for index in own..<chunk.starts.count { chunk.starts[index].offset -= 1 }
            if isStart { leaveStart(own - 1, chunk, offset, isLast: isLast) }
        }
        chunk.ids.remove(at: offset)
        chunk.rows.remove(at: offset)
        count -= 1
        counted = nil
        if chunk.ids.isEmpty {
            chunks.remove(at: chunk.number)
            renumber(from: chunk.number)
        }
        return true
    }

    /// The first object of a section leaves: the next one is the first, if it is of the section.
    private func leaveStart(_ own: Int, _ chunk: Chunk, _ offset: Int, isLast: Bool) {
        let name = chunk.starts[own].name
        if !isLast {
            // The next one has the place by then.
            if own + 1 < chunk.starts.count, chunk.starts[own + 1].offset == offset {
                chunk.starts.remove(at: own)
                countRun(name, -1)
            }
            return
        }
        chunk.starts.remove(at: own)
        countRun(name, -1)
        guard chunk.number + 1 < chunks.count else { return }
        let next = chunks[chunk.number + 1]
        if next.starts.first?.offset != 0 {
            next.starts.insert(SectionStart(offset: 0, name: name), at: 0)
            countRun(name, 1)
        }
    }

    private func renumber(from first: Int) {
        for number in first..<chunks.count { chunks[number].number = number }
    }

    /// Puts an object where it belongs.
    func insert(_ object: ListedObject) {
        if chunks.isEmpty { chunks.append(Chunk(0)) }
        let (chunk, offset) = place(for: object)
        if let name = object.section { enter(name, chunk, offset) }
        put(object, chunk, offset)
        if chunk.ids.count > Self.mostInChunk { split(chunk) }
    }

    private func place(for object: ListedObject) -> (Chunk, Int) {
        // The last chunk whose first object comes before it.
        var (low, high) = (1, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(object, chunks[middle], 0) { low = middle + 1 } else { high = middle }
        }
        let chunk = chunks[low - 1]
        (low, high) = (0, chunk.ids.count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(object, chunk, middle) { low = middle + 1 } else { high = middle }
        }
        return (chunk, low)
    }

    private func isAfter(_ object: ListedObject, _ chunk: Chunk, _ offset: Int) -> Bool {
        order.precedes(chunk.rows[offset].keys, chunk.ids[offset], object.keys, object.id)
    }

    /// An object of a section is about to come to a place.
    private func enter(_ name: String, _ chunk: Chunk, _ offset: Int) {
        let before = self.name(at: offset - 1, chunk)
        let own = startsAtOrBefore(offset - 1, chunk)
        let isBeforeStart = own < chunk.starts.count && chunk.starts[own].offset == offset
        let isAtEnd = offset == chunk.ids.count
        for index in own..<chunk.starts.count { chunk.starts[index].offset += 1 }
        if before == name {
            // A member of a section that is there.
            return
        }
        if isBeforeStart, chunk.starts[own].name == name {
            chunk.starts[own].offset = offset
            return
        }
        chunk.starts.insert(SectionStart(offset: offset, name: name), at: own)
        countRun(name, 1)
        if isAtEnd {
            guard chunk.number + 1 < chunks.count else { return }
            let next = chunks[chunk.number + 1]
            if let first = next.starts.first, first.offset == 0 {
                if first.name == name {
                    next.starts.remove(at: 0)
                    countRun(name, -1)
                }
            } else if let before {
                next.starts.insert(SectionStart(offset: 0, name: before), at: 0)
                countRun(before, 1)
            }
        } else if !isBeforeStart, let before {
            // It has come into the middle of another section: the list is out of order.
            chunk.starts.insert(SectionStart(offset: offset + 1, name: before), at: own + 1)
            countRun(before, 1)
        }
    }

    private func split(_ chunk: Chunk) {
        let middle = chunk.ids.count / 2
        let other = Chunk(chunk.number + 1)
        other.ids = ContiguousArray(chunk.ids[middle...])
        other.rows = ContiguousArray(chunk.rows[middle...])
        chunk.ids.removeSubrange(middle...)
        chunk.rows.removeSubrange(middle...)
        let own = startsAtOrBefore(middle - 1, chunk)
        other.starts = ContiguousArray(
            chunk.starts[own...].map { SectionStart(offset: $0.offset - middle, name: $0.name) })
        chunk.starts.removeSubrange(own...)
        for id in other.ids { homes[id] = other }
        chunks.insert(other, at: other.number)
        renumber(from: other.number + 1)
        counted = nil
    }

    // MARK: Checking

    /// Stops if the list is not what it says. For tests.
    func checkInvariants() {
        var total = 0
        var names: [String] = []
        for (number, chunk) in chunks.enumerated() {
            precondition(chunk.number == number && !chunk.ids.isEmpty, "a chunk has its place")
            precondition(chunk.ids.count == chunk.rows.count, "an id has a row")
            for id in chunk.ids { precondition(homes[id] === chunk, "an id has its chunk") }
            for start in chunk.starts {
                precondition(chunk.ids.indices.contains(start.offset), "a section begins inside")
                precondition(names.last != start.name, "a section does not follow itself")
                names.append(start.name)
            }
            total += chunk.ids.count
        }
        precondition(total == count && homes.count == count, "all are counted")
        precondition(names.count == sectionCount, "all sections are counted")
        if isSectioned, let first = chunks.first {
            precondition(first.starts.first?.offset == 0, "the first object begins a section")
        }
        var last: ([Value], ObjectID)?
        for chunk in chunks {
            for index in chunk.ids.indices {
                let (keys, id) = (chunk.rows[index].keys, chunk.ids[index])
                if let last {
                    precondition(order.precedes(last.0, last.1, keys, id), "the list is sorted")
                }
                last = (keys, id)
            }
        }
    }
}
