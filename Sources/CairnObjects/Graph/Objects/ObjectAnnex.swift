// What an object has beside its row: a piece of memory that is made for those that are edited or have something rare. Most
// objects of a context are only read and do without.
//
//   head     the rarer parts, and the object's place among the changed ones
//   slots    its values, see ObjectSlots; there is room for them only once somebody sets one
//
// A new object gets head and room together when it becomes one of the changed objects, as values are set next. A stored one
// gets them together with its first edit. Room that an edit has left stays as long as the object is among the changed ones,
// since a save empties it just before the object leaves them.
//
// Invariants: if the object's flags say `hasSlots` there is an annex with room; there is none that holds nothing.
// Threads: the object's.

import CairnStore

/// The head of an object's annex. Slots may lie behind it.
struct ObjectAnnex {
    /// The rarer parts; nil if nobody has needed them.
    var rarer: ObjectExtras?
    /// The object's place among the changed objects of the context, or -1.
    var changedIndex: Int32 = -1
    /// Whether there is room for slots behind it.
    let hasRoom: Bool

    /// Memory for an annex, with room for slots or without.
    fileprivate static func make(
        _ layout: UnsafePointer<SlotLayout>, withRoom: Bool, rarer: ObjectExtras? = nil,
        changedIndex: Int32 = -1
    ) -> UnsafeMutablePointer<ObjectAnnex> {
        // Slots are aligned to 16, and the head takes just that.
        let annex = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<ObjectAnnex>.stride + (withRoom ? layout.pointee.size : 0),
            alignment: 16
        ).assumingMemoryBound(to: ObjectAnnex.self)
        annex.initialize(
            to: ObjectAnnex(rarer: rarer, changedIndex: changedIndex, hasRoom: withRoom))
        return annex
    }

    /// Gives the memory of an annex back, whose slots are empty.
    fileprivate static func giveBack(_ annex: UnsafeMutablePointer<ObjectAnnex>) {
        annex.deinitialize(count: 1)
        UnsafeMutableRawPointer(annex).deallocate()
    }
}

extension ManagedObject {
    /// The values of a new object, the edits of a stored one; nil if there are none.
    @inline(__always) final var slots: UnsafeMutableRawPointer? {
        // Unchecked: who has slots has an annex. This is on the way of every read.
        flags.contains(.hasSlots) ? UnsafeMutableRawPointer(annex.unsafelyUnwrapped + 1) : nil
    }

    /// Makes slots for an object that has none. Nothing is set in them.
    @inline(never)
    final func addSlots() -> ObjectSlots {
        let annex = annexWithRoom()
        let slots = ObjectSlots(UnsafeMutableRawPointer(annex + 1), layout)
        slots.clear()
        flags.formUnion(.hasSlots)
        return slots
    }

    /// Lets all values in the slots go, and the slots.
    final func dropSlots() {
        guard let slots = ownSlots else { return }
        slots.releaseAll()
        flags.subtract(.hasSlots)
        trimAnnex()
    }

    /// The rarer parts; nil if nobody has needed them.
    @inline(__always) final var rarer: ObjectExtras? { annex?.pointee.rarer }

    /// The rarer parts; made when they are first needed.
    final var extras: ObjectExtras {
        if let rarer { return rarer }
        let made = ObjectExtras()
        (annex ?? addAnnex(withRoom: false)).pointee.rarer = made
        return made
    }

    /// Its place among the changed objects of the context, or -1.
    final var changedIndex: Int32 {
        @inline(__always) get { annex?.pointee.changedIndex ?? -1 }
        set {
            if newValue >= 0 {
                (annex ?? addAnnex(withRoom: isInserted)).pointee.changedIndex = newValue
            } else if let annex {
                annex.pointee.changedIndex = -1
                trimAnnex()
            }
        }
    }

    // MARK: Memory

    private final func addAnnex(withRoom: Bool) -> UnsafeMutablePointer<ObjectAnnex> {
        let made = ObjectAnnex.make(layout, withRoom: withRoom)
        annex = made
        return made
    }

    private final func annexWithRoom() -> UnsafeMutablePointer<ObjectAnnex> {
        guard let annex else { return addAnnex(withRoom: true) }
        return annex.pointee.hasRoom ? annex : moveAnnex(annex, withRoom: true)
    }

    private final func moveAnnex(_ former: UnsafeMutablePointer<ObjectAnnex>, withRoom: Bool)
        -> UnsafeMutablePointer<ObjectAnnex>
    {
        let made = ObjectAnnex.make(
            layout, withRoom: withRoom, rarer: former.pointee.rarer,
            changedIndex: former.pointee.changedIndex)
        annex = made
        ObjectAnnex.giveBack(former)
        return made
    }

    /// What nobody needs of the annex any more goes.
    private final func trimAnnex() {
        guard let annex, annex.pointee.changedIndex < 0, !flags.contains(.hasSlots) else { return }
        if annex.pointee.rarer == nil {
            self.annex = nil
            ObjectAnnex.giveBack(annex)
        } else if annex.pointee.hasRoom {
            _ = moveAnnex(annex, withRoom: false)
        }
    }

    /// Gives the memory back of an object that is going.
    final func giveBackAnnex() {
        guard let annex else { return }
        ownSlots?.releaseAll()
        ObjectAnnex.giveBack(annex)
    }
}
