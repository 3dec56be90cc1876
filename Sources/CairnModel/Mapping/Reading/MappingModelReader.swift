// Reads Xcode's mapping model into a `MappingModel`.
//
//   1. Entity mappings come in the order of their numbers. One that the file gives no name is called by its entities, as Xcode
//      shows it; what it does follows from which of them there are, and from whether it has a policy. Those of abstract
//      entities are left out, and no property can be about them.
//   2. Where a property has an expression in the file, that gives its value. Where it has none, the value is that of the property
//      of the same name, as Xcode's compiler takes it: an attribute is copied, a relationship leads to what its members became.
//   3. The whole is checked against both models.
//
// The file has copies of both models in the form of Xcode's editor, and the paths where they were: neither is used. So it has no
// hashes either, and a mapping says of no version of an entity that it was made for it.
//
// Threads: a reader lives in one call.

import FoundationEssentials

/// Reads the file of a mapping model.
struct MappingModelReader {
    /// A class by the name that a file gives it; nil if there is none.
    typealias Policy = (String) -> (any MappingCode)?

    private let file: MappingModelFile
    let old: Schema
    let new: Schema
    /// Nil: policies are known by their names only.
    let policy: Policy?
    var lines = ModelLines()
    /// How many values all archives of the file may still have: an expression has some fifty, and many a small file could say
    /// that it has millions.
    var valuesLeft = 1 << 20
    /// By the indexes of an old entity and of a new one: the names of the mappings that make the one of the other, two at most.
    private(set) var makers: [Int: [Int: [String]]] = [:]
    /// The mappings that are left out, with their abstract entities.
    private(set) var abstractMappings: [String: String] = [:]
    /// The objects that others lead to: each belongs to one.
    private var used: Set<String> = []

    private init(file: MappingModelFile, old: Schema, new: Schema, policy: Policy?) {
        self.file = file
        self.old = old
        self.new = new
        self.policy = policy
    }

    /// Reads a whole file.
    static func read(
        _ file: MappingModelFile, from old: Schema, to new: Schema, policy: Policy?
    ) throws(ModelError) -> MappingModel {
        var reader = MappingModelReader(file: file, old: old, new: new, policy: policy)
        do throws(ModelError) {
            return try reader.mapping()
        } catch {
            throw reader.lines.place(error, file: file.name)
        }
    }

    private mutating func mapping() throws(ModelError) -> MappingModel {
        let model = file.model
        var drafts: [Draft] = []
        for object in try members(model, "entitymappings", .entity, model.id) {
            drafts.append(try draft(object))
        }
        // An abstract entity has no objects: nothing becomes of them, and nothing is asked for.
        func isOfNothing(_ draft: Draft) -> Bool {
            draft.source?.isAbstract == true && !draft.mapping.hasPolicy
        }
        for draft in drafts where isOfNothing(draft) {
            abstractMappings[draft.mapping.name] = draft.source?.name
        }
        // Those of one number and line stay in the order of the file.
        drafts.removeAll(where: isOfNothing)
        for draft in drafts {
            note(draft)
            abstractMappings[draft.mapping.name] = nil
        }
        drafts.sort { ($0.number, $0.place) < ($1.number, $1.place) }
        var mapping = MappingModel()
        for draft in drafts { mapping.entityMappings.append(try filled(draft)) }
        do throws(ModelError) {
            try mapping.check(from: old, to: new)
        } catch {
            throw explained(error)
        }
        return mapping
    }

    /// An error about what a model lacks, with the models that the file is about.
    private func explained(_ error: ModelError) -> ModelError {
        func name(_ path: String?) -> Substring? { path?.split(separator: "/").last }
        guard error.code == .unknownName, let source = name(file.sourceModelPath),
            let destination = name(file.destinationModelPath)
        else { return error }
        return ModelError(
            error.code, "\(error.message); the file maps \(source) to \(destination)",
            element: error.element, file: error.file, line: error.line)
    }

    /// The objects that a relationship leads to, in its order.
    mutating func members(
        _ object: MappingFileObject, _ name: String, _ kind: MappingFileObject.Kind,
        _ element: String
    ) throws(ModelError) -> [MappingFileObject] {
        var members: [MappingFileObject] = []
        for id in object.ids(name) {
            guard let member = file.objects[id] else {
                throw ModelError(
                    .malformed, "\(name) names \(id), which is not in the file", element: element,
                    line: object.line)
            }
            guard member.kind == kind else {
                throw ModelError(
                    .malformed, "\(name) names \(id), which is of the type \(member.type)",
                    element: element, line: object.line)
            }
            guard used.insert(id).inserted else {
                throw ModelError(
                    .malformed, "\(name) names \(id), which another object names already",
                    element: element, line: object.line)
            }
            members.append(member)
        }
        return members
    }

    // MARK: Entity mappings

    /// An entity mapping without its properties.
    struct Draft {
        let mapping: EntityMapping
        let object: MappingFileObject
        let source: SchemaEntity?
        let destination: SchemaEntity?
        /// The place in the order that Xcode shows.
        let number: Int
        /// The place in the file.
        let place: Int
    }

    private mutating func note(_ draft: Draft) {
        guard let source = draft.source, let destination = draft.destination else { return }
        // Whether it is one or several is all that is asked.
        if let known = makers[source.index]?[destination.index], known.count > 1 { return }
        makers[source.index, default: [:]][destination.index, default: []].append(
            draft.mapping.name)
    }

    private mutating func draft(_ object: MappingFileObject) throws(ModelError) -> Draft {
        let (source, destination) = (object.text("sourcename"), object.text("destinationname"))
        let own = [source, destination].compactMap(\.self)
        guard !own.isEmpty else {
            throw ModelError(
                .invalidElement, "the entity mapping names no entity", element: object.id,
                line: object.line)
        }
        let name = object.text("name") ?? own.joined(separator: "To")
        lines.note(name, object.line)
        var mapping = EntityMapping(name, from: source, to: destination)
        mapping.userInfo = try userInfo(object, name)
        if let format = object.text("sourcefilterpredicatestring") {
            do throws(PredicateFormatError) {
                mapping.sourcePredicate = try PredicateNode(format: format)
            } catch {
                throw ModelError(
                    .invalidMapping, "its filter predicate is invalid: \(error)",
                    element: name, line: object.line)
            }
        }
        let fetch = try object.bytes("sourceexpressiondata", of: name)
        if fetch != nil, object.flag("autogenerateexpression") != true {
            throw ModelError(
                .invalidMapping,
                "its source fetch is a custom expression, which is not supported: use a filter predicate",
                element: name, line: object.line)
        }
        try setPolicy(of: &mapping, object)
        var number = Int.max
        if let text = object.text("mappingnumber") {
            guard let value = Int(text) else {
                throw ModelError(
                    .invalidElement, "mappingnumber is not a number: \(text)", element: name,
                    line: object.line)
            }
            number = value
        }
        return Draft(
            mapping: mapping, object: object, source: source.flatMap { old.entity(named: $0) },
            destination: destination.flatMap { new.entity(named: $0) }, number: number,
            place: object.line)
    }

    private func setPolicy(of mapping: inout EntityMapping, _ object: MappingFileObject)
        throws(ModelError)
    {
        guard let name = object.text("migrationpolicyclassname") else { return }
        guard let policy else { return mapping.entityMigrationPolicyClassName = name }
        guard let code = policy(name) else {
            throw ModelError(
                .invalidMapping, "no class was passed for its policy \(name)",
                element: mapping.name,
                line: object.line)
        }
        mapping.setPolicy(code, named: name)
    }
}
