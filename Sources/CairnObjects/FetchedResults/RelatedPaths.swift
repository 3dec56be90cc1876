// Which objects of a list depend on other objects, and on which: the relationships that its predicate, its order and its
// sections are about.
//
// A path of relationships is followed backwards from the objects that were written, in the state behind the commit:
//
//   to-one     whoever leads to them: by the inverse, or by looking for what leads to each
//   pairs      the same. Whoever leads to one no more was written too
//   one-to-many  the object that each leads to by its column, and the one that it led to before, as whoever wrote it says. If
//              nobody does, the list has to be fetched again
//
// Objects of which nothing has changed that is asked for at the end of a path, or on it, are passed over. So the work is as
// large as the change, but for the last case.
//
// What is at the end of a path and in a column of its owner, as in `shop == X`, is the owner's alone. And an object at which
// nothing has changed but who leads to it is looked at only where a derived attribute of it is asked for: who leads to it
// was written too.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// The relationships that a list depends on.
struct RelatedPaths {
    private struct Step: Hashable {
        /// Where it starts.
        let entity: Int
        let relationship: Int
    }

    /// Objects that were written, by the roots of their entities.
    struct Written {
        private(set) var inserted: [Int: Set<ObjectID>] = [:]
        /// Those that were changed or deleted.
        private(set) var changed: [Int: Set<ObjectID>] = [:]
        /// Those to which others lead that did not, or the other way round; nothing else of them has changed.
        private(set) var linked: [Int: Set<ObjectID>] = [:]
        /// What differs in those that were changed; nothing is said of those of which anything may.
        private(set) var differences: [ObjectID: RowDifference] = [:]
        /// By to-many relationship, to whom objects led before, if those may not lead to them any more.
        private var owners: [MemberList: Set<ObjectID>] = [:]
        /// The roots of objects of which nobody says to whom they led.
        private(set) var unledRoots: Set<Int> = []

        var isEmpty: Bool {
            inserted.isEmpty && changed.isEmpty && linked.isEmpty && owners.isEmpty
        }

        /// Notes a new object, or one that others lead to.
        mutating func insert(_ id: ObjectID, root: Int, isLinked: Bool = false) {
            if isLinked {
                linked[root, default: []].insert(id)
            } else {
                inserted[root, default: []].insert(id)
            }
        }

        /// Notes a changed or deleted object.
        ///
        /// - Parameter difference: what differs, if it is noted too to whom it led; nil if nobody says that.
        mutating func insert(_ id: ObjectID, root: Int, changedBy difference: RowDifference?) {
            let isFirst = changed[root, default: []].insert(id).inserted
            guard let difference else {
                unledRoots.insert(root)
                differences[id] = nil
                return
            }
            if isFirst {
                differences[id] = difference
            } else {
                differences[id]?.formUnion(difference)
            }
        }

        /// Notes to whom objects led.
        mutating func insert(_ list: MemberList, owners ids: some Sequence<ObjectID>) {
            owners[list, default: []].formUnion(ids)
        }

        func owners(_ list: MemberList) -> Set<ObjectID> { owners[list] ?? [] }
    }

    /// What is asked for of the objects that a path leads to.
    private struct Asked {
        var columns = ColumnSet()
        /// Whether it may be anything.
        var isAnything = false
        /// Whether a derived attribute is among it.
        var isDerived = false

        /// Whether it may be others by what differs.
        func isConcerned(by difference: RowDifference?) -> Bool {
            guard let difference, !isAnything else { return true }
            return difference.isEverything || !difference.relationships.isEmpty
                || difference.columns.contains(where: columns.contains)
        }
    }

    private let schema: Schema
    /// Each beginning of a path once: the steps to one of the entities that the list depends on; and what is asked for of that
    /// one.
    private var prefixes: [[Step]: Asked] = [:]
    /// The roots of the entities that the paths lead to.
    private(set) var roots: Set<Int> = []
    /// The relationships on the paths that are kept in columns of their members.
    private(set) var lists: Set<MemberList> = []
    /// Whether there is something in the predicate of which nobody can say what it depends on.
    private(set) var isUnknown = false

    init(
        _ terms: FetchTerms, section: String?, _ entity: SchemaEntity,
        _ context: ManagedObjectContext
    ) {
        schema = context.schema
        for key in terms.sortDescriptors { add(key.key, entity) }
        if let section { add(section, entity) }
        if let predicate = terms.predicate {
            var paths = PredicatePaths()
            paths.add((try? predicate.walkable()) ?? predicate)
            isUnknown = paths.isUnknown
            for path in paths.paths { add(path, entity) }
        }
    }

    private mutating func add(_ path: String, _ entity: SchemaEntity) {
        var steps: [Step] = []
        var current = entity
        let names = path.split(separator: ".")
        for (place, name) in names.enumerated() {
            guard let index = current.relationshipIndex(named: String(name)) else {
                if !steps.isEmpty { ask(String(name), of: current, steps) }
                return
            }
            let relationship = current.relationships[index]
            if case .column(let column) = relationship.storage {
                prefixes[steps]?.columns.insert(column)
                if place == names.count - 1 { return }
            }
            steps.append(Step(entity: current.index, relationship: index))
            if prefixes[steps] == nil {
                var asked = Asked()
                if case .inverseColumn(_, let column) = relationship.storage {
                    asked.columns.insert(column)
                    lists.insert(
                        MemberList(entity: relationship.declaringEntity, relationship: index))
                }
                prefixes[steps] = asked
            }
            current = schema.entities[relationship.destination]
            roots.insert(current.root)
        }
    }

