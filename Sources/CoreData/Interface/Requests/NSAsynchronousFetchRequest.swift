// Fetching beside the caller, with Core Data's names.
//
//   1. `execute` gives the result at once, with nothing in it.
//   2. The store is read on another thread, as `ManagedObjectContext.fetchAsynchronously` does it; the context's queue is free.
//   3. Objects are made, and the block is called, on the context's queue.
//
// Threads: the result is filled on the context's queue; any may cancel.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

/// Fetches without having the caller wait.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// What is fetched.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// Called with the result when it is there, on the context's queue.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// How many results are expected, for the progress. The store knows soon.
    open var estimatedResultCount = 0

    /// Fetches, and calls a closure with the result.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        fetchRequest = request
        completionBlock = blk
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    override func carryOut(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        if context.concurrencyType == .confinementConcurrencyType {
            throw StoreError(
                .invalidRequest,
                "an asynchronous fetch needs a context with a queue, on which its block is called")
        }
        let shown = Progress(
            totalUnitCount: estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1)
        let progress = FetchProgress { progress in
            if let total = progress.totalCount { shown.totalUnitCount = Int64(total) }
            shown.completedUnitCount = Int64(progress.completedCount)
        }
        shown.isCancellable = true
        shown.cancellationHandler = { progress.cancel() }
        let result = NSAsynchronousFetchResult(self, context, shown)
        // What is asked for is what the request says now.
        let request = NSFetchRequest<ResultType>(
            fetchRequest.settings, fetchRequest.affectedStores)
        let handed = Handed((request: request, result: result, block: completionBlock))
        context.queue.run { _ in
            let (request, result, block) = handed.value
            do {
                result.finalResult = try await context.fetchBeside(request, progress)
            } catch {
                result.operationError = coreDataError(error, in: context)
            }
            context.performAndWait { block?(result) }
        }
        return result
    }
}

/// What comes of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// What was found; nil until it is there, and if it could not be read.
    public internal(set) var finalResult: [ResultType]?

    init(
        _ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext,
        _ progress: Progress
    ) {
        fetchRequest = request
        super.init(context, progress)
    }
}

extension NSManagedObjectContext {
    /// The results of a request, read on another thread; objects are made where the caller is, the context's queue.
    fileprivate func fetchBeside<T>(
        _ request: NSFetchRequest<T>, _ progress: FetchProgress
    ) async throws(StoreError) -> [T] {
        let settings = request.settings
        let stores = request.affectedStores
        switch settings.resultType {
        case .managedObjectResultType:
            let request = try settings.request(for: NSManagedObject.self, in: self, stores)
            return Self.results(try await core.fetchAsynchronously(request, progress: progress))
        case .managedObjectIDResultType:
            let request = try settings.request(for: ObjectID.self, in: self, stores)
            return Self.results(
                ids(try await core.fetchAsynchronously(request, progress: progress), request))
        case .dictionaryResultType:
            let request = try settings.request(for: DictionaryResult.self, in: self, stores)
            return Self.results(
                dictionaries(try await core.fetchAsynchronously(request, progress: progress)))
        default:
            let request = try settings.request(for: Int.self, in: self, stores)
            return Self.results([NSNumber(value: try core.count(for: request))])
        }
    }
}

/// What an asynchronous fetch calls with its result.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
    (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void
