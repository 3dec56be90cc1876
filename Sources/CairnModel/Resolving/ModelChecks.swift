// The checks of a model beyond names, inheritance and inverses.
//
//   1. Limits are values of the attribute's type, and not the wrong way round.
//   2. Indexes are built over stored properties.
//   3. Merge rules fit what they are about.
//   4. Configurations, fetched properties and templates name entities that exist.

struct ModelChecks {
    let model: ManagedObjectModel
    let entities: [SchemaEntity]
    private let names: Set<String>

    init(model: ManagedObjectModel, entities: [SchemaEntity]) {
        self.model = model
        self.entities = entities
        names = Set(entities.map(\.name))
    }

    func run() throws(ModelError) {
        for entity in entities {
            for attribute in entity.description.attributes {
                try check(attribute, path: "\(entity.name).\(attribute.name)")
            }
            try checkIndexes(of: entity)
            try checkMergeRules(of: entity)
            for property in entity.description.fetchedProperties {
                try require(
                    property.entityName, "the fetched entity",
                    element: "\(entity.name).\(property.name)")
            }
        }
        for (name, members) in model.configurations.inKeyOrder() {
            for member in members {
                try require(member, "the member", element: "configuration \(name)")
            }
        }
        var templates: Set<String> = []
        for template in model.fetchRequestTemplates {
            let element = "fetch request \(template.name)"
            try require(template.entityName, "the fetched entity", element: element)
            guard templates.insert(template.name).inserted else {
                throw ModelError(
                    .duplicateName, "the model has two fetch requests of this name",
                    element: element)
            }
        }
    }

    private func require(_ entity: String, _ role: String, element: String) throws(ModelError) {
        guard names.contains(entity) else {
            throw ModelError(
                .unknownName, "\(role) \(entity) is not in the model", element: element)
        }
    }

    // MARK: Attributes

    private func check(_ attribute: AttributeDescription, path: String) throws(ModelError) {
        do throws(PredicateFormatError) {
            _ = try attribute.valueConditions()
        } catch {
            throw ModelError(
                .invalidValue, "the validation predicate cannot be evaluated for a value: \(error)",
                element: path)
        }
        if attribute.type == .composite {
            for element in attribute.elements {
                try check(element, path: "\(path).\(element.name)")
            }
            return
        }
        for limit in [attribute.minimumValue, attribute.maximumValue] {
            guard let limit else { continue }
            guard limit.fits(attribute.type), limit.compare(to: limit) != nil else {
                throw ModelError(
                    .invalidValue,
                    "the limit \(limit) is not a value of type \(attribute.type.rawValue) with an order",
                    element: path)
            }
        }
        if let minimum = attribute.minimumValue, let maximum = attribute.maximumValue,
            minimum.compare(to: maximum) == .descending
        {
            throw ModelError(
                .invalidValue, "the minimum \(minimum) is greater than the maximum \(maximum)",
                element: path)
        }
        let least = attribute.minimumLength ?? 0
        let most = attribute.maximumLength ?? Int.max
        guard least >= 0, most >= 0, least <= most else {
            throw ModelError(
                .invalidValue, "no string can have between \(least) and \(most) characters",
                element: path)
        }
    }

    // MARK: Indexes

    private func checkIndexes(of entity: SchemaEntity) throws(ModelError) {
        var names: Set<String> = []
        for index in entity.description.indexes {
            let element = "\(entity.name), index \(index.name)"
            if index.form == .fetchIndex, !names.insert(index.name).inserted {
                throw ModelError(
                    .duplicateName, "the entity has two indexes of this name", element: element)
            }
            for part in index.elements {
                guard let name = part.propertyName, entity.columnIndex(named: name) == nil else {
                    continue
                }
                // The old mark on a property that is not stored has never meant anything.
                if index.form == .indexed { continue }
                if index.form == .compoundIndex, name == "self" || name == "entity" { continue }
                throw ModelError(
                    .invalidConstraint,
                    "\(name) is not a stored attribute or to-one relationship of the entity",
                    element: element)
            }
        }
    }
}