    /// Notes what is asked for of objects at the end of a path.
    private mutating func ask(_ name: String, of entity: SchemaEntity, _ steps: [Step]) {
        // How many there are depends on the relationship alone.
        if name == "@count" { return }
        guard let index = entity.attributeIndex(named: name),
            !entity.attributes[index].columns.isEmpty
        else {
            prefixes[steps]?.isAnything = true
            return
        }
        for column in entity.attributes[index].columns { prefixes[steps]?.columns.insert(column) }
        if entity.attributes[index].description.derivationExpression != nil {
            prefixes[steps]?.isDerived = true
        }
    }

    /// The ids of objects of the list's entity that depend on what was written; nil if nobody can say, so that it may be any.
    func dependents(
        _ written: Written, _ state: any StoreSnapshot
    ) throws(StoreError) -> Set<ObjectID>? {
        if isUnknown { return written.isEmpty ? [] : nil }
        var found: Set<ObjectID> = []
        for (steps, asked) in prefixes {
            guard let last = steps.last else { continue }
            let relationship = relationship(last)
            let root = schema.entities[relationship.destination].root
            var reached = (written.changed[root] ?? []).filter {
                asked.isConcerned(by: written.differences[$0])
            }
            if asked.isDerived, let linked = written.linked[root] { reached.formUnion(linked) }
            reached.formUnion(written.inserted[root] ?? [])
            var left = steps[...]
            if case .inverseColumn = relationship.storage {
                if written.unledRoots.contains(root) { return nil }
                reached = try owners(of: reached, last, state)
                let list = MemberList(
                    entity: relationship.declaringEntity, relationship: last.relationship)
                reached.formUnion(written.owners(list))
                left.removeLast()
            }
            for step in left.reversed() where !reached.isEmpty {
                reached = try owners(of: reached, step, state)
            }
            found.formUnion(reached)
        }
        return found
    }

    private func relationship(_ step: Step) -> SchemaRelationship {
        schema.entities[step.entity].relationships[step.relationship]
    }

    /// The objects that lead to some others by a relationship.
    private func owners(
        of ids: Set<ObjectID>, _ step: Step, _ state: any StoreSnapshot
    ) throws(StoreError) -> Set<ObjectID> {
        let relationship = relationship(step)
        let targets = ids.sorted { SortingOrder.compare($0, $1) < 0 }
        switch relationship.storage {
        case .transient: return []
        case .inverseColumn(let member, let column):
            var owners: Set<ObjectID> = []
            if targets.isEmpty { return owners }
            for row in try state.rows(targets) {
                // Others of the hierarchy may have another column there, or none.
                guard let row, schema.entities[row.entity].isKind(of: schema.entities[member])
                else { continue }
                let value = row.cells.value(
                    column, of: schema.entities[row.entity], in: state.identity)
                if let owner = value.reference { owners.insert(owner) }
            }
            return owners
        case .column, .pairs:
            if let inverse = relationship.inverse,
                schema.entities[relationship.destination].relationships[inverse]
                    .description.isToMany
            {
                let members = try state.members(
                    ofRelationship: inverse, entity: relationship.destination, owners: targets)
                return Set(members.joined())
            }
            var owners: Set<ObjectID> = []
            for target in targets {
                owners.formUnion(
                    try state.referrers(
                        toTarget: target, relationship: step.relationship, entity: step.entity))
            }
            return owners
        }
    }
}

/// The key paths in a predicate, from the object that is asked about.
private struct PredicatePaths {
    private(set) var paths: Set<String> = []
    /// Whether something in it is about objects that no path leads to.
    private(set) var isUnknown = false
    /// What variables stand for.
    private var variables: [String: String] = [:]

    mutating func add(_ node: PredicateNode) {
        switch node {
        case .constant: break
        case .comparison(let comparison):
            _ = follow(comparison.left)
            _ = follow(comparison.right)
        case .and(let parts), .or(let parts): for part in parts { add(part) }
        case .not(let part): add(part)
        }
    }

    /// Notes the paths in an expression; gives the one that it leads along as a whole, if it does.
    private mutating func follow(_ node: ExpressionNode) -> String? {
        switch node {
        case .constant, .list, .anyKey: return nil
        case .evaluatedObject: return ""
        case .keyPath(let path): return note(path)
        case .variable(let name): return variables[name]
        case .path(let base, let path):
            guard let start = follow(base) else {
                isUnknown = true
                return nil
            }
            return note(start.isEmpty ? path : "\(start).\(path)")
        case .collection(_, let base, let path):
            guard let start = follow(base) else {
                isUnknown = true
                return nil
            }
            return path.map { note(start.isEmpty ? $0 : "\(start).\($0)") } ?? start
        case .index(let base, let index):
            if case .at(let place) = index { _ = follow(place) }
            return follow(base)
        case .cast(let base, _), .assignment(_, let base): return follow(base)
        case .function(_, let parts), .aggregate(let parts):
            for part in parts { _ = follow(part) }
            return nil
        case .conditional(let test, let one, let other):
            add(test)
            _ = follow(one)
            _ = follow(other)
            return nil
        case .subquery(let collection, let variable, let condition):
            let start = follow(collection)
            if start == nil { isUnknown = true }
            let outer = variables[variable]
            variables[variable] = start
            add(condition)
            variables[variable] = outer
            return start
        case .set(_, let left, let right):
            _ = follow(left)
            _ = follow(right)
            return nil
        case .call, .fetch:
            isUnknown = true
            return nil
        }
    }

    private mutating func note(_ path: String) -> String {
        paths.insert(path)
        return path
    }
}
