// A model, with Core Data's names: descriptions that can be changed, of which Cairn's model is made when a coordinator needs it.
//
//   Description   from Cairn's model, and to it
//   Files         models of files and bundles, and several as one
//   Templates     named requests
//   Versions      hashes, and whether a store has the same ones
//
// Threads: one, until the model is in use; then any, for nothing changes any more.

package import CairnModel
public import Foundation
import Synchronization

/// A model: entities with their attributes and relationships.
///
/// It can be changed until a container or a coordinator has it. A change later ends the program with a sentence: change a
/// ``copy(with:)`` instead.
open class NSManagedObjectModel: NSObject, NSCopying, ModelPart, @unchecked Sendable {
    // A model that is in use does not change any more; what it became is behind a lock.

    /// Texts for people that tell versions of the model apart.
    open var versionIdentifiers: Set<AnyHashable> = [] {
        willSet { willChange() }
        didSet { identifiers = nil }
    }
    /// Texts for people, by what they are of. Nothing here shows them.
    open var localizationDictionary: [String: String]? { willSet { willChange() } }

    private var members: [NSEntityDescription] = []
    private var named: [String: [NSEntityDescription]] = [:]
    /// The identifiers in the order of a model that was read.
    private var identifiers: [String]?
    /// What a model that was read says beside its entities.
    private var core = ManagedObjectModel()
    /// The requests that the program has set, by name.
    var requests: [String: DeclaredRequest] = [:]
    private let resolution = Mutex<ModelResolution?>(nil)
    let versionHashes = Mutex<VersionHashes?>(nil)
    var isInUse = false
    /// Whether it is a version of a model that is not the current one: the program's classes are those of the current one.
    var isFormerVersion = false

    /// A model without entities.
    public override init() { super.init() }

    /// The model that Cairn has. It can be changed.
    package init(_ core: ManagedObjectModel) {
        super.init()
        fill(with: core)
    }

    private func fill(with core: ManagedObjectModel) {
        self.core = core
        self.core.entities = []
        members = core.entities.map(NSEntityDescription.init)
        let byName = entitiesByName
        for (entity, one) in zip(core.entities, members) {
            one.model = self
            one.subentities = zip(core.entities, members).filter {
                $0.0.superentityName == entity.name
            }.map(\.1)
        }
        for one in members { one.link(in: byName) }
        named = core.configurations.mapValues { names in names.compactMap { byName[$0] } }
        versionIdentifiers = Set(core.versionIdentifiers)
        identifiers = core.versionIdentifiers
    }

    // MARK: Entities

    /// The entities.
    open var entities: [NSEntityDescription] {
        get { members }
        set {
            willChange()
            for entity in members where entity.model === self { entity.model = nil }
            members = newValue
            for entity in newValue {
                entity.willChange()
                entity.model = self
            }
        }
    }

    /// The entities by name.
    open var entitiesByName: [String: NSEntityDescription] {
        Dictionary(members.map { ($0.name ?? "", $0) }) { first, _ in first }
    }

    // MARK: Configurations

    /// The name of the configuration that has all entities.
    static let everything = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The names of the configurations, `PF_DEFAULT_CONFIGURATION_NAME` for all entities among them.
    open var configurations: [String] { [Self.everything] + named.keys.sorted() }

    /// The entities of a configuration; nil if there is none of that name. Without a name: all entities.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.everything else { return members }
        return named[configuration]
    }

    /// Sets the entities of a configuration, which are some of the model's.
    open func setEntities(
        _ entities: [NSEntityDescription], forConfigurationName configuration: String
    ) {
        willChange()
        precondition(
            configuration != Self.everything,
            "\(configuration) is the configuration that has all entities")
        for entity in entities {
            precondition(
                members.contains { $0 === entity },
                "the configuration \(configuration) can have entities of its model only: \(entity) is none"
            )
        }
        named[configuration] = entities
    }

    // MARK: Cairn's model

    /// Cairn's description. What has no form there is added to the errors.
    func described(_ errors: inout [ModelError]) -> ManagedObjectModel {
        var made = core
        made.entities = members.map { $0.described(&errors) }
        made.configurations = named.mapValues { $0.map { $0.name ?? "" } }
        made.versionIdentifiers =
            identifiers ?? versionIdentifiers.compactMap { $0.base as? String }.sorted()
        made.fetchRequestTemplates = describedTemplates(core.fetchRequestTemplates, &errors)
        return made
    }

    /// Cairn's description, whatever of it is wrong.
    package var described: ManagedObjectModel {
        var errors: [ModelError] = []
        return resolution.withLock { $0 }?.model ?? described(&errors)
    }

    /// The template of a model that was read.
    func declaredTemplate(named name: String) -> FetchRequestTemplate? {
        core.fetchRequestTemplates.first { $0.name == name }
    }

    /// Forgets a template of a model that was read.
    func removeDeclaredTemplate(named name: String) {
        core.fetchRequestTemplates.removeAll { $0.name == name }
    }

    /// The names of the templates of a model that was read.
    var declaredTemplateNames: [String] { core.fetchRequestTemplates.map(\.name) }

    /// The model as Cairn has it; from now on it cannot be changed.
    ///
    /// - Throws: `ModelError` with entity and property, if the model is not valid.
    package func resolved() throws(ModelError) -> ModelResolution {
        try resolution.withLock { resolution throws(ModelError) in
            if let resolution { return resolution }
            var errors: [ModelError] = []
            let model = described(&errors)
            if let error = errors.first { throw error }
            let made = beginUse(try Schema(model))
            resolution = made
            return made
        }
    }

    /// Resolves the model, which ends the program with a sentence if it is not valid.
    @discardableResult
    func use() -> ModelResolution {
        do {
            return try resolved()
        } catch {
            preconditionFailure("the model is not valid: \(error)")
        }
    }

    /// The model of a schema that Cairn has made, in use. Whoever made it keeps it as long as there are objects.
    package init(_ schema: Schema) {
        super.init()
        fill(with: schema.model)
        let made = beginUse(schema)
        resolution.withLock { $0 = made }
    }

    /// Nothing changes any more.
    private func beginUse(_ schema: Schema) -> ModelResolution {
        // A schema has the entities in the order of its model.
        for (entity, one) in zip(schema.entities, members) {
            one.beginUse(as: entity)
        }
        isInUse = true
        ValueTransformer.offerUsual()
        let types = EntityClasses(of: members).types
        let made = ModelResolution(schema, types, members)
        ModelsInUse.add(self)
        return made
    }

    /// The classes by entity; nil until the model is in use.
    var types: [String: NSManagedObject.Type]? { resolution.withLock { $0?.types } }

    /// The entities whose objects are of a class.
    func entities(of type: NSManagedObject.Type) -> [NSEntityDescription] {
        let types = types ?? [:]
        return members.filter { types[$0.name ?? ""] == type }
    }

    // MARK: Copies

    /// A model that can be changed, with copies of all descriptions.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSManagedObjectModel(described)
        for (own, other) in zip(copy.members, members) { own.takeRest(of: other) }
        copy.versionIdentifiers = versionIdentifiers
        copy.identifiers = identifiers
        copy.localizationDictionary = localizationDictionary
        copy.requests = requests
        return copy
    }

    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSManagedObjectModel else { return false }
        return self === other || described == other.described
    }

    open override var hash: Int { members.count }
}
