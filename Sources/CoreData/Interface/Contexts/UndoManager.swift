// Taking back what was done in a context, with the names of Foundation's class, which Linux does not have.
//
// It stands for the undo history of one context. What Foundation's class does for the program's own steps, `registerUndo` and
// `prepare(withInvocationTarget:)`, there is not: a step is what was edited in the context.
//
// Threads: the context's queue.

import CairnObjects
public import Foundation

/// The steps of a context that can be taken back and done again.
open class UndoManager: NSObject {
    let history = UndoHistory()
    /// The context whose steps these are.
    weak var context: NSManagedObjectContext?
    /// Kept for the program: each run of edits of the context is a step of its own, unless a group is open.
    open var groupsByEvent = true

    public override init() {}

    /// The number of steps that are kept; 0 for all of them.
    open var levelsOfUndo: Int {
        get { history.levelsOfUndo }
        set { history.levelsOfUndo = newValue }
    }

    // MARK: Groups

    /// Groups that were begun and not ended.
    open var groupingLevel: Int { history.groupingLevel }

    /// Begins a group: all edits from here to its end are one step.
    open func beginUndoGrouping() { history.beginUndoGrouping() }

    /// Ends a group.
    open func endUndoGrouping() { history.endUndoGrouping() }

    // MARK: Recording

    /// Whether edits become steps.
    open var isUndoRegistrationEnabled: Bool { history.isUndoRegistrationEnabled }

    /// Edits from here on are no steps.
    open func disableUndoRegistration() { history.disableUndoRegistration() }

    /// Takes one ``disableUndoRegistration()`` back.
    open func enableUndoRegistration() { history.enableUndoRegistration() }

    /// Forgets all steps.
    open func removeAllActions() { history.removeAllActions() }

    /// Forgets the steps of a context, if it is the manager's; there are no others.
    open func removeAllActions(withTarget target: Any) {
        if let context, target as AnyObject === context { removeAllActions() }
    }

    /// A step of the program's own.
    @available(
        *, unavailable,
        message: "only edits of a context are steps: put what is to be taken back into an object"
    )
    open func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) { fatalError("unavailable") }

    // MARK: Taking back

    /// Whether there is a step to take back.
    open var canUndo: Bool { history.canUndo }
    /// Whether a step was taken back and nothing was done since.
    open var canRedo: Bool { history.canRedo }
    /// Whether a step is being taken back.
    open var isUndoing: Bool { history.isUndoing }
    /// Whether a step is being done again.
    open var isRedoing: Bool { history.isRedoing }

    /// Takes the last step back. A group that is open ends.
    open func undo() {
        post("WillUndoChange")
        context?.core.undo()
        post("DidUndoChange")
    }

    /// Does the step again that was taken back last.
    open func redo() {
        post("WillRedoChange")
        context?.core.redo()
        post("DidRedoChange")
    }

    private func post(_ event: String) {
        NotificationCenter.default.post(name: .undoManager(event), object: self)
    }

    // MARK: Names

    /// The name of the step that ``undo()`` would take back; empty if it has none.
    open var undoActionName: String { history.undoActionName }
    /// The name of the step that ``redo()`` would do again; empty if it has none.
    open var redoActionName: String { history.redoActionName }
    /// The text of a menu for ``undo()``.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// The text of a menu for ``redo()``.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// Names the last step.
    open func setActionName(_ actionName: String) { history.setActionName(actionName) }

    /// The text of a menu for a step to take back.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// The text of a menu for a step to do again.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }
}

extension Notification.Name {
    /// Posted by an ``UndoManager`` before it takes a step back.
    public static var NSUndoManagerWillUndoChange: Notification.Name {
        undoManager("WillUndoChange")
    }
    /// Posted by an ``UndoManager`` after it has taken a step back.
    public static var NSUndoManagerDidUndoChange: Notification.Name { undoManager("DidUndoChange") }
    /// Posted by an ``UndoManager`` before it does a step again.
    public static var NSUndoManagerWillRedoChange: Notification.Name {
        undoManager("WillRedoChange")
    }
    /// Posted by an ``UndoManager`` after it has done a step again.
    public static var NSUndoManagerDidRedoChange: Notification.Name { undoManager("DidRedoChange") }

    fileprivate static func undoManager(_ event: String) -> Notification.Name {
        Notification.Name("NSUndoManager\(event)Notification")
    }
}
