// A list that is kept by nothing but what a controller tells of its changes.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import Testing

/// A delegate with a copy of the list, to which it does what it is told.
final class ListCopy<Result: ManagedObject>: FetchedResultsControllerDelegate {
    struct Section: Equatable {
        var name: String
        var objects: [Result]
    }

    /// An object that was told of.
    struct Told {
        let type: FetchedResultsChangeType
        let object: Result
        let old: IndexPath?
        let new: IndexPath?
    }

    let controller: FetchedResultsController<Result>
    private(set) var sections: [Section] = []
    /// What was told of the last change, and how many changes there were.
    private(set) var told: [Told] = []
    private(set) var deletedSections: [Int] = []
    private(set) var insertedSections: [(index: Int, name: String)] = []
    private(set) var changes = 0
    private(set) var errors: [StoreError] = []
    private(set) var lastSnapshot: FetchedResultsSnapshot?
    /// The ids as the differences say.
    private var ids: [ObjectID] = []
    private var isChanging = false

    init(_ controller: FetchedResultsController<Result>) throws {
        self.controller = controller
        controller.delegate = self
        try controller.performFetch()
        begin()
    }

    /// Copies the list anew.
    func begin() {
        sections = (controller.sections ?? []).map { Section(name: $0.name, objects: $0.objects) }
        ids = controller.fetchedObjects?.map(\.objectID) ?? []
    }

    /// What was told, in words: "insert 0.1", "move 0.1 1.0".
    var words: [String] {
        told.map { told in
            func word(_ path: IndexPath?) -> [String] { path.map { ["\($0[0]).\($0[1])"] } ?? [] }
            let paths = told.type == .update ? word(told.old) : word(told.old) + word(told.new)
            return (["\(told.type)"] + paths).joined(separator: " ")
        }
    }

    func forget() {
        told = []
        deletedSections = []
        insertedSections = []
    }

    // MARK: What is told

    func controllerWillChangeContent(_ controller: FetchedResultsController<Result>) {
        #expect(!isChanging)
        isChanging = true
        forget()
        // The list is as it was, though objects that it does not hold may have left the context.
        #expect(
            controller.fetchedObjects?.map(\.objectID)
                == sections.flatMap { $0.objects.map(\.objectID) })
    }

    func controller(
        _ controller: FetchedResultsController<Result>,
        didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex index: Int,
        for type: FetchedResultsChangeType
    ) {
        #expect(isChanging && told.isEmpty)
        switch type {
        case .delete:
            #expect(sections[index].name == section.name)
            deletedSections.append(index)
        case .insert:
            #expect(section.numberOfObjects == section.objects.count)
            insertedSections.append((index, section.name))
        case .move, .update: Issue.record("a section is not told so")
        }
    }

    func controller(
        _ controller: FetchedResultsController<Result>, didChange object: Result,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        #expect(isChanging)
        told.append(Told(type: type, object: object, old: indexPath, new: newIndexPath))
    }

    func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {
        lastSnapshot = snapshot
        #expect(snapshot.itemIdentifiers == controller.snapshot?.itemIdentifiers)
        #expect(snapshot.sectionIdentifiers == controller.sections?.map(\.name))
    }

    func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith difference: CollectionDifference<ObjectID>
    ) {
        #expect(controller.sectionNameKeyPath == nil)
        ids = ids.applying(difference) ?? []
        #expect(ids == controller.snapshot?.itemIdentifiers)
    }

    func controller(
        _ controller: FetchedResultsController<Result>, didFailToFollow error: StoreError
    ) {
        errors.append(error)
        isChanging = false
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Result>) {
        #expect(isChanging)
        isChanging = false
        changes += 1
        apply()
        let shown = (controller.sections ?? []).map {
            Section(name: $0.name, objects: $0.objects)
        }
        #expect(sections == shown, "what was told does not give the list: \(words)")
    }

    /// Takes out at old places, puts in at new ones.
    private func apply() {
        var gone: Set<IndexPath> = []
        for told in told {
            if let old = told.old {
                #expect(sections[old[0]].objects[old[1]] == told.object, "\(words)")
            }
            switch told.type {
            case .delete, .move:
                guard let old = told.old else {
                    Issue.record("no old place")
                    return
                }
                #expect(gone.insert(old).inserted)
            case .insert: #expect(told.old == nil)
            case .update: break
            }
        }
        for index in sections.indices {
            sections[index].objects = sections[index].objects.enumerated().filter {
                !gone.contains(IndexPath(item: $0.offset, section: index))
            }.map(\.element)
        }
        for index in deletedSections.reversed() {
            #expect(sections[index].objects.isEmpty, "a section with objects was deleted: \(words)")
            sections.remove(at: index)
        }
        for (index, name) in insertedSections {
            sections.insert(Section(name: name, objects: []), at: index)
        }
        let came = told.filter { $0.type == .insert || $0.type == .move }
            .sorted { ($0.new ?? []) < ($1.new ?? []) }
        for told in came {
            guard let new = told.new else {
                Issue.record("no new place")
                return
            }
            sections[new[0]].objects.insert(told.object, at: new[1])
        }
        for told in told where told.type == .update {
            guard let new = told.new else {
                Issue.record("no new place")
                return
            }
            #expect(sections[new[0]].objects[new[1]] == told.object)
        }
    }
}
