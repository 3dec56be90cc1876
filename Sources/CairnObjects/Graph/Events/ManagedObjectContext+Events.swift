// Runs of edits, and the one change that is made of each.
//
//   1. An edit notes that a run is under way, and what the object was, if nothing else will tell that later.
//   2. The run ends when pending changes are processed: by whoever calls that, by every fetch and save, at the end of a turn
//      of a background context, and by rollback and reset. In a container's view context, where nobody may ever do any of
//      this, the main actor ends it when it is free again, provided somebody watches.
//   3. What happened is put together if somebody watches, and told.
//
// Those who are told may edit: that belongs to the next run, which they cannot end from there, but for saving, rolling back
// and resetting. So telling comes to an end.
//
// Invariants: nothing is pending if `hasEvent` is false.
// Threads: the context's.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    // MARK: Noting

    /// Notes what an object is, before it changes.
    @inline(__always)
    func objectWillChange(_ object: ManagedObject) {
        if object.changedIndex < changed.eventStart, !object.flags.contains(.noted),
            object.changedIndex >= 0 || recordsEdits
        {
            note(object)
        }
    }

    @inline(never)
    private func note(_ object: ManagedObject) {
        event.note(object)
        eventBegan()
    }

    /// Notes that there is something to be told.
    @inline(__always) func eventBegan() {
        hasEvent = true
        if isViewContext { endRunLater() }
    }

    /// Notes that an object is no more. Call it before the object leaves the list of changed ones.
    func noteLeaving(_ object: ManagedObject) {
        guard isWatched(.changes) else { return }
        // Of a new one nobody was told yet.
        if object.isInserted, object.changedIndex >= changed.eventStart { return }
        event.left.append(object)
        eventBegan()
    }

    /// Notes that the row of an object is gone.
    func noteVanishing(_ object: ManagedObject) {
        guard isWatched(.changes) else { return }
        // Of a new one nobody was told yet.
        if object.isInserted, object.changedIndex >= changed.eventStart { return }
        event.noteVanished(object)
        eventBegan()
    }

    /// Notes that an object shows what is stored now.
    func noteRefreshed(_ object: ManagedObject) {
        guard isWatched(.changes) else { return }
        event.noteRefreshed(object)
        eventBegan()
    }

    /// Notes that somebody else has made an object.
    func noteArrived(_ object: ManagedObject) {
        guard isWatched(.changes) else { return }
        event.arrived.append(object)
        eventBegan()
    }

    // MARK: Ending

    /// Ends the run of edits and tells what happened in it.
    func endEvent() {
        guard hasEvent else { return }
        let start = changed.eventStart
        let ended = beginEvent()
        guard isWatched(.changes) else { return }
        let changes = objectChanges(in: ended, from: start)
        if changes.isEmpty { return }
        let outer = told
        told = ended
        changed.beginTelling(from: start)
        tell(.didChange(changes))
        changed.endTelling()
        told = outer
    }

    /// From here on edits belong to a new run; gives what was noted of the last one.
    @discardableResult
    func beginEvent() -> PendingEvent {
        let ended = event
        ended.end()
        event = PendingEvent()
        hasEvent = false
        changed.beginEvent()
        return ended
    }

    /// The change that is made of a run.
    private func objectChanges(in ended: PendingEvent, from start: Int32) -> ObjectChanges {
        var changes = ObjectChanges()
        var seen: Set<ObjectIdentifier> = []
        for object in ended.left
        where object.isDeleted || object.managedObjectContext !== self {
            if seen.insert(ObjectIdentifier(object)).inserted { changes.deleted.append(object) }
        }
        for noted in ended.vanished {
            guard let object = goneObject(noted) else { continue }
            if seen.insert(ObjectIdentifier(object)).inserted { changes.deleted.append(object) }
        }
        for object in ended.noted
        where object.changedIndex >= 0 && object.changedIndex < start && !object.isDeleted {
            seen.insert(ObjectIdentifier(object))
            changes.updated.append(object)
        }
        changed.look(from: start) { object in
            if object.isDeleted { return }
            if object.isInserted {
                changes.inserted.append(object)
            } else {
                changes.updated.append(object)
            }
        }
        for object in ended.arrived
        where object.managedObjectContext === self && !object.isDeleted && !object.isInserted {
            if seen.insert(ObjectIdentifier(object)).inserted { changes.inserted.append(object) }
        }
        let detached =
            ended.refreshed.isEmpty
            ? [] : Set(ended.left.lazy.filter { $0.managedObjectContext !== self }.map(\.objectID))
        for noted in ended.refreshed where !detached.contains(noted.id) {
            // Who is told gets an object, be it that nobody holds the one that was.
            let object = faults(with: [noted.id], of: noted.entity)[0]
            guard !object.isDeleted, object.changedIndex < start else { continue }
            if seen.insert(ObjectIdentifier(object)).inserted { changes.refreshed.append(object) }
        }
        return changes
    }

    /// An object whose row was gone, for those who are told; nil if it is there again.
    private func goneObject(_ noted: NotedID) -> ManagedObject? {
        if let known = registry.object(for: noted.id) { return known.isDeleted ? known : nil }
        let object = faults(with: [noted.id], of: noted.entity)[0]
        object.flags.formUnion([.fulfilled, .gone, .deleted])
        hasGoneObjects = true
        return object
    }

    /// Ends the run when the main actor is free again.
    private func endRunLater() {
        guard !isRunToBeEnded, autosaveEnabled || isWatched(.changes) else { return }
        // Who works elsewhere, though nobody may, is not to be met by the main actor.
        if let facade, !facade.isWhereItWorks { return }
        isRunToBeEnded = true
        nonisolated(unsafe) let context = self
        // A view context belongs to the main actor, which is where this runs too.
        Task { @MainActor in
            context.isRunToBeEnded = false
            context.processPendingChanges()
            context.autosave()
        }
    }

    /// Ends a turn of the context, and of those that work on it: what they save by themselves is saved along with it.
    func endTurn(saves: Bool) {
        if !children.isEmpty {
            for child in livingChildren { child.endTurn(saves: saves) }
        }
        processPendingChanges()
        if saves { autosave() }
    }

    /// Saves if the context does that by itself.
    func autosave() {
        guard autosaveEnabled, hasChanges else { return }
        do {
            try operations.save(self)
            autosaveError = nil
        } catch {
            autosaveError = error
        }
    }

    // MARK: Telling

    /// Whether anybody wants to be told of one of some kinds of events.
    func isWatched(_ kinds: ContextEvent.Kinds) -> Bool {
        if !observedKinds.isDisjoint(with: kinds) || arePosted(kinds) { return true }
        return kinds.contains(.saves) && saveFeed?.isListenedTo == true
    }

    /// Whether events of some kinds are posted. What a context does that nobody sees is none of anybody's business, but what it
    /// saves.
    private func arePosted(_ kinds: ContextEvent.Kinds) -> Bool {
        ContextNotice.areAsked(isUnseen ? kinds.intersection(.saves) : kinds)
    }

    /// Has somebody in the module told of what happens from now on.
    func observe(_ observer: ContextObserver) {
        observers.append(observer)
        observedKinds.formUnion(observer.kinds)
    }

    /// Tells everybody.
    func tell(_ event: ContextEvent) {
        tellings += 1
        defer {
            tellings -= 1
            if hasMissedChanges { operations.mergeMissedChanges(into: self) }
        }
        var finished: [ContextObserver] = []
        for observer in observers where observer.kinds.contains(event.kind) {
            if !observer.receive(event, self) { finished.append(observer) }
        }
        if !finished.isEmpty {
            observers.removeAll { observer in finished.contains { $0 === observer } }
            observedKinds = observers.reduce(into: []) { $0.formUnion($1.kinds) }
        }
        if arePosted(event.kind) { post(event) }
    }
}
