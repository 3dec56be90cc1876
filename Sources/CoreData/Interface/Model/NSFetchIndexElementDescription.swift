// One property or expression of a fetch index, with Core Data's names.

import CairnModel
public import Foundation

/// One property or expression of a fetch index.
open class NSFetchIndexElementDescription: NSObject, NSCopying, ModelPart, @unchecked Sendable {
    // An element of a model that is in use does not change any more.

    /// The property; an ``NSExpressionDescription`` for an expression.
    public let property: NSPropertyDescription?
    /// The kind of index.
    open var collationType: NSFetchIndexElementType { willSet { willChange() } }
    /// Whether the order is ascending.
    open var isAscending = true { willSet { willChange() } }
    /// The index that it is in.
    open var indexDescription: NSFetchIndexDescription? { owner }

    weak var owner: NSFetchIndexDescription?
    var isInUse = false
    /// What a model that was read says of it.
    private var core: FetchIndexDescription.Element?

    /// An element.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    /// The element of a model that was read.
    init(_ core: FetchIndexDescription.Element, _ properties: [String: NSPropertyDescription]) {
        self.core = core
        if let name = core.propertyName {
            property = properties[name]
        } else {
            let expression = NSExpressionDescription()
            expression.expression = core.expression.map { NSExpression(format: $0) }
            property = expression
        }
        collationType = core.kind == .rTree ? .rTree : .binary
        isAscending = core.isAscending
    }

    /// The name of the property.
    open var propertyName: String? {
        property is NSExpressionDescription ? nil : property?.name ?? core?.propertyName
    }

    /// Cairn's description. What has no form there is added to the errors.
    func described(_ errors: inout [ModelError]) -> FetchIndexDescription.Element {
        var made: FetchIndexDescription.Element
        if let core, propertyName == core.propertyName {
            made = core
        } else if let expression = property as? NSExpressionDescription {
            made = FetchIndexDescription.Element(
                expression: expression.expression?.description ?? "", type: nil)
        } else {
            made = FetchIndexDescription.Element(propertyName ?? "")
        }
        made.kind = collationType == .rTree ? .rTree : .binary
        made.isAscending = isAscending
        return made
    }

    /// An element that can be changed, of no index.
    var copied: NSFetchIndexElementDescription {
        var errors: [ModelError] = []
        let described = described(&errors)
        guard let property else { return NSFetchIndexElementDescription(described, [:]) }
        let copy = NSFetchIndexElementDescription(property: property, collationType: collationType)
        copy.isAscending = isAscending
        return copy
    }

    /// An element that can be changed, of no index.
    open func copy(with zone: NSZone? = nil) -> Any { copied }
}
