// Random graphs: contexts that edit, undo, roll back and save in turn or at once, on both kinds of stores side by side.
//
// As long as one context has changes at a time, or a context and those that work on it, the plain graph says what every context and every fresh one shows. If two
// have, what the second save does about it is for its merge policy: then both kinds of stores must come to the same, be it an
// error, and the graph must hold together.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random graphs")
struct RandomGraphTests {
    @Test("Contexts show what the plain graph says, through edits, undo, rollbacks and reopening")
    func graphs() throws {
        var walked = 0
        try Rounds.run("random graphs", everyDay: 2, whole: 4000) { random in
            var walk = try GraphWalk(&random)
            while walk.steps < 250 { try walk.goOn(&random) }
            walked += walk.steps
        }
        Campaign.report("steps in random graphs", walked)
    }
}

/// A way through the states of a graph.
private struct GraphWalk {
    private let seed: UInt64
    private let benches: [GraphBench]
    /// What is stored.
    private var stored = PlainGraph()
    /// The number of the newest object.
    private var next = 0
    /// Edits, undos and redos.
    private(set) var steps = 0

    init(_ random: inout RandomSource) throws {
        seed = random.seed
        let rows = [4, 16, 256].randomElement(using: &random) ?? 4
        benches = try Backend.allCases.map { try GraphBench($0, rowsPerBlock: rows) }
    }

