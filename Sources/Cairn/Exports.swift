// What `import Cairn` brings along: the model, the requests and results of a store, and the object layer.

@_exported public import CairnModel
@_exported public import CairnObjects
@_exported public import CairnStore
