// The stack that most tests work on.

import CairnTestSupport
import CoreData
import Testing

/// Makes containers as apps make them.
enum Stack {
    /// A container over a store in memory.
    ///
    /// - Parameter options: what the store is opened with, beside what a description says by itself.
    static func inMemory(
        _ model: NSManagedObjectModel, options: [String: Bool] = [:]
    ) throws -> NSPersistentContainer {
        try load(NSPersistentStoreDescription(), of: model, options)
    }

    /// A container over a store in a folder, whose path may have any name.
    static func onDisk(
        _ model: NSManagedObjectModel, at url: URL, options: [String: Bool] = [:]
    ) throws -> NSPersistentContainer {
        try load(NSPersistentStoreDescription(url: url), of: model, options)
    }

    private static func load(
        _ description: NSPersistentStoreDescription, of model: NSManagedObjectModel,
        _ options: [String: Bool]
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Stack", managedObjectModel: model)
        for (key, value) in options {
            description.setOption(NSNumber(value: value), forKey: key)
        }
        container.persistentStoreDescriptions = [description]
        var failure: Error?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }
}
