// An attribute that stores compute, with Core Data's names.

import CairnModel
import Foundation

/// An attribute whose value is derived from others when an object is saved.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    // An attribute of a model that is in use does not change any more.

    /// What it is derived from: a key path, `canonical:(name)`, `notes.@count`, `now()`, …
    open var derivationExpression: NSExpression? {
        get { core.derivationExpression.map { NSExpression(format: $0) } }
        set {
            willChange()
            do {
                core.derivationExpression = try newValue?.node.expressionFormat
            } catch {
                preconditionFailure("nothing can be derived from \(newValue as Any): \(error)")
            }
        }
    }
}
