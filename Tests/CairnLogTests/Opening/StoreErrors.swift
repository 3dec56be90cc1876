// What tests ask of the errors of a store.

import CairnStore
import Testing

/// The error that a closure has to throw.
func storeError(
    _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
    #expect(throws: StoreError.self, sourceLocation: location, performing: body)
}

/// The code of the error that a closure throws; nil if it throws none.
func storeErrorCode(_ body: () throws -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch { return (error as? StoreError)?.code }
}
