// How a store of one model becomes a store of another, with Core Data's names.
//
// Threads: that of whoever fills it.

import CairnModel
import CairnStore
public import Foundation

/// How a store of one model becomes a store of another: an entity mapping for each entity whose objects are migrated, made or
/// dropped.
open class NSMappingModel: NSObject {
    private var mappings: [NSEntityMapping] = []
    /// Whether it says what can be inferred, and nobody has touched it: then nothing has to go over the objects.
    private(set) var isInferred = false

    /// A mapping model without mappings.
    public override init() {}

    /// The mapping model that Cairn has.
    convenience init(_ core: MappingModel) {
        self.init()
        mappings = core.entityMappings.map(NSEntityMapping.init)
    }

    /// The mapping model among the resources of some bundles that is between two models; nil if there is none. Without bundles:
    /// those of the program.
    ///
    /// What Xcode edits is read, `.xcmappingmodel`: what it compiles of that, `.cdm`, is not.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel,
            let found = MappingModelSearch.mapping(
                from: sourceModel, to: destinationModel, in: bundles)
        else { return nil }
        self.init(found)
    }

    /// The mapping model of an `.xcmappingmodel`; nil, after a sentence on the standard error stream, if it cannot be read, or
    /// the models that it is between are not beside it or in the main bundle. For a compiled one, `.cdm`, its source beside it is
    /// taken.
    public convenience init?(contentsOf url: URL?) {
        guard let url else { return nil }
        do {
            self.init(try MappingModelSearch.mapping(at: url))
        } catch {
            StandardError.write("CoreData: error: the mapping model cannot be read: \(error)")
            return nil
        }
    }

    /// The mapping model that says of every object what can be inferred. Its mappings have the names that Core Data gives them,
    /// such as `IEM_Transform_Note`, and say in their `userInfo` which properties are mapped, added and removed.
    ///
    /// Numbers of an attribute may become integers of another size or doubles. One that the new type cannot hold fails the
    /// migration.
    ///
    /// - Throws: An error that says what cannot be inferred.
    public class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        try withCoreDataErrors {
            let plan = try ModelMigrationPlan.inferredOrMapped(
                from: try sourceModel.resolved().model,
                to: try destinationModel.resolved().model)
            let mapping = NSMappingModel(MappingModel(drafting: plan))
            for one in mapping.mappings { one.nameAsInferred(by: plan) }
            mapping.isInferred = !plan.hasInferredMapping
            return mapping
        }
    }

    /// The mappings, in the order in which they are carried out.
    open var entityMappings: [NSEntityMapping]! {
        get {
            isInferred = false
            return mappings
        }
        set {
            isInferred = false
            mappings = newValue ?? []
        }
    }

    /// The mappings by name.
    open var entityMappingsByName: [String: NSEntityMapping] {
        isInferred = false
        return Dictionary(mappings.map { ($0.name ?? "", $0) }) { first, _ in first }
    }

    /// The mapping model as Cairn carries it out.
    ///
    /// - Throws: `StoreError` that names the mapping and what of it cannot be carried out.
    func resolved() throws -> MappingModel {
        MappingModel(entityMappings: try mappings.map { try $0.resolved() })
    }

    /// Whether both have the same mappings in the same order.
    open override func isEqual(_ other: Any?) -> Bool {
        (other as? NSMappingModel)?.mappings == mappings
    }

    /// Equal for equal mapping models.
    open override var hash: Int { mappings.count }
}
