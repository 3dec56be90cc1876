// Objects by number, held weakly: pages of sixteen neighbours, found by open addressing with linear probing.
//
// Numbers are given one after the other, and objects come and go in runs of them. So neighbours share a page, and the
// page that was used last is at hand: going through a run costs one look for sixteen objects.
//
// Removing moves what follows back, so that there are no marks of what was here. A page goes with its last object.
//
// Invariants: no page occurs twice, and none is empty; at most three quarters of the slots are taken.
// Threads: whoever holds the registry's lock.

/// A table of objects by number.
struct ObjectTable: ~Copyable {
    private struct Slot {
        /// What the numbers of the page have in common.
        var key: UInt64
        /// Sixteen addresses, 0 for none, and how many there are.
        var page: UnsafeMutablePointer<UInt>?
    }

    private static let pageSize = 16

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private var pages = 0
    private(set) var count = 0
    /// The page that was used last, if it is there still.
    private var lastKey: UInt64 = .max
    private var lastPage: UnsafeMutablePointer<UInt>?

    init() {
        slots = .allocate(capacity: 4)
        slots.initialize(repeating: Slot(key: 0, page: nil), count: 4)
        mask = 3
    }

    deinit {
        for index in 0...mask { slots[index].page?.deallocate() }
        slots.deallocate()
    }

    @inline(__always) private func home(_ key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }

    @inline(__always)
    private mutating func page(_ key: UInt64) -> UnsafeMutablePointer<UInt>? {
        if key == lastKey { return lastPage }
        return find(key)
    }

    private mutating func find(_ key: UInt64) -> UnsafeMutablePointer<UInt>? {
        var at = home(key)
        while let page = slots[at].page {
            if slots[at].key == key {
                (lastKey, lastPage) = (key, page)
                return page
            }
            at = (at &+ 1) & mask
        }
        return nil
    }

    /// The address of the object of a number; 0 if there is none.
    @inline(__always) mutating func object(_ number: UInt64) -> UInt {
        guard let page = page(number >> 4) else { return 0 }
        return page[Int(number & 15)]
    }

    /// Enters an object, in place of one of the same number if there is one.
    @inline(__always) mutating func set(_ number: UInt64, _ object: UInt) {
        let page = page(number >> 4) ?? add(number >> 4)
        if page[Int(number & 15)] == 0 {
            page[Self.pageSize] &+= 1
            count &+= 1
        }
        page[Int(number & 15)] = object
    }

    private mutating func add(_ key: UInt64) -> UnsafeMutablePointer<UInt> {
        if (pages + 1) * 4 > (mask + 1) * 3 { resize((mask + 1) * 2) }
        let page = UnsafeMutablePointer<UInt>.allocate(capacity: Self.pageSize + 1)
        page.initialize(repeating: 0, count: Self.pageSize + 1)
        put(Slot(key: key, page: page))
        pages += 1
        (lastKey, lastPage) = (key, page)
        return page
    }

    private func put(_ slot: Slot) {
        var at = home(slot.key)
        while slots[at].page != nil { at = (at &+ 1) & mask }
        slots[at] = slot
    }

    /// Takes a number out if that object has it.
    mutating func remove(_ number: UInt64, _ object: UInt) {
        guard let page = page(number >> 4), page[Int(number & 15)] == object else { return }
        page[Int(number & 15)] = 0
        page[Self.pageSize] &-= 1
        count &-= 1
        if page[Self.pageSize] == 0 { drop(number >> 4) }
    }

    private mutating func drop(_ key: UInt64) {
        var hole = home(key)
        while slots[hole].key != key || slots[hole].page == nil { hole = (hole &+ 1) & mask }
        slots[hole].page?.deallocate()
        (lastKey, lastPage) = (.max, nil)
        var at = hole
        while true {
            at = (at &+ 1) & mask
            guard slots[at].page != nil else { break }
            // It may move back unless its home lies behind the hole.
            if (at &- home(slots[at].key)) & mask >= (at &- hole) & mask {
                slots[hole] = slots[at]
                hole = at
            }
        }
        slots[hole].page = nil
        pages -= 1
        if mask > 1023, pages * 16 < mask { resize((mask + 1) / 4) }
    }

    /// Makes room for so many more, as if they were neighbours.
    mutating func reserve(_ more: Int) {
        var size = mask + 1
        while (pages + more / Self.pageSize + 1) * 4 > size * 3 { size *= 2 }
        if size > mask + 1 { resize(size) }
    }

    private mutating func resize(_ size: Int) {
        let (old, end) = (slots, mask + 1)
        slots = .allocate(capacity: size)
        slots.initialize(repeating: Slot(key: 0, page: nil), count: size)
        mask = size - 1
        for index in 0..<end where old[index].page != nil { put(old[index]) }
        old.deallocate()
    }

    /// Calls the body with every object.
    func forEach(_ body: (UInt) -> Void) {
        for index in 0...mask {
            guard let page = slots[index].page else { continue }
            for place in 0..<Self.pageSize where page[place] != 0 { body(page[place]) }
        }
    }
}
