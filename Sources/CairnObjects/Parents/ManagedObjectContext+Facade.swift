// Contexts that do the work for those of a layer above.

import CairnModel

extension ManagedObjectContext {
    /// Has it do the work for a context of a layer above.
    ///
    /// - Parameters:
    ///   - isOnMainActor: whether that belongs to the main actor.
    ///   - wake: has the context merge what others have written, where its work is done; nil: it does so between edits.
    package func serve(
        _ facade: any ContextFacade, isOnMainActor: Bool, wake: (@Sendable () -> Void)?
    ) {
        self.facade = facade
        isViewContext = isOnMainActor
        self.wake = wake
    }

    /// Whether it belongs to the main actor, which ends runs of edits that nobody else does.
    package var isOnMainActor: Bool {
        get { isViewContext }
        set { isViewContext = newValue }
    }
}
