// Objects by number, held weakly: open addressing with linear probing.
//
// Numbers are given one after the other, and objects come and go in runs of them. So the lowest four bits of a
// number stay as they are and the rest is scattered: sixteen neighbours share four cache lines.
//
// Removing moves what follows back, so that there are no marks of what was here.
//
// Invariants: no number occurs twice; a slot is free exactly if its address is 0; at most three quarters are
// taken.
// Threads: whoever holds the registry's lock.

/// A table of objects by number.
struct ObjectTable: ~Copyable {
    private struct Slot {
        var number: UInt64
        /// The object's address; 0 for none.
        var object: UInt
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private(set) var count = 0

    init() {
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: Slot(number: 0, object: 0), count: 16)
        mask = 15
    }

    deinit { slots.deallocate() }

    @inline(__always) private func home(_ number: UInt64) -> Int {
        let scattered = (number >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: (scattered >> 28 & ~15) | number & 15) & mask
    }

    /// The address of the object of a number; 0 if there is none.
    @inline(__always) func object(_ number: UInt64) -> UInt {
        var at = home(number)
        while slots[at].object != 0 {
            if slots[at].number == number { return slots[at].object }
            at = (at &+ 1) & mask
        }
        return 0
    }

    /// Enters an object, in place of one of the same number if there is one.
    mutating func set(_ number: UInt64, _ object: UInt) {
        if count &* 4 >= mask &* 3 { resize((mask + 1) * 2) }
        var at = home(number)
        while slots[at].object != 0 {
            if slots[at].number == number {
                slots[at].object = object
                return
            }
            at = (at &+ 1) & mask
        }
        slots[at] = Slot(number: number, object: object)
        count &+= 1
    }

    /// Takes a number out if that object has it.
    mutating func remove(_ number: UInt64, _ object: UInt) {
        var at = home(number)
        while slots[at].object != 0 {
            if slots[at].number == number {
                if slots[at].object == object { vacate(at) }
                return
            }
            at = (at &+ 1) & mask
        }
    }

    private mutating func vacate(_ place: Int) {
        var hole = place
        var at = place
        while true {
            at = (at &+ 1) & mask
            guard slots[at].object != 0 else { break }
            // It may move back unless its home lies behind the hole.
            if (at &- home(slots[at].number)) & mask >= (at &- hole) & mask {
                slots[hole] = slots[at]
                hole = at
            }
        }
        slots[hole].object = 0
        count &-= 1
        if mask > 1023, count &* 16 < mask { resize((mask + 1) / 4) }
    }

    /// Makes room for so many more.
    mutating func reserve(_ more: Int) {
        var size = mask + 1
        while (count + more) * 4 >= (size - 1) * 3 { size *= 2 }
        if size > mask + 1 { resize(size) }
    }

    /// Makes it empty.
    mutating func removeAll() {
        if count == 0 { return }
        if mask > 1023 { resize(16, keeps: false) } else { resize(mask + 1, keeps: false) }
        count = 0
    }

    private mutating func resize(_ size: Int, keeps: Bool = true) {
        let (old, end) = (slots, mask + 1)
        slots = .allocate(capacity: size)
        slots.initialize(repeating: Slot(number: 0, object: 0), count: size)
        mask = size - 1
        for index in 0..<end where keeps && old[index].object != 0 {
            var at = home(old[index].number)
            while slots[at].object != 0 { at = (at &+ 1) & mask }
            slots[at] = old[index]
        }
        old.deallocate()
    }

    /// Calls the body with every object.
    func forEach(_ body: (UInt) -> Void) {
        for index in 0...mask {
            if slots[index].object != 0 { body(slots[index].object) }
        }
    }
}
