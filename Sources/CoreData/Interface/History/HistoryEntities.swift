// Transactions and changes as if they were entities, for conditions on the history.
//
// Threads: any; each answer is made anew.

import Foundation

extension NSPersistentHistoryTransaction {
    static let entityName = "Transaction"

    /// What conditions on transactions are about.
    public class var entityDescription: NSEntityDescription? {
        NSEntityDescription(
            historyEntity: entityName,
            [
                ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
                ("contextName", .stringAttributeType), ("processID", .stringAttributeType),
                ("storeID", .stringAttributeType), ("timestamp", .dateAttributeType),
                ("token", .integer64AttributeType), ("transactionNumber", .integer64AttributeType),
            ])
    }

    /// What conditions on transactions are about.
    public class func entityDescription(with context: NSManagedObjectContext)
        -> NSEntityDescription?
    {
        entityDescription
    }

    /// A request for transactions, to be given a predicate: keys are `author`, `contextName`, `bundleID`, `processID`, `storeID`,
    /// `timestamp`, `token` and `transactionNumber`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        NSFetchRequest(entityName: entityName)
    }
}

extension NSPersistentHistoryChange {
    static let entityName = "Change"

    /// What conditions on changes are about.
    public class var entityDescription: NSEntityDescription? {
        NSEntityDescription(
            historyEntity: entityName,
            [
                ("changeID", .integer64AttributeType), ("changeType", .integer64AttributeType),
                ("changedEntity", .integer64AttributeType),
                ("changedObjectID", .objectIDAttributeType),
            ])
    }

    /// What conditions on changes are about.
    public class func entityDescription(with context: NSManagedObjectContext)
        -> NSEntityDescription?
    {
        entityDescription
    }

    /// A request for changes, to be given a predicate: keys are `changeID`, `changedEntity`, `changedObjectID`, `changeType` and
    /// `transaction`, with the keys of that behind it.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        NSFetchRequest(entityName: entityName)
    }
}

extension NSEntityDescription {
    /// An entity that no model has, with the attributes that Core Data's has: programs take the names of keys from them.
    fileprivate convenience init(
        historyEntity name: String, _ attributes: [(name: String, type: NSAttributeType)]
    ) {
        self.init()
        self.name = name
        properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
    }
}
