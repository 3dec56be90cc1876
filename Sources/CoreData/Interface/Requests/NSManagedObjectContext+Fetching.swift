// Fetching with Core Data's names.
//
// The class of the results is known when the program is compiled, but not that they are objects: so an array of objects of this
// class becomes the array that was asked for without a look at its members.
//
// Threads: the context's queue.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

extension NSManagedObjectContext {
    /// The results of a request: objects, ids, dictionaries or a number, as its `resultType` says.
    ///
    /// - Throws: An error with the codes and keys of `NSCocoaErrorDomain`.
    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        try withCoreDataErrors(in: self) { try found(request.settings, request.affectedStores) }
    }

    /// The results of a request, where any values are wanted: by itself `fetch` of such a request gives results of its type.
    ///
    /// - Throws: An error with the codes and keys of `NSCocoaErrorDomain`.
    @_disfavoredOverload
    public func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        try withCoreDataErrors(in: self) { try found(request.settings, request.affectedStores) }
    }

    /// How many results a request has.
    ///
    /// - Throws: An error with the codes and keys of `NSCocoaErrorDomain`.
    public func count<T>(for request: NSFetchRequest<T>) throws -> Int {
        try withCoreDataErrors(in: self) { try count(request.settings, request.affectedStores) }
    }

    /// Carries a request out.
    ///
    /// - Throws: An error with the codes and keys of `NSCocoaErrorDomain`.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try withCoreDataErrors(in: self) { try request.carryOut(in: self) }
    }

    // MARK: Steps

    private func count(
        _ settings: FetchSettings, _ stores: [NSPersistentStore]?
    ) throws(StoreError) -> Int {
        if settings.resultType == .dictionaryResultType {
            return try core.count(
                for: try settings.request(for: DictionaryResult.self, in: self, stores))
        }
        return try core.count(for: try settings.request(for: Int.self, in: self, stores))
    }

    private func found<T>(
        _ settings: FetchSettings, _ stores: [NSPersistentStore]?
    ) throws(StoreError) -> [T] {
        switch settings.resultType {
        case .managedObjectResultType:
            guard let type = T.self as? NSManagedObject.Type else {
                return Self.results(
                    try core.fetch(
                        try settings.request(for: NSManagedObject.self, in: self, stores)))
            }
            let objects = try core.fetch(
                try settings.request(for: NSManagedObject.self, in: self, stores))
            for object in objects where Swift.type(of: object) != type {
                precondition(
                    object is T,
                    "the request is for objects of \(type), but \(object.entity.name ?? "") has those of \(Swift.type(of: object))"
                )
            }
            // Each of them is one.
            return unsafeBitCast(objects, to: [T].self)
        case .managedObjectIDResultType:
            let request = try settings.request(for: ObjectID.self, in: self, stores)
            return Self.results(ids(try core.fetchObjectIDs(request), request))
        case .dictionaryResultType:
            let request = try settings.request(for: DictionaryResult.self, in: self, stores)
            return Self.results(dictionaries(try core.fetch(request)))
        default:
            return Self.results([NSNumber(value: try count(settings, stores))])
        }
    }

    func ids(_ ids: [ObjectID], _ request: FetchRequest<ObjectID>) -> [NSManagedObjectID] {
        let coordinator = persistentStoreCoordinator
        // An id says its hierarchy; the entity is certain if there is but one.
        let entity = core.schema.entity(named: request.entityName)
        let isOnly = !request.includesSubentities || entity?.family.count == 1
        return ids.map { NSManagedObjectID($0, entity: isOnly ? entity : nil, in: coordinator) }
    }

    func dictionaries(_ rows: [DictionaryResult]) -> [NSDictionary] {
        let coordinator = persistentStoreCoordinator
        let names = rows.first?.names.map { $0 as NSString } ?? []
        return rows.map { row in
            let dictionary = NSMutableDictionary(capacity: names.count)
            for (name, value) in zip(names, row.values) {
                if let any = value.any(in: coordinator) { dictionary.setObject(any, forKey: name) }
            }
            return dictionary
        }
    }

    /// Results as those that the request is declared for. Others end the program with a sentence.
    static func results<Found, T>(_ found: [Found]) -> [T] {
        if Found.self == T.self { return unsafeBitCast(found, to: [T].self) }
        guard let results = found as? [T] else {
            fatalError(
                "the request is an NSFetchRequest<\(T.self)>, but its resultType gives \(Found.self)s"
            )
        }
        return results
    }

    /// Objects as results of any kind: without a cast of each, as the type is known.
    private static func results<T>(_ found: [NSManagedObject]) -> [T] {
        if T.self == (any NSFetchRequestResult).self {
            return unsafeBitCast(found as [any NSFetchRequestResult], to: [T].self)
        }
        if T.self == Any.self { return unsafeBitCast(found as [Any], to: [T].self) }
        guard let results = found as? [T] else {
            fatalError(
                "the request is an NSFetchRequest<\(T.self)>, but its resultType gives objects")
        }
        return results
    }
}
