// What was done in a context, so that it can be taken back and done again.
//
// Each run of edits is one step, unless a group is open: then all runs until the group ends are. Runs are told by the context,
// as to everybody who watches it; what a save, a merge policy, refreshing or merging brings about is no step.
//
// A step holds its objects: deleted ones come back as what they were, and be it that their deletion was saved.
//
// Invariants: what is in a step happened after all that is in the steps before it.
// Threads: the context's.

/// The undo history of a context.
///
/// By default, a context has none. With one, each run of edits is a step that ``ManagedObjectContext/undo()`` undoes
/// and ``ManagedObjectContext/redo()`` redoes:
///
/// ```swift
/// context.undoHistory = UndoHistory()
/// product.name = "Chair"
/// context.processPendingChanges()
/// product.name = "Stool"
/// context.undo()  // product.name == "Chair"
/// context.redo()  // product.name == "Stool"
/// ```
///
/// See ``ManagedObjectContext/processPendingChanges()`` for when a run ends. A save keeps the steps: undoing one after
/// it is a change that has to be saved again, and an object whose deletion was saved is inserted again under its old
/// id. A rollback and a reset remove them.
///
/// Steps contain attributes, relationships and transient properties, but not primitive values. Values set by the hooks
/// of a save belong to the step before it.
///
/// The history retains the objects of its steps, and with them the context.
public final class UndoHistory {
    /// The number of steps that are kept, the newest ones; 0 for all of them.
    public var levelsOfUndo: Int {
        didSet {
            precondition(levelsOfUndo >= 0, "an undo history cannot have \(levelsOfUndo) levels")
            dropOldest()
        }
    }
    /// Groups that were begun and not ended.
    public private(set) var groupingLevel = 0
    /// Whether a step is being undone.
    public internal(set) var isUndoing = false
    /// Whether a step is being done again.
    public internal(set) var isRedoing = false

    weak var context: ManagedObjectContext?
    /// How often a context began to record here.
    var registration = 0
    /// What becomes of the runs of edits that the context tells of.
    var recording = Recording.steps
    private var undoSteps: [UndoStep] = []
    private var redoSteps: [UndoStep] = []
    /// The step that is being put together.
    private var open = UndoStep()
    private var disabled = 0

    /// What becomes of runs of edits.
    enum Recording {
        /// Each is a step, or a part of the group that is open.
        case steps
        /// They belong to the step before.
        case afterthoughts
        /// They are forgotten.
        case nothing
    }

    /// A history without steps, for one context.
    public init(levelsOfUndo: Int = 0) {
        precondition(levelsOfUndo >= 0, "an undo history cannot have \(levelsOfUndo) levels")
        self.levelsOfUndo = levelsOfUndo
    }

    // MARK: Asking

    /// Whether there is a step to undo. The current run of edits counts.
    public var canUndo: Bool {
        !undoSteps.isEmpty || !open.isEmpty || (isRecording && context?.hasEvent == true)
    }

    /// Whether a step was undone and nothing was changed since.
    public var canRedo: Bool { !redoSteps.isEmpty }

    /// The name of the step that ``ManagedObjectContext/undo()`` would take back; empty if it has none.
    public var undoActionName: String { (groupingLevel > 0 ? open : undoSteps.last)?.name ?? "" }

    /// The name of the step that ``ManagedObjectContext/redo()`` would do again; empty if it has none.
    public var redoActionName: String { redoSteps.last?.name ?? "" }

    /// Names the current action, for a menu: the open group, or the current run of edits, which this ends, or the last
    /// step.
    public func setActionName(_ name: String) {
        context?.processPendingChanges()
        if groupingLevel > 0 {
            open.name = name
        } else if !undoSteps.isEmpty {
            undoSteps[undoSteps.count - 1].name = name
        }
    }

    // MARK: Groups

    /// Begins a group: all edits from here to the end of the group are one step. Groups in groups are a part of the outermost.
    public func beginUndoGrouping() {
        context?.processPendingChanges()
        groupingLevel += 1
    }

    /// Ends a group. A group without edits is no step.
    public func endUndoGrouping() {
        precondition(groupingLevel > 0, "endUndoGrouping() was called without beginUndoGrouping()")
        context?.processPendingChanges()
        groupingLevel -= 1
        if groupingLevel == 0 { close() }
    }

    // MARK: Recording

    /// Whether edits become steps.
    public var isUndoRegistrationEnabled: Bool { disabled == 0 }

    /// Edits from here on are no steps. Each call wants an ``enableUndoRegistration()``.
    public func disableUndoRegistration() {
        context?.processPendingChanges()
        disabled += 1
    }

    /// Takes one ``disableUndoRegistration()`` back.
    public func enableUndoRegistration() {
        precondition(
            disabled > 0, "enableUndoRegistration() was called without disableUndoRegistration()")
        context?.processPendingChanges()
        disabled -= 1
    }

    /// Forgets all steps.
    public func removeAllActions() {
        let forgotten = (undoSteps, redoSteps, open)
        undoSteps = []
        redoSteps = []
        open = UndoStep()
        // Objects that end with their steps may come back here.
        withExtendedLifetime(forgotten) {}
    }

    /// The context has it no more.
    func leave() {
        removeAllActions()
        context = nil
        groupingLevel = 0
    }

    /// Whether runs of edits that are told of now are kept.
    var isRecording: Bool { disabled == 0 && recording != .nothing }

    /// Notes a run of edits.
    func note(_ event: UndoEvent) {
        guard isRecording, !event.isEmpty else { return }
        if recording == .afterthoughts, groupingLevel == 0, undoSteps.isEmpty { return }
        // What a save's hooks set does not take away what was undone before it.
        if recording == .steps { redoSteps = [] }
        if groupingLevel > 0 {
            open.events.append(event)
        } else if recording == .afterthoughts {
            undoSteps[undoSteps.count - 1].events.append(event)
        } else {
            undoSteps.append(UndoStep(events: [event]))
            dropOldest()
        }
    }

    private func close() {
        let step = open
        open = UndoStep()
        if step.isEmpty { return }
        undoSteps.append(step)
        dropOldest()
    }

    private func dropOldest() {
        if levelsOfUndo > 0, undoSteps.count > levelsOfUndo {
            undoSteps.removeFirst(undoSteps.count - levelsOfUndo)
        }
    }

    // MARK: Taking steps

    /// The step to be taken back; nil if there is none.
    func takeUndo() -> UndoStep? {
        precondition(groupingLevel <= 1, "a nested undo group has not ended")
        if groupingLevel == 1 { endUndoGrouping() }
        return undoSteps.popLast()
    }

    /// The step to be done again; nil if there is none.
    func takeRedo() -> UndoStep? {
        precondition(groupingLevel == 0, "an undo group has not ended")
        return redoSteps.popLast()
    }

    /// A step was taken back.
    func keepUndone(_ step: UndoStep) { redoSteps.append(step) }

    /// A step was done again.
    func keepRedone(_ step: UndoStep) { undoSteps.append(step) }
}

/// One or more runs of edits that are taken back together.
struct UndoStep {
    var events: [UndoEvent] = []
    var name = ""

    var isEmpty: Bool { events.isEmpty }
}
