// What people import: the model, the contract, the object layer and the store.

@_exported public import CairnLog
@_exported public import CairnModel
@_exported public import CairnObjects
@_exported public import CairnStore