    mutating func goOn(_ random: inout RandomSource) throws {
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: try workAtOnce(&random)
        case 2, 3: try workInFamily(&random)
        default: try workAlone(&random)
        }
        for bench in benches { bench.refresh() }
        if random.oneIn(8) { for bench in benches { try bench.reopen() } }
        if random.oneIn(12) { for bench in benches { try bench.compact() } }
    }

    private var place: String { "seed \(seed), step \(steps)" }

    private func check(
        _ contexts: [ManagedObjectContext], _ graph: PlainGraph, _ what: String
    ) throws {
        let expected = graph.words
        for context in contexts {
            let found = difference(try context.shownGraph().words, expected)
            try #require(found.isEmpty, "\(place), \(what)")
        }
    }

    /// What is shown otherwise than it should be.
    private func difference(
        _ shown: [Int: [String: String]], _ expected: [Int: [String: String]]
    ) -> [String] {
        Set(shown.keys).union(expected.keys).sorted().flatMap { number -> [String] in
            guard let object = shown[number] else { return ["\(number) is missing"] }
            guard let other = expected[number] else { return ["\(number) is there"] }
            return other.keys.sorted().filter { object[$0] != other[$0] }.map { key in
                "\(number).\(key) is \(object[key] ?? "nothing"), not \(other[key] ?? "")"
            }
        }
    }

    private static let policies: [MergePolicyKind] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    // MARK: One context at a time

    private mutating func workAlone(_ random: inout RandomSource) throws {
        let number = Int.random(in: 0..<3, using: &random)
        let contexts = benches.map { $0.contexts[number] }
        let policy = Self.policies.randomElement(using: &random) ?? .error
        for context in contexts { context.mergePolicy = MergePolicy(merge: policy) }
        // What undo leads back to, and redo forth to; those up to `here` can be undone.
        var states = [stored]
        var here = 0
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            steps += 1
            let kind = Int.random(in: 0..<10, using: &random)
            if kind < 2, here > 0 {
                for context in contexts { context.undo() }
                here -= 1
            } else if kind == 2, here + 1 < states.count {
                for context in contexts { context.redo() }
                here += 1
            } else {
                try edit(contexts, &states, &here, isGroup: kind == 3, &random)
            }
            if random.oneIn(5) { try check(contexts, states[here], "unsaved") }
            if random.oneIn(6) {
                if try !save(contexts, states[here]) { return }
                // A step back past the save would give people to a department that is no more: they stay where they are.
                if states[..<here].contains(where: \.isForbidden) {
                    for context in contexts { context.undoHistory?.removeAllActions() }
                    states = [states[here]]
                    here = 0
                }
            }
        }
        if random.oneIn(6) {
            for context in contexts { context.rollback() }
            try check(contexts, stored, "rolled back")
        } else if try save(contexts, states[here]) {
            try check(contexts, stored, "saved")
        }
    }

    /// Edits, one or some as a group.
    private mutating func edit(
        _ contexts: [ManagedObjectContext], _ states: inout [PlainGraph], _ here: inout Int,
        isGroup: Bool, _ random: inout RandomSource
    ) throws {
        var graph = states[here]
        var edits: [GraphEdit] = []
        for _ in 0..<(isGroup ? Int.random(in: 1...6, using: &random) : 1) {
            let edit = GraphEdit(graph, stored: stored, &next, &random)
            graph.apply(edit)
            edits.append(edit)
        }
        steps += edits.count - 1
        var isStep: Set<Bool> = []
        for context in contexts {
            let history = try #require(context.undoHistory)
            if isGroup { history.beginUndoGrouping() }
            for edit in edits { try edit.apply(to: context) }
            if isGroup { history.endUndoGrouping() }
            context.processPendingChanges()
            // The steps before have names.
            isStep.insert(history.canUndo && history.undoActionName.isEmpty)
            history.setActionName("step")
        }
        try #require(isStep.count == 1, "\(place), a step on one store only")
        guard isStep == [true] else {
            // What leads to nothing any more may have been set to nothing.
            try #require(
                graph.words == states[here].words, "\(place), an edit that is no step: \(edits)")
            states[here] = graph
            return
        }
        states.removeSubrange((here + 1)...)
        states.append(graph)
        here += 1
    }

    /// Saves; false if a delete rule forbade it, and the contexts rolled back.
    private mutating func save(_ contexts: [ManagedObjectContext], _ graph: PlainGraph) throws
        -> Bool
    {
        for context in contexts {
            let error = storeError { try context.save() }
            if graph.isForbidden {
                let codes = error.map { [$0.code] + $0.details.map(\.code) } ?? []
                try #require(codes.contains(.deleteDenied), "\(place), \(codes)")
                context.rollback()
            } else {
                try #require(error == nil, "\(place)")
                try #require(!context.hasChanges, "\(place)")
            }
        }
        if graph.isForbidden {
            try check(contexts, stored, "denied")
            return false
        }
        stored = graph
        try check(benches.map { $0.context() }, graph, "fresh")
        return true
    }

    // MARK: Parents and children

    private mutating func workInFamily(_ random: inout RandomSource) throws {
        let number = Int.random(in: 0..<3, using: &random)
        let families = benches.map { $0.family(number) }
        func contexts(_ level: Int) -> [ManagedObjectContext] { families.map { $0[level] } }
        // What each level shows, and whether it differs from the one above. Nobody edits above one that does.
        var graphs = [stored, stored, stored]
        var isDirty = [false, false, false]
        for _ in 0..<Int.random(in: 3...24, using: &random) {
            steps += 1
            let deepest = isDirty.lastIndex(of: true) ?? 0
            if isDirty[deepest], random.oneIn(4) {
                isDirty[deepest] = false
                let above = deepest == 0 ? stored : graphs[deepest - 1]
                if random.oneIn(4) {
                    for context in contexts(deepest) { context.rollback() }
                    graphs[deepest] = above
                } else if deepest == 0 {
                    if try !save(contexts(0), graphs[0]) { graphs[0] = stored }
                } else if graphs[deepest].isForbidden && !above.isForbidden {
                    for context in contexts(deepest) {
                        try #require(storeError { try context.save() } != nil, "\(place)")
                        context.rollback()
                    }
                    graphs[deepest] = above
                } else if try allFail({ try $0.save() }, contexts(deepest)) {
                    // A deletion above forbids it, which this one has read of.
                    try #require(above.isForbidden, "\(place)")
                    for context in contexts(deepest) { context.rollback() }
                    graphs[deepest] = above
                } else {
                    isDirty[deepest - 1] = isDirty[deepest - 1] || graphs[deepest] != above
                    graphs[deepest - 1] = graphs[deepest]
                    try check(contexts(deepest - 1), graphs[deepest - 1], "saved to the parent")
                }
                try check(contexts(deepest), graphs[deepest], "saved or rolled back")
            } else {
                let level = Int.random(in: deepest...2, using: &random)
                let above = level == 0 ? stored : graphs[level - 1]
                let edit = GraphEdit(graphs[level], stored: above, &next, &random)
                for context in contexts(level) { try edit.apply(to: context) }
                graphs[level].apply(edit)
                isDirty[level] = true
            }
            for level in 1...2 where !isDirty[level] && !isDirty[2] {
                graphs[level] = graphs[level - 1]
                for context in contexts(level) { context.refreshAllObjects() }
            }
            if random.oneIn(5) {
                for level in 0...2 { try check(contexts(level), graphs[level], "level \(level)") }
            }
        }
        for level in (0...2).reversed() {
            for context in contexts(level) { context.reset() }
        }
        for bench in benches { bench.contexts[number].undoHistory?.removeAllActions() }
    }

    /// Whether all contexts fail with something, and not none of them.
    private func allFail(
        _ body: (ManagedObjectContext) throws -> Void, _ contexts: [ManagedObjectContext]
    ) throws -> Bool {
        let failures = contexts.map { context in storeError { try body(context) } }
        try #require(Set(failures.map { $0?.code }).count == 1, "\(place), \(failures)")
        return failures[0] != nil
    }

    // MARK: Two contexts at once

    private mutating func workAtOnce(_ random: inout RandomSource) throws {
        let numbers = Array(Array(0..<3).shuffled(using: &random).prefix(2))
        let policy = Self.policies.randomElement(using: &random) ?? .error
        var graphs: [PlainGraph] = []
        let looksBefore = random.oneIn(2)
        for number in numbers {
            var graph = stored
            let contexts = benches.map { $0.contexts[number] }
            if looksBefore { try check(contexts, graph, "before") }
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                steps += 1
                let edit = GraphEdit(graph, stored: stored, &next, &random)
                for context in contexts { try edit.apply(to: context) }
                graph.apply(edit)
            }
            for context in contexts { context.mergePolicy = MergePolicy(merge: policy) }
            graphs.append(graph)
        }
        guard try save(benches.map { $0.contexts[numbers[0]] }, graphs[0]) else {
            for bench in benches { bench.contexts[numbers[1]].rollback() }
            return
        }
        var outcomes:
            [(code: StoreError.Code?, graph: PlainGraph, words: [Int: [String: String]])] = []
        for bench in benches {
            let context = bench.contexts[numbers[1]]
            let error = storeError { try context.save() }
            if error != nil { context.rollback() }
            let shown = try bench.context().shownGraph()
            outcomes.append((error?.code, shown.plain, shown.words))
        }
        let (one, other) = (outcomes[0], outcomes[1])
        try #require(one.code == other.code, "\(place), \(policy)")
        try #require(difference(one.words, other.words).isEmpty, "\(place), \(policy)")
        try #require(one.graph.contradictions.isEmpty, "\(place), \(policy)")
        try #require(difference(one.words, one.graph.words).isEmpty, "\(place), \(policy)")
        stored = one.graph
    }
}
