// The model that a store of Core Data keeps of itself, and that Xcode compiles: the archive of an NSManagedObjectModel.
//
//   1. Entities are in a dictionary by name. Each has all its properties, those that it inherits too: its own are
//      those that its superentity does not have.
//   2. A relationship is to-one if it holds at most one object.
//   3. Limits, lengths and patterns are validation predicates.
//   4. What has no form in a model here (a block, the default of a class that is not known) is left out, and named.
//
// Predicates and expressions are kept as texts: each is tried by itself, so that one without a form takes nothing with it.
//
// Neither entities nor properties have an order there: they are taken by their names.

import FoundationEssentials

/// A model read from an archive.
package struct ArchivedModel {
    /// The model.
    package private(set) var model: ManagedObjectModel
    /// What of it was left out.
    package private(set) var remarks: [String] = []

    /// Reads the archive of a model; nil if the object is none.
    package init?(_ archive: KeyedArchive) {
        guard let root = archive.top, root.type == "NSManagedObjectModel" else { return nil }
        model = ManagedObjectModel()
        model.versionIdentifiers = root.texts("NSVersionIdentifiers").sorted()
        let entities = root.namedObjects("NSEntities").sorted { $0.key < $1.key }
        for (name, entity) in entities where entity.type == "NSEntityDescription" {
            add(entity, named: entity.text("NSEntityName") ?? name)
        }
        guard !model.entities.isEmpty else { return nil }
        for (name, request) in root.namedObjects("NSFetchRequestTemplates").sorted(by: {
            $0.key < $1.key
        }) { addTemplate(request, named: name) }
        for (name, value) in root.entries("NSConfigurations")
        where name != "PF_DEFAULT_CONFIGURATION_NAME" {
            let members =
                root.object(of: value)?.elements ?? root.resolved(value).array ?? []
            model.configurations[name] = members.compactMap { member in
                root.text(of: member) ?? root.object(of: member)?.text("NSEntityName")
            }.sorted()
        }
    }

    /// The schema of the model. What keeps it from having one is left out, if it is nothing that says what is stored: derivations
    /// one by one, else everything of a kind.
    package mutating func schema() throws(ModelError) -> Schema {
        do throws(ModelError) {
            return try Schema(model)
        } catch {
            let first = error
            if let schema = withoutRefusedDerivations() { return schema }
            // From what matters least: each step takes something more away.
            let steps: [(String, (inout EntityDescription) -> Void)] = [
                (
                    "validation predicates",
                    { entity in
                        for index in entity.attributes.indices {
                            entity.attributes[index].setValidationPredicates([])
                            entity.attributes[index].regularExpression = nil
                        }
                    }
                ),
                ("fetch indexes", { $0.indexes = [] }),
                ("fetched properties", { $0.fetchedProperties = [] }),
            ]
            for (what, strip) in steps {
                for index in model.entities.indices { strip(&model.entities[index]) }
                remarks.append("the model's \(what) are left out: \(first)")
                if let schema = withoutRefusedDerivations() { return schema }
            }
            throw first
        }
    }

    /// The schema, if nothing keeps the model from having one but derivations, which are taken away.
    private mutating func withoutRefusedDerivations() -> Schema? {
        guard let stored = try? Schema(model, isStored: true) else { return nil }
        var names: [Int: Set<String>] = [:]
        for refused in stored.refusedDerivations {
            // A schema has the entities in the order of its model.
            names[refused.entity, default: []].insert(refused.attribute)
            remarkUnderived(
                "\(model.entities[refused.entity].name).\(refused.attribute)",
                refused.reason.message)
        }
        for (entity, names) in names {
            for index in model.entities[entity].attributes.indices
            where names.contains(model.entities[entity].attributes[index].name) {
                Self.underive(&model.entities[entity].attributes[index])
            }
        }
        return try? Schema(model)
    }

    private static func underive(_ attribute: inout AttributeDescription) {
        attribute.derivationExpression = nil
        for index in attribute.elements.indices { underive(&attribute.elements[index]) }
    }

    private mutating func remarkUnderived(_ path: String, _ reason: String) {
        remarks.append(
            "the model's \(path) is no longer derived, and keeps the value it has: \(reason)")
    }

    // MARK: Entities

    private mutating func add(_ archived: ArchivedObject, named name: String) {
        var entity = EntityDescription(name)
        entity.managedObjectClassName = archived.text("NSClassNameForEntity").flatMap {
            $0 == "NSManagedObject" ? nil : $0
        }
        entity.isAbstract = archived.flag("NSIsAbstract")
        let parent = archived.object("NSSuperentity")
        entity.superentityName = parent?.text("NSEntityName")
        entity.renamingIdentifier = Self.renaming(archived, name)
        entity.versionHashModifier = archived.text("NSVersionHashModifier")
        entity.userInfo = Self.userInfo(archived)
        entity.uniquenessConstraints = archived.list("NSUniqueTuples").compactMap { tuple in
            let members =
                archived.object(of: tuple)?.elements ?? archived.resolved(tuple).array ?? []
            let names = members.compactMap {
                archived.text(of: $0) ?? archived.object(of: $0)?.text("NSPropertyName")
            }
            return names.isEmpty ? nil : names
        }
        let inherited = Set((parent?.entries("NSProperties") ?? []).map(\.key))
        let properties = archived.namedObjects("NSProperties").sorted { $0.key < $1.key }
        for (name, property) in properties where !inherited.contains(name) {
            add(property, named: name, to: &entity)
        }
        addIndexes(of: archived, below: parent, to: &entity)
        model.entities.append(entity)
    }

    private static func renaming(_ archived: ArchivedObject, _ name: String) -> String? {
        archived.text("NSRenamingIdentifier").flatMap { $0 == name || $0.isEmpty ? nil : $0 }
    }

    private static func userInfo(_ archived: ArchivedObject) -> [String: String] {
        var info: [String: String] = [:]
        for (key, value) in archived.entries("NSUserInfo") {
            if let text = archived.text(of: value) { info[key] = text }
        }
        return info
    }

    private mutating func add(
        _ property: ArchivedObject, named name: String, to entity: inout EntityDescription
    ) {
        switch property.type {
        case "NSRelationshipDescription":
            entity.relationships.append(relationship(property, name))
        case "NSFetchedPropertyDescription": addFetched(property, named: name, to: &entity)
        // Attributes come in several classes.
        default:
            guard let attribute = attribute(property, name, of: entity.name) else {
                remarks.append(
                    "the model's \(entity.name).\(name) is left out: \(property.type) is not known")
                return
            }
            entity.attributes.append(attribute)
            if property.flag("NSIsIndexed"), !attribute.isTransient {
                var index = FetchIndexDescription(
                    "indexed \(name)", elements: [.init(name)])
                index.form = .indexed
                entity.indexes.append(index)
            }
        }
    }

    // MARK: Attributes

    private mutating func attribute(_ property: ArchivedObject, _ name: String, of owner: String)
        -> AttributeDescription?
    {
        guard let code = property.integer("NSAttributeType"),
            let type = AttributeType.allCases.first(where: { Int64($0.code) == code })
        else { return nil }
        var attribute = AttributeDescription(
            name, type, optional: property.flag("NSIsOptional"))
        attribute.isTransient = property.flag("NSIsTransient")
        attribute.renamingIdentifier = Self.renaming(property, name)
        attribute.versionHashModifier = property.text("NSVersionHashModifier")
        attribute.userInfo = Self.userInfo(property)
        if type == .transformable {
            attribute.valueTransformerName = property.text("NSValueTransformerName")
            attribute.customClassName = property.text("NSAttributeValueClassName")
        }
        let flags = property.integer("NSFlagsKey") ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
        attribute.preservesValueInHistoryOnDeletion = flags & 0x10 != 0
        let path = "\(owner).\(name)"
        readDefault(of: property, path, into: &attribute)
        if type == .composite {
            attribute.elements = property.keys.flatMap { property.objects($0) }
                .filter { $0.type.hasSuffix("AttributeDescription") }
                .compactMap { element in
                    element.text("NSPropertyName").flatMap {
                        self.attribute(element, $0, of: path)
                    }
                }
        }
        if let expression = property.object("NSDerivationExpression") {
            do throws(ArchivedTreeError) {
                attribute.derivationExpression =
                    try ArchivedTree.writtenExpression(expression).expressionFormat
            } catch {
                remarkUnderived(path, error.description)
            }
        }
        readValidation(of: property, path, into: &attribute)
        return attribute
    }

    private mutating func readDefault(
        of property: ArchivedObject, _ path: String, into attribute: inout AttributeDescription
    ) {
        let value = property["NSDefaultValue"]
        guard value != .null else { return }
        switch attribute.type {
        case .transformable, .binary, .undefined, .objectID, .composite:
            remarks.append("the model's default of \(path) is left out: a model cannot hold it")
            return
        default: break
        }
        if let known = ArchivedValue.value(value, in: property, as: attribute.type) {
            attribute.defaultValue = known
        } else {
            remarks.append(
                "the model's default of \(path) is left out: it is not of type \(attribute.type.rawValue)"
            )
        }
    }

    private mutating func readValidation(
        of property: ArchivedObject, _ path: String, into attribute: inout AttributeDescription
    ) {
        let predicates = property.objects("NSValidationPredicates")
        let warnings = property.list("NSValidationWarnings").map { property.text(of: $0) ?? "" }
        var kept: [PredicateNode] = []
        var words: [String] = []
        for (place, predicate) in predicates.enumerated() {
            let warning = place < warnings.count ? warnings[place] : ""
            do {
                let node = try ArchivedTree.writtenPredicate(predicate)
                if attribute.takeLimit(node) { continue }
                // One that no value can be asked would keep the model from having a schema.
                var probe = attribute
                probe.setValidationPredicates([node])
                _ = try probe.valueConditions()
                kept.append(node)
                words.append(warning)
            } catch {
                remarks.append(
                    "a validation predicate of the model's \(path) is left out: \(error)")
            }
        }
        attribute.setValidationPredicates(kept, withValidationWarnings: words)
        do {
            try attribute.checkRegularExpression()
        } catch {
            attribute.regularExpression = nil
            remarks.append(
                "the pattern of the model's \(path) cannot be used and is left out: \(error)")
        }
    }

    /// The format of a predicate; nil, with a remark on what is left out, if it has none.
    private mutating func format(_ predicate: ArchivedObject, of part: String) -> String? {
        do throws(ArchivedTreeError) {
            return try ArchivedTree.writtenPredicate(predicate).predicateFormat
        } catch {
            remarks.append(
                "the model's \(part) is left out: its predicate cannot be written as text: \(error)"
            )
            return nil
        }
    }

    // MARK: Relationships and fetched properties

    private func relationship(_ property: ArchivedObject, _ name: String)
        -> RelationshipDescription
    {
        let most = property.integer("NSMaxCount") ?? 1
        var relationship = RelationshipDescription(
            name,
            to: property.text("_NSDestinationEntityName")
                ?? property.object("NSDestinationEntity")?.text("NSEntityName") ?? "",
            toMany: most != 1,
            inverse: property.text("_NSInverseRelationshipName")
                ?? property.object("NSInverseRelationship")?.text("NSPropertyName"))
        relationship.isOptional = property.flag("NSIsOptional")
        relationship.isTransient = property.flag("NSIsTransient")
        relationship.isOrdered = property.flag("NSIsOrdered")
        relationship.minimumCount = Int(clamping: max(0, property.integer("NSMinCount") ?? 0))
        // Core Data writes -1 or 0 for as many as there are.
        relationship.maximumCount = Int(clamping: max(0, most))
        let rules: [DeleteRule] = [.noAction, .nullify, .cascade, .deny]
        let rule = property.integer("NSDeleteRule") ?? 1
        relationship.deleteRule = (0...3).contains(rule) ? rules[Int(rule)] : .nullify
        relationship.renamingIdentifier = Self.renaming(property, name)
        relationship.versionHashModifier = property.text("NSVersionHashModifier")
        relationship.userInfo = Self.userInfo(property)
        return relationship
    }

    private mutating func addFetched(
        _ property: ArchivedObject, named name: String, to entity: inout EntityDescription
    ) {
        let request = property.object("NSFetchRequest")
        let target =
            property.text("_NSFetchRequestEntityName")
            ?? request?.object("NSEntity")?.text("NSEntityName")
        var format: String?
        if let predicate = request?.object("NSPredicate") {
            format = self.format(predicate, of: "fetched property \(entity.name).\(name)")
            if format == nil { return }
        }
        guard let target else {
            remarks.append(
                "the model's fetched property \(entity.name).\(name) is left out: it fetches nothing"
            )
            return
        }
        var fetched = FetchedPropertyDescription(name, entityName: target, predicateFormat: format)
        fetched.isOptional = property.flag("NSIsOptional")
        fetched.userInfo = Self.userInfo(property)
        for order in request?.objects("NSSortDescriptors") ?? [] {
            guard let key = order.text("NSKey"),
                let sort = try? SortKey(
                    key, ascending: order.flag("NSAscending"),
                    selector: order.text("NSSelector") ?? "compare:")
            else {
                remarks.append(
                    "an order of the model's fetched property \(entity.name).\(name) is left out")
                continue
            }
            fetched.sortDescriptors.append(sort)
        }
        entity.fetchedProperties.append(fetched)
    }

    private mutating func addTemplate(_ request: ArchivedObject, named name: String) {
        let entity =
            request.object("NSEntity")?.text("NSEntityName") ?? request.text("NSEntityName")
        var format: String?
        if let predicate = request.object("NSPredicate") {
            format = self.format(predicate, of: "fetch request \(name)")
            if format == nil { return }
        }
        guard let entity else {
            remarks.append("the model's fetch request \(name) is left out: it names no entity")
            return
        }
        var template = FetchRequestTemplate(name, entityName: entity, predicateFormat: format)
        template.fetchLimit = Int(clamping: max(0, request.integer("NSFetchLimit") ?? 0))
        template.fetchBatchSize = Int(clamping: max(0, request.integer("NSBatchSize") ?? 0))
        template.resultType = Int(clamping: request.integer("NSResultType") ?? 0)
        model.fetchRequestTemplates.append(template)
    }

    // MARK: Indexes

    private mutating func addIndexes(
        of archived: ArchivedObject, below parent: ArchivedObject?,
        to entity: inout EntityDescription
    ) {
        let own = archived.objects("NSFetchIndexDescriptions")
        let inherited = Set(
            (parent?.objects("NSFetchIndexDescriptions") ?? []).compactMap {
                $0.text("NSIndexName")
            })
        for description in own {
            guard let name = description.text("NSIndexName"), !inherited.contains(name) else {
                continue
            }
            var index = FetchIndexDescription(name, elements: [])
            for element in description.objects("NSIndexElements") {
                guard let property = element.text("NSPropertyName") else { continue }
                var part = FetchIndexDescription.Element(
                    property, ascending: element.flag("NSAscending"))
                if element.integer("NSFetchIndexElementType") == 1 { part.kind = .rTree }
                index.elements.append(part)
            }
            if let condition = description.object("NSPartialIndexPredicate") {
                guard let format = format(condition, of: "index \(name) of \(entity.name)") else {
                    continue
                }
                index.partialIndexPredicate = format
            }
            guard index.elements.count == description.list("NSIndexElements").count,
                !index.elements.isEmpty
            else {
                remarks.append(
                    "the model's index \(name) of \(entity.name) is left out: part of it cannot be written as text"
                )
                continue
            }
            entity.indexes.append(index)
        }
        if !own.isEmpty {
            // Fetch indexes say what the old mark says as well, where one begins with the property.
            let first = Set(
                entity.indexes.lazy.filter {
                    $0.form == .fetchIndex && $0.partialIndexPredicate == nil
                }
                .compactMap { $0.elements.first?.propertyName })
            entity.indexes.removeAll { index in
                index.form == .indexed
                    && index.elements.allSatisfy { element in
                        element.propertyName.map(first.contains) == true
                    }
            }
            return
        }
        for compound in archived.list("NSCompoundIndexes") {
            let members =
                archived.object(of: compound)?.elements ?? archived.resolved(compound).array ?? []
            let names = members.compactMap { archived.text(of: $0) }
            guard names.count == members.count, !names.isEmpty else { continue }
            var index = FetchIndexDescription(
                "compound " + names.joined(separator: ", "), elements: names.map { .init($0) })
            index.form = .compoundIndex
            entity.indexes.append(index)
        }
    }
}
