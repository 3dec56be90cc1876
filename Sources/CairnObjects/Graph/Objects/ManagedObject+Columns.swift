// The values of an object by column: what reading by key and saving stand on.

import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObject {
    /// Reads the row if the object is a fault.
    ///
    /// - Parameter trigger: what is to be read of it, for whoever is asked about rows that are gone.
    @inline(__always) func fulfillIfNeeded(_ trigger: FaultTrigger = .nothing) {
        if !flags.contains(.fulfilled) { readRow(trigger) }
    }

    @inline(never)
    private func readRow(_ trigger: FaultTrigger) {
        // Mostly the row is there, and nothing counts a reference to the context then.
        if isFault, hasCells, slots == nil {
            let isWatched = layout.pointee.registry._withUnsafeGuaranteedRef {
                $0.board.wants(.faultHits)
            }
            return isWatched ? awakeWatched() : awake()
        }
        managedObjectContext?.fulfill(self, trigger)
    }

    /// Tells of it once it is no fault any more: whoever is told may look at it.
    @inline(never)
    private func awakeWatched() {
        awake()
        managedObjectContext?.tellOfHit(self)
    }

    /// A fault without edits that has brought its row along is looked at.
    func awake() {
        flags.formUnion([.fulfilled, .awakening])
        awakeFromFetch()
        flags.subtract(.awakening)
    }

    // MARK: The row

    /// Whether something is stored, as far as this object knows.
    var hasRow: Bool { hasCells || flags.contains(.slotsAreRow) }

    /// What is stored, as far as this object knows.
    var row: Row? {
        get {
            makeRowOfSlots()
            return cells.map {
                Row(id: objectID, entity: entity.index, version: version, cells: $0)
            }
        }
        set {
            makeRowOfSlots()
            noteKeyChange()
            cells = newValue?.cells
            version = newValue?.version ?? 0
            flags.subtract(.hasOlderCells)
        }
    }

    /// Gives a fault what is stored.
    func take(_ row: Row) {
        noteKeyChange()
        cells = row.cells
        version = row.version
        flags.subtract(.hasOlderCells)
    }

    /// Gives it what is stored if it is a fault.
    @inline(__always) func bring(_ row: RowCells, _ version: UInt32) {
        if isGone { revive() }
        guard isFault else { return }
        noteKeyChange()
        cells = row
        self.version = version
    }

    /// An object whose row was gone is a fault again: it is there after all, in another state of the store or because somebody
    /// has inserted it again.
    @inline(never) func revive() {
        noteKeyChange()
        flags.subtract([
            .gone, .deleted, .fulfilled, .propagated, .displaced, .deletedElsewhere,
        ])
        absorbedInto = nil
        // While it was gone it had no members.
        if rarer != nil {
            for index in toMany.keys where !isTransient(index) { toMany[index] = nil }
        }
        managedObjectContext?.noteRefreshed(self)
    }

    /// A new object that was saved kept its slots as what is stored. They make room for edits.
    func makeRowOfSlots() {
        guard flags.contains(.slotsAreRow) else { return }
        flags.subtract(.slotsAreRow)
        guard let slots = ownSlots else { return }
        var builder = RowCellsBuilder(columns: entity.columns.count)
        for column in entity.columns.indices where !slots.isNil(column) {
            slots.put(column, into: &builder)
        }
        cells = builder.finish()
        dropSlots()
    }

    // MARK: Slots

    /// The slots, if there are any.
    @inline(__always) var ownSlots: ObjectSlots? {
        guard let slots else { return nil }
        return ObjectSlots(slots, layout)
    }

    /// The slots; made when they are first needed.
    @inline(__always) func slotsToEdit() -> ObjectSlots {
        if flags.contains(.slotsAreRow) { makeRowOfSlots() }
        if let slots { return ObjectSlots(slots, layout) }
        return addSlots()
    }

    /// A value that differs from the row, or was set on a new object.
    func edit(_ column: Int) -> Value? {
        guard hasEdit(column) else { return nil }
        return ownSlots?.value(column, scope)
    }

    /// Whether a column has an edit.
    func hasEdit(_ column: Int) -> Bool {
        guard !flags.contains(.slotsAreRow), let slots = ownSlots else { return false }
        return slots.isSet(column)
    }

    /// Notes an edit, or with nil that there is none.
    func setEdit(_ column: Int, _ value: Value?) {
        noteKeyChange()
        if let value {
            if StagedValue.find(value) != nil { extras.hasStagedValue = true }
            slotsToEdit().set(column, value)
        } else if !flags.contains(.slotsAreRow) {
            ownSlots?.remove(column)
        }
    }

    /// The columns with edits, ascending.
    var columnsWithEdits: [Int] {
        guard !flags.contains(.slotsAreRow), let slots = ownSlots else { return [] }
        return slots.columns
    }

    /// Whether there are edits.
    var hasEdits: Bool {
        guard slots != nil, !flags.contains(.slotsAreRow) else { return false }
        return ownSlots?.isEmpty == false
    }

    /// Whether there are edits of columns that lead to other objects.
    var hasReferenceEdits: Bool {
        columnsWithEdits.contains { column in
            if case .reference = entity.columns[column].kind { true } else { false }
        }
    }

    /// Forgets all edits.
    func removeEdits() {
        noteKeyChange()
        if !flags.contains(.slotsAreRow) { dropSlots() }
    }

    /// Whether somebody set a column of a new object.
    func isAssigned(_ column: Int) -> Bool {
        guard !flags.contains(.slotsAreRow), let slots = ownSlots else { return false }
        return slots.isAssigned(column)
    }

    // MARK: Values

    /// The value now, without reading anything. One that waits in the store for a save is what stands for it.
    func presentValue(_ column: Int) -> Value {
        if let slots = ownSlots, slots.isSet(column) { return slots.value(column, scope) }
        return baseValue(column)
    }

    /// The value without edits: what is stored, or the default of a new object.
    func baseValue(_ column: Int) -> Value {
        if let cells {
            return cells.value(column, of: entity, in: scope.registry.identity)
        }
        if flags.contains(.slotsAreRow), let slots = ownSlots {
            return slots.value(column, scope)
        }
        if isGone || (managedObjectContext != nil && !isInserted) { return .null }
        return scope.defaults[column]
    }

    /// The value now; reads the row if need be.
    func columnValue(_ column: Int) -> Value {
        fulfillIfNeeded(.column(column))
        guard let slots = ownSlots, slots.isSet(column) else { return baseValue(column) }
        return readable(slots.value(column, scope))
    }

    /// Sets a column and tells the context. Relationships go through the context instead, which keeps the
    /// other side.
    func setColumn(_ column: Int, _ value: Value) {
        fulfillIfNeeded(.column(column))
        if isAwakening { return setPrimitiveColumn(column, value) }
        guard !isGone else { return }
        let context = managedObjectContext
        willChange(.column(column))
        context?.objectWillChange(self)
        let old = presentValue(column)
        put(column, value)
        var isReal = old != value
        if rarer != nil {
            untracked.remove(column)
            awakened.remove(column)
            if forgetRefusal(ofColumn: column) { isReal = true }
        }
        if isInserted || context == nil { slotsToEdit().assign(column) }
        context?.objectDidChange(self, isReal: isReal)
        didChange(.column(column))
    }

    /// Whether it is among the changed objects, and its context knows what it was before the run of edits that is under way.
    @inline(__always) final var isNotedAsChanged: Bool {
        let index = changedIndex
        guard index >= 0, flags.contains(.inContext), let context = layout.pointee.context else {
            return false
        }
        return context._withUnsafeGuaranteedRef { index >= $0.changed.eventStart }
            || flags.contains(.noted)
    }

    /// Sets a column and tells nobody.
    func setPrimitiveColumn(_ column: Int, _ value: Value) {
        fulfillIfNeeded(.column(column))
        guard !isGone else { return }
        put(column, value)
        forgetRefusal(ofColumn: column)
        untracked.insert(column)
        if isAwakening { awakened.insert(column) } else { awakened.remove(column) }
    }

    private func put(_ column: Int, _ value: Value) {
        if hasRow, baseValue(column) == value {
            setEdit(column, nil)
        } else {
            setEdit(column, value)
        }
    }

    /// The columns that a save has to write, in order.
    var editedColumns: [Int] {
        let columns = columnsWithEdits
        guard let rarer, !rarer.awakened.isEmpty else { return columns }
        return columns.filter { !rarer.awakened.contains($0) }
    }

    /// Drops edits that a newer row has made equal to what is stored.
    func rebase(on newer: Row) {
        let told = observedPlaces(changedBy: newer, replacesEdits: false)
        tellBefore(told)
        defer { tellAfter(told) }
        putUnderEdits(newer)
    }

    /// The object gets another row, and keeps what a program has made of the one before in its transient attributes.
    func noteOlderTransients() {
        if let rarer, !rarer.transients.isEmpty { managedObjectContext?.hasSetTransients = true }
    }

    private func putUnderEdits(_ newer: Row) {
        noteOlderTransients()
        row = newer
        isFulfilled = true
        isGone = false
        for column in columnsWithEdits where baseValue(column) == edit(column) {
            setEdit(column, nil)
        }
    }

    /// Lets go of all edits in favour of what is stored: nobody sees what was there before both.
    func yield(to newer: Row) {
        var told = observedPlaces(changedBy: newer, replacesEdits: true)
        for place in observedEdits {
            if case .relationship = place { told.append(place) }
        }
        tellBefore(told)
        defer { tellAfter(told) }
        forgetEdits()
        putUnderEdits(newer)
    }

    /// Lets go of all edits; nothing is told to the other sides of relationships.
    func dropEdits() {
        let told = observedEdits
        tellBefore(told)
        defer { tellAfter(told) }
        forgetEdits()
    }

    private func forgetEdits() {
        removeEdits()
        guard rarer != nil else { return }
        untracked = ColumnSet()
        awakened = ColumnSet()
        forgetRefusals()
        for index in toMany.keys where !isTransient(index) { toMany[index]?.revert() }
    }

    /// Whether a relationship lives in memory only.
    func isTransient(_ relationship: Int) -> Bool {
        entity.relationships[relationship].storage == .transient
    }

    /// Keeps no members alive any more.
    func letMembersGo() {
        if let rarer, !rarer.keptMembers.isEmpty { rarer.keptMembers = [:] }
    }

    /// Forgets the members that were read; they are asked for again.
    func unloadMembers() {
        guard let rarer else { return }
        letMembersGo()
        let told = observedMembers
        tellBefore(told)
        defer { tellAfter(told) }
        for index in toMany.keys where !isTransient(index) { toMany[index]?.unload() }
        if !rarer.fetched.isEmpty { rarer.fetched = [:] }
    }

    /// Lets go of the values. Transient ones return to their defaults if `resetsTransients`.
    func turnIntoFault(resetsTransients: Bool) {
        let wasFault = isFault
        if !wasFault {
            willTurnIntoFault()
            willChangeAll()
        }
        dropEdits()
        if !resetsTransients { noteOlderTransients() }
        forgetRow()
        isFulfilled = false
        unloadMembers()
        if resetsTransients { resetTransients() }
        if !wasFault {
            didTurnIntoFault()
            didChangeAll()
        }
    }

    /// Nothing is known of what is stored.
    func forgetRow() {
        noteKeyChange()
        if flags.contains(.slotsAreRow) {
            flags.subtract(.slotsAreRow)
            dropSlots()
        }
        cells = nil
        version = 0
    }

    /// Gives transient properties their defaults.
    func resetTransients() {
        guard rarer != nil else { return }
        let told = observedTransients
        tellBefore(told)
        defer { tellAfter(told) }
        transients = [:]
        transientTargets = [:]
        for index in toMany.keys where isTransient(index) { toMany[index] = nil }
    }

    /// What was edited is stored now, as this row says.
    func commitEdits(_ stored: Row?) {
        let kept = rarer?.awakened ?? ColumnSet()
        let told = stored.map { observedPlaces(changedBy: $0, replacesEdits: true) } ?? []
        tellBefore(told)
        defer { tellAfter(told) }
        if kept.isEmpty {
            removeEdits()
        } else {
            for column in columnsWithEdits where !kept.contains(column) { setEdit(column, nil) }
            ownSlots?.unassignAll()
        }
        if rarer != nil { untracked = kept }
        if let stored {
            row = stored
            isFulfilled = true
        }
    }

    /// A new object is stored as it is, with version 1: the slots are its row from now on.
    func commitSlots() {
        let slots = slotsToEdit()
        let scope = scope
        for column in 0..<scope.layout.pointee.columns where !slots.isSet(column) {
            slots.set(column, scope.defaults[column])
        }
        slots.unassignAll()
        if let rarer { rarer.untracked = ColumnSet() }
        flags.formUnion([.slotsAreRow, .fulfilled])
        version = 1
    }
}

extension ObjectSlots {
    /// Writes a slot that is not nil as a row's cell.
    func put(_ column: Int, into cells: inout RowCellsBuilder) {
        switch kind(column) {
        case .integer16, .integer32, .integer, .boolean, .double, .date, .float:
            cells.set(column, word: word(column))
        case .reference:
            let mark = secondWord(column) != 0 ? StoreIdentity.temporaryMark : 0
            cells.set(column, word: word(column) | mark)
        case .uuid:
            withUnsafeBytes(of: (word(column), secondWord(column))) { cells.set(column, bytes: $0) }
        case .string, .uri:
            var text = string(column).pointee
            text.withUTF8 { cells.set(column, bytes: UnsafeRawBufferPointer($0)) }
        case .binary, .decimal:
            let data = data(column).pointee
            assert(StagedValue.find(data) == nil, "a value that waits for a save is no row's")
            data.withUnsafeBytes { cells.set(column, bytes: $0) }
        }
    }
}
