// Constraints over some of the objects, with nil as a value, without regard to case: what saves make of them.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Constraints with options")
struct RuleTests {
    private func stack(
        _ backend: Backend, _ rules: UniquenessRule..., plain: [[String]] = []
    ) throws -> Stack {
        try Stack(AccountModel.model(rules, plain: plain), backend)
    }

    @Test(
        "A key is free again when its object is marked as deleted, and taken when the mark goes",
        arguments: Backend.allCases)
    func softDeletion(_ backend: Backend) throws {
        let stack = try stack(backend, AccountModel.inUse)
        let context = stack.context()
        let first = context.make("Account", ["name": "anna", "number": 1])
        try context.save()
        let second = context.make("Account", ["name": "anna", "number": 2])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        first["deletedAt"] = AccountModel.moment
        try context.save()
        // The mark may be taken away once nobody else has the name.
        first["deletedAt"] = nil
        let error = storeError { try context.save() }
        #expect(error?.code == .constraintConflict && error?.violations.count == 1)
        #expect(error?.violations.first?.constraint == ["name"])
        #expect(error?.violations.first?.options == AccountModel.inUse)
        #expect(error?.violations.first?.stored?.id == second.objectID)
        #expect(error?.fullDescription.contains("where deletedAt == NULL") ?? false)
        // One goes out as the other comes in: the final state counts.
        second["deletedAt"] = AccountModel.moment
        try context.save()
        second["note"] = "still deleted"
        try context.save()
        context.make("Account", ["name": "anna", "deletedAt": AccountModel.moment])
        context.make("Account", ["name": nil])
        context.make("Account", ["name": nil])
        try context.save()
        #expect(try stack.context().count("Account") == 5)
    }

    @Test("Two objects without a value are one where nil is a value", arguments: Backend.allCases)
    func nils(_ backend: Backend) throws {
        let stack = try stack(
            backend, UniquenessRule(["name", "level"], nilsAreEqual: true))
        let context = stack.context()
        context.make("Account", ["name": nil, "level": nil])
        context.make("Account", ["name": "a", "level": nil])
        context.make("Account", ["name": nil, "level": 1])
        context.make("Account", ["name": "", "level": nil])
        try context.save()
        for values: [String: Any?] in [[:], ["name": "a"], ["level": 1], ["name": ""]] {
            let copy = context.make("Account", values)
            let error = storeError { try context.save() }
            #expect(error?.code == .constraintConflict, "\(values)")
            #expect(error?.violations.first?.values.count == 2)
            context.delete(copy)
        }
        try context.save()
        #expect(try stack.context().count("Account") == 4)
    }

    @Test(
        "Texts that differ in case, or in accents, are one where these do not count",
        arguments: Backend.allCases, [true, false])
    func folding(_ backend: Backend, dropsAccents: Bool) throws {
        let stack = try stack(
            backend,
            UniquenessRule(
                ["name"], caseInsensitive: true, diacriticInsensitive: dropsAccents))
        let context = stack.context()
        let first = context.make("Account", ["name": "Straße É"])
        try context.save()
        let copy = context.make("Account", ["name": "STRASSE é"])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        copy["name"] = "strasse e"
        #expect((storeError { try context.save() } != nil) == dropsAccents)
        if dropsAccents { context.delete(copy) }
        // Its own key in another spelling is no conflict.
        first["name"] = "strasse É"
        try context.save()
        #expect(try stack.context().find("Account", "name", .string("strasse É")).count == 1)
    }

    @Test("Keys are swapped in one save, spelled otherwise", arguments: Backend.allCases)
    func swap(_ backend: Backend) throws {
        let stack = try stack(
            backend, UniquenessRule(["name"], nilsAreEqual: true, caseInsensitive: true))
        let context = stack.context()
        let a = context.make("Account", ["name": "a"])
        let b = context.make("Account", ["name": "b"])
        let none = context.make("Account", ["name": nil])
        try context.save()
        a["name"] = "B"
        b["name"] = nil
        none["name"] = "A"
        try context.save()
        let other = stack.context()
        #expect(try other.find("Account", "name", .string("B")).map(\.objectID) == [a.objectID])
        #expect(try other.find("Account", "name", .null).map(\.objectID) == [b.objectID])
        // And the keys are those of the new state.
        other.make("Account", ["name": "b"])
        #expect(storeError { try other.save() }?.code == .constraintConflict)
    }

