// A property that fetches, with Core Data's names.

import CairnModel
import CairnStore
public import Foundation

/// A property whose value is what a request finds.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    // A property of a model that is in use does not change any more.

    /// What a model that was read says of it.
    private var core = FetchedPropertyDescription("", entityName: "", predicateFormat: nil)
    /// The request, as the program has set it.
    private var given: DeclaredRequest?

    /// A fetched property without a name and a request.
    public override init() { super.init() }

    init(_ core: FetchedPropertyDescription) {
        self.core = core
        super.init()
        name = core.name
        isOptional = core.isOptional
        userInfo = core.userInfo
        marks = core.otherMarks
    }

    /// A copy of the request, in whose predicate `$FETCH_SOURCE` is the object and `$FETCHED_PROPERTY` this property.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get {
            if let given { return given.copy }
            if core.entityName.isEmpty { return nil }
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: core.entityName)
            request.predicate = core.predicateFormat.map { NSPredicate(format: $0) }
            request.sortDescriptors = core.sortDescriptors.map(NSSortDescriptor.descriptor(for:))
            return request
        }
        set {
            willChange()
            given = newValue.map(DeclaredRequest.init)
        }
    }

    /// Cairn's description. What has no form there is added to the errors.
    func described(_ errors: inout [ModelError]) -> FetchedPropertyDescription {
        var made = core
        made.name = name
        made.isOptional = isOptional
        made.userInfo = [String: String](userInfo: userInfo)
        made.otherMarks = marks
        if let given {
            do {
                made.entityName = given.entityName
                made.predicateFormat = try given.predicateFormat
                made.sortDescriptors = []
                for descriptor in given.copy.sortDescriptors ?? [] {
                    made.sortDescriptors.append(try descriptor.sortKey)
                }
            } catch {
                errors.append(
                    ModelError(
                        .invalidElement, of: owner, name,
                        "the request of the fetched property cannot be used: \(error)"))
            }
        }
        return made
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchedPropertyDescription(described)
        copy.takeRest(of: self)
        return copy
    }

    override func takeRest(of other: NSPropertyDescription) {
        super.takeRest(of: other)
        if let other = other as? NSFetchedPropertyDescription { given = other.given }
    }

    private var described: FetchedPropertyDescription {
        var errors: [ModelError] = []
        return described(&errors)
    }

    override var identity: AnyHashable { described }
}
