// Where the value of one property comes from, with Core Data's names.
//
// Threads: that of whoever fills it.

import CairnModel
public import Foundation

/// Where the value of one property comes from when an object is migrated.
///
/// ```swift
/// let title = NSPropertyMapping()
/// title.name = "title"
/// title.valueExpression = NSExpression(format: "$source.name")
/// ```
///
/// Value expressions can name `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`; see
/// ``NSEntityMigrationPolicy`` for functions of policies.
open class NSPropertyMapping: NSObject {
    /// The property in the new model.
    open var name: String?
    /// What gives the value; nil: nothing is set, and the default of the attribute stays.
    open var valueExpression: NSExpression?
    /// Values for the code that carries it out.
    open var userInfo: [AnyHashable: Any]?

    /// A mapping that says nothing yet.
    public override init() {}

    convenience init(_ core: PropertyMapping) {
        self.init()
        name = core.name
        valueExpression = core.valueExpression.map { NSExpression($0) }
        if !core.userInfo.isEmpty { userInfo = core.userInfo }
    }

    /// The mapping as Cairn carries it out.
    ///
    /// - Throws: `StoreError` if the expression is a closure.
    func resolved() throws -> PropertyMapping {
        PropertyMapping(name ?? "", try valueExpression?.node)
    }

    /// Whether both say the same.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSPropertyMapping else { return false }
        return name == other.name && valueExpression == other.valueExpression
            && NSDictionary(dictionary: userInfo ?? [:]).isEqual(to: other.userInfo ?? [:])
    }

    /// Equal for equal mappings.
    open override var hash: Int { name?.hashValue ?? 0 }
}
