// Where the properties of a typed class are in the entity of a store: found by name once, then by number.
//
//   1. Each property is looked up by name in the entity and its type compared.
//   2. What was found is kept by the property's number; the columns of composite attributes lie in a list of
//      their own, in the order of the Swift struct.
//
// Invariants: as many slots as the class has properties; immutable.
// Threads: any.

import CairnModel
import CairnStore

/// The properties of a typed class in one entity of a store.
public final class EntityBinding: @unchecked Sendable {
    // Immutable: the memory of the slots is written in init alone.

    /// Where a property is.
    enum Slot {
        /// In a column.
        case column(Int)
        /// In the columns of that composite list.
        case composite(Int)
        /// To-one relationship, by index.
        case target(Int)
        /// To-many relationship, by index.
        case members(Int)
        /// In memory only: attribute, by index.
        case transient(Int)
        /// Nowhere, since the entity has no such property or one of another type.
        case missing
    }

    /// The entity.
    let entity: SchemaEntity
    /// The class's description; nil if it has none.
    let typed: TypedEntity?
    /// By property number.
    let slots: UnsafePointer<Slot>
    let count: Int
    /// The columns of composite attributes.
    private let composites: [[Int]]

    init(_ entity: SchemaEntity, _ typed: TypedEntity?) {
        self.entity = entity
        self.typed = typed
        let properties = typed?.properties ?? []
        count = properties.count
        var composites: [[Int]] = []
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: max(1, properties.count))
        for (number, property) in properties.enumerated() {
            (slots + number).initialize(to: Self.slot(property, entity, &composites))
        }
        self.slots = UnsafePointer(slots)
        self.composites = composites
    }

    deinit {
        slots.deallocate()
    }

    /// Where a property is.
    ///
    /// - Precondition: the number is one of the class.
    @inline(__always)
    func slot(_ number: Int) -> Slot {
        precondition(number < count, "the object's class has no property of this number")
        return slots[number]
    }

    /// The columns of a composite attribute, in the order of the struct.
    func columns(ofComposite list: Int) -> [Int] { composites[list] }

    /// Says what is wrong, and stops.
    func misuse(_ number: Int, _ message: String) -> Never {
        let name = typed.map { $0.properties[number].name } ?? "property \(number)"
        preconditionFailure("\(entity.name).\(name) \(message)")
    }

    /// The first property that the entity does not have, or has with another type.
    var missingProperty: String? {
        for number in 0..<count {
            if case .missing = slots[number] { return typed?.properties[number].name }
        }
        return nil
    }

    // MARK: Finding

    private static func slot(
        _ property: TypedProperty, _ entity: SchemaEntity, _ composites: inout [[Int]]
    ) -> Slot {
        switch property.content {
        case .attribute(let attribute, let fits):
            guard let index = entity.attributeIndex(named: property.name) else { return .missing }
            let known = entity.attributes[index].description
            if known.isTransient {
                return attribute.type != .composite
                    && (known.type == .undefined || fits[0](known.type))
                    ? .transient(index) : .missing
            }
            guard attribute.type == .composite else {
                guard let column = entity.columnIndex(named: property.name),
                    isHeld(column, fits[0], entity)
                else { return .missing }
                return .column(column)
            }
            var columns: [Int] = []
            for name in leafNames(attribute, prefix: property.name) {
                guard let column = entity.columnIndex(named: name),
                    isHeld(column, fits[columns.count], entity)
                else { return .missing }
                columns.append(column)
            }
            composites.append(columns)
            return .composite(composites.count - 1)
        case .relationship(let relationship, _):
            guard let index = entity.relationshipIndex(named: property.name),
                entity.relationships[index].description.isToMany == relationship.isToMany
            else { return .missing }
            return relationship.isToMany ? .members(index) : .target(index)
        }
    }

    private static func isHeld(
        _ column: Int, _ fits: @Sendable (AttributeType) -> Bool, _ entity: SchemaEntity
    ) -> Bool {
        guard case .attribute(let type) = entity.columns[column].kind else { return false }
        return fits(type)
    }

    static func leafNames(_ attribute: AttributeDescription, prefix: String) -> [String] {
        attribute.elements.flatMap { element in
            let name = "\(prefix).\(element.name)"
            return element.type == .composite ? leafNames(element, prefix: name) : [name]
        }
    }
}

extension ManagedObject {
    /// Where the properties of the object's class are in its entity.
    final var binding: EntityBinding {
        let scope = scope
        if type(of: self) == scope.type { return scope.binding }
        // An object can be of another class than its entity's, if somebody made it by hand.
        if let known = rarer?.binding { return known }
        let made = EntityBinding(entity, type(of: self)._typedEntity)
        extras.binding = made
        return made
    }
}
