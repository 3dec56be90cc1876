// What people import: the model, the contract, the object layer and the store; and Foundation, whose dates,
// predicates and sort descriptors requests are made with.

@_exported public import CairnLog
@_exported public import CairnMigration
@_exported public import CairnModel
@_exported public import CairnMoving
@_exported public import CairnObjects
@_exported public import CairnStore
@_exported public import Foundation