    @Test("The built-in policies resolve them as plain ones", arguments: Backend.allCases)
    func policies(_ backend: Backend) throws {
        let rule = UniquenessRule(["name"], format: "deletedAt == nil", caseInsensitive: true)
        for kind in MergePolicyKind.allCases where kind != .error {
            for policy in [MergePolicy(merge: kind), PlainSubclass(merge: kind)] {
                let stack = try stack(backend, rule)
                let old = try stack.store { context in
                    [
                        context.make("Account", ["name": "anna", "note": "old"]),
                        context.make(
                            "Account",
                            [
                                "name": "ANNA", "note": "gone",
                                "deletedAt": AccountModel.moment,
                            ]),
                    ]
                }
                let context = stack.context(policy)
                let new = context.make("Account", ["name": "Anna", "note": "new"])
                try context.save()
                let stored = stack.context()
                let live = try stored.find("Account", "deletedAt", .null)
                #expect(live.count == 1)
                #expect(try stored.count("Account") == 2)
                switch kind {
                case .mergeByPropertyStoreTrump, .rollback:
                    #expect(live[0].objectID == old[0] && live[0].string("note") == "old")
                    #expect(new.absorbedInto == old[0])
                case .mergeByPropertyObjectTrump, .declared:
                    #expect(live[0].objectID == old[0] && live[0].string("note") == "new")
                    #expect(live[0].string("name") == "Anna")
                case .overwrite:
                    #expect(live[0].objectID == new.objectID)
                case .error: break
                }
                // What is marked as deleted comes back, and meets the one in use.
                let back = context.object(with: old[1])
                back["deletedAt"] = nil
                try context.save()
                #expect(!context.hasChanges)
                #expect(try stack.context().find("Account", "deletedAt", .null).count == 1)
            }
        }
    }

    @Test(
        "Descendants share the constraint of the entity that declares it",
        arguments: Backend.allCases)
    func inheritance(_ backend: Backend) throws {
        let stack = try stack(backend, AccountModel.inUse)
        let context = stack.context()
        context.make("Special", ["name": "a", "rank": 1])
        try context.save()
        let copy = context.make("Account", ["name": "a"])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        copy["deletedAt"] = AccountModel.moment
        try context.save()
    }

    @Test(
        "To-one relationships are parts of keys, and whether they are nil decides who takes part",
        arguments: Backend.allCases)
    func references(_ backend: Backend) throws {
        let stack = try stack(
            backend, UniquenessRule(["tenant", "name"], nilsAreEqual: true),
            UniquenessRule(["level"], format: "tenant != nil"))
        let context = stack.context()
        let tenants = ["x", "y"].map { context.make("Tenant", ["title": $0]) }
        for tenant in tenants + [nil] { context.make("Account", ["name": "a", "tenant": tenant]) }
        context.make("Account", ["name": "b", "level": 1, "tenant": tenants[0]])
        context.make("Account", ["name": "c", "level": 1])
        try context.save()
        let copy = context.make("Account", ["name": "a", "tenant": tenants[1]])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        copy["tenant"] = nil
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        copy["name"] = "d"
        copy["level"] = 1
        try context.save()
        copy["tenant"] = tenants[1]
        #expect(storeError { try context.save() }?.violations.first?.constraint == ["level"])
    }

    @Test(
        "A deletion that would make two objects equal is refused, in a save and in a batch",
        arguments: Backend.allCases)
    func nullified(_ backend: Backend) throws {
        let stack = try stack(backend, UniquenessRule(["tenant", "name"], nilsAreEqual: true))
        let ids = try stack.store { context in
            let tenants = ["x", "y"].map { context.make("Tenant", ["title": $0]) }
            for tenant in tenants { context.make("Account", ["name": "a", "tenant": tenant]) }
            return tenants
        }
        let context = stack.context()
        context.delete(context.object(with: ids[0]))
        try context.save()
        let before = try stack.context().accounts()
        context.delete(context.object(with: ids[1]))
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        let tenant = try #require(stack.store.schema.entity(named: "Tenant"))
        let error = storeError {
            _ = try stack.store.execute(
                BatchDeleteRequest(.ids([ids[1]], entity: tenant.index)))
        }
        #expect(error?.code == .constraintConflict)
        #expect(try stack.context().accounts() == before)
    }

