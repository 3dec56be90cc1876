// Where the properties of a typed class are in the entity of a store: found by name once, then by number.
//
//   1. Each property is looked up by name in the entity and its type compared. A class that no macro describes has the
//      properties of the entity: its attributes, then its relationships.
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
        /// The entity has no such property, or one of another type.
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
        var composites: [[Int]] = []
        let list =
            typed.map { $0.properties.map { Self.slot($0, entity, &composites) } }
            ?? Self.slots(of: entity)
        count = list.count
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: max(1, count))
        slots.initialize(from: list, count: count)
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
        preconditionFailure("\(entity.name).\(name(number)) \(message)")
    }

    /// The name of a property in the model.
    func name(_ number: Int) -> String {
        if let typed { return typed.properties[number].name }
        let attributes = entity.attributes.count
        return number < attributes
            ? entity.attributes[number].description.name
            : entity.relationships[number - attributes].description.name
    }

    /// The first property that the entity does not have, or has with another type.
    var missingProperty: String? {
        for number in 0..<count {
            if case .missing = slots[number] { return typed?.properties[number].name }
        }
        return nil
    }

    // MARK: Finding

    /// The properties of an entity. Composite attributes are read by key alone.
    private static func slots(of entity: SchemaEntity) -> [Slot] {
        entity.attributes.enumerated().map { index, attribute in
            if attribute.description.isTransient { return .transient(index) }
            return attribute.description.type == .composite
                ? .missing : .column(attribute.columns.lowerBound)
        }
            + entity.relationships.enumerated().map { index, relationship in
                relationship.description.isToMany ? .members(index) : .target(index)
            }
    }

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
