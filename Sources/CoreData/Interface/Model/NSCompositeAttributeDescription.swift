// A group of attributes that is one attribute, with Core Data's names.

import CairnModel
import Foundation

/// An attribute that is made of others. Its value is a dictionary by their names.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    // An attribute of a model that is in use does not change any more.

    /// The attributes that it is made of.
    open var elements: [NSAttributeDescription] {
        willSet {
            willChange()
            // They are no longer those of the model's composite of that name.
            core.compositeName = nil
        }
    }

    /// A composite attribute without elements.
    public override init() {
        elements = []
        super.init()
        core.type = .composite
    }

    override init(_ core: CairnModel.AttributeDescription) {
        elements = core.elements.map(NSAttributeDescription.standing(for:))
        super.init(core)
    }

    override func described(_ errors: inout [ModelError]) -> CairnModel.AttributeDescription {
        var made = super.described(&errors)
        made.elements = elements.map { $0.described(&errors) }
        return made
    }

    override func takeRest(of other: NSPropertyDescription) {
        super.takeRest(of: other)
        guard let other = other as? NSCompositeAttributeDescription else { return }
        for (own, element) in zip(elements, other.elements) { own.takeRest(of: element) }
    }

    override var isInUse: Bool { didSet { for element in elements { element.isInUse = isInUse } } }
}