    @Test(
        "What counts is how objects are stored: a reference to what the same save deletes is none",
        arguments: Backend.allCases)
    func clearedReferences(_ backend: Backend) throws {
        for kind in MergePolicyKind.allCases {
            let stack = try stack(backend, UniquenessRule(["level"], format: "tenant != nil"))
            let ids = try stack.store { context in
                let tenants = ["x", "y"].map { context.make("Tenant", ["title": $0]) }
                return tenants + [context.make("Account", ["name": "b"])]
            }
            let context = stack.context(MergePolicy(merge: kind))
            let old = context.object(with: ids[0])
            #expect((old["accounts"] as? Set<ManagedObject>)?.isEmpty ?? true)
            // Somebody else gives the tenant an account that the context has not seen.
            let other = stack.context()
            other.make("Account", ["name": "a", "level": 1, "tenant": other.object(with: ids[0])])
            try other.save()
            let account = context.object(with: ids[2])
            account["level"] = 1
            account["tenant"] = context.object(with: ids[1])
            context.delete(old)
            try context.save()
            #expect(
                try stack.context().accounts() == [
                    "Account number - name a level 1 deletedAt - note - tenant -",
                    "Account number - name b level 1 deletedAt - note - tenant y",
                ], "\(kind)")
        }
    }

    @Test(
        "A batch that prunes leaves alone what its constraints cannot name",
        arguments: Backend.allCases)
    func pruning(_ backend: Backend) throws {
        for plain in [[], [["number"]]] {
            let stack = try stack(backend, AccountModel.inUse, plain: plain)
            try stack.store { context in
                [
                    context.make("Account", ["number": 1, "name": "a"]),
                    context.make("Account", ["number": 2, "name": "b"]),
                    context.make(
                        "Account", ["number": 3, "name": "b", "deletedAt": AccountModel.moment]),
                    context.make("Account", ["number": nil, "name": nil]),
                ]
            }
            var request = BatchInsertRequest(
                entityName: "Account", objects: [["number": 1, "name": "a"]])
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.prunesMissing = true
            let result = try stack.store.execute(request)
            #expect(result.deletedCount == (plain.isEmpty ? 1 : 3))
            let names = try stack.context().all("Account").map { $0["name"] as? String ?? "-" }
            #expect(names.sorted() == (plain.isEmpty ? ["-", "a", "b"] : ["a"]))
        }
    }

    @Test("A batch finds objects by constraints with options", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let stack = try stack(
            backend,
            UniquenessRule(["name"], format: "deletedAt == nil", caseInsensitive: true))
        let context = stack.context(.mergeByPropertyObjectTrump)
        try stack.store { context in
            [
                context.make("Account", ["name": "anna", "level": 1]),
                context.make(
                    "Account", ["name": "bert", "level": 1, "deletedAt": AccountModel.moment]),
            ]
        }
        var request = BatchInsertRequest(
            entityName: "Account",
            objects: [
                ["name": "ANNA", "level": 2], ["name": "Bert", "level": 2],
                ["name": "BERT", "level": 3], ["name": "cleo", "deletedAt": AccountModel.moment],
                ["name": "CLEO", "deletedAt": AccountModel.moment],
            ])
        request.reportsOutcomes = true
        let result = try context.execute(request)
        #expect(result.outcomes == [.updated, .inserted, .updated, .inserted, .inserted])
        let found = try stack.context().accounts()
        #expect(found.count == 5)
        #expect(found.contains { $0.contains("name ANNA level 2") })
        #expect(found.contains { $0.contains("name BERT level 3") })
        #expect(found.contains { $0.contains("name bert level 1") })
    }

    @Test(
        "A batch that names objects by another key may take them into a set and out of it",
        arguments: Backend.allCases)
    func crossing(_ backend: Backend) throws {
        let stack = try stack(backend, AccountModel.inUse, plain: [["number"]])
        let context = stack.context(.mergeByPropertyObjectTrump)
        try stack.store { context in
            [
                context.make("Account", ["number": 1, "name": "a"]),
                context.make(
                    "Account", ["number": 2, "name": "a", "deletedAt": AccountModel.moment]),
            ]
        }
        func execute(_ rows: [[String: Any]], setOnly: Bool = true) throws -> BatchInsertResult {
            var request = BatchInsertRequest(entityName: "Account", objects: rows)
            request.setOnly = setOnly
            return try context.execute(request)
        }
        let refused = storeError {
            _ = try execute([["number": 2, "deletedAt": Date?.none as Any]])
        }
        #expect(refused?.code == .constraintConflict || refused?.code == .multiple)
        let swapped = try execute([
            ["number": 1, "deletedAt": AccountModel.moment],
            ["number": 2, "deletedAt": Date?.none as Any],
        ])
        #expect(swapped.updatedCount == 2)
        // What the row leaves alone keeps it out of the set.
        #expect(try execute([["number": 1, "level": 5]]).updatedCount == 1)
        let reader = stack.context()
        #expect(try reader.find("Account", "deletedAt", .null).map { $0.int("number") } == [2])
    }

    @Test("Lookups by key and the hunt for duplicates know plain constraints alone")
    func lookups() throws {
        let stack = try stack(
            .log, UniquenessRule(["name"], caseInsensitive: true), plain: [["number"]])
        let account = try #require(stack.store.schema.entity(named: "Account"))
        try stack.store { context in
            [context.make("Account", ["number": 1, "name": "A"])]
        }
        #expect(StoreLookup(account, by: ColumnSet([1])).constraint == nil)
        #expect(StoreLookup(account, by: ColumnSet([0])).constraint != nil)
        let reader = stack.context()
        #expect(try reader.find("Account", "name", .string("A")).count == 1)
        #expect(try reader.find("Account", "name", .string("a")).isEmpty)
    }
}
