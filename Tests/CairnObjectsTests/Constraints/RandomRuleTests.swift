// Random saves and batches under constraints with options: the engine against the plain store, and both against objects
// that resolve conflicts themselves.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Random constraints with options")
struct RandomRuleTests {
    private static let names = [
        "anna", "Anna", "ANNA", "éva", "Éva", "EVA", "Straße", "STRASSE", "", "bo",
    ]

    private static func rules(_ random: inout RandomSource) -> [UniquenessRule] {
        let conditions: [String?] = [
            nil, "deletedAt == nil", "level > 1", "NOT level IN {0, 1}",
            "deletedAt == nil OR level == 2", "deletedAt != nil AND name != \"bo\"",
        ]
        let keys = [["name"], ["name", "level"], ["level", "name"]]
        return [
            UniquenessRule(
                random.pick(keys) ?? [], format: random.pick(conditions) ?? nil,
                nilsAreEqual: random.chance(40), caseInsensitive: random.chance(50),
                diacriticInsensitive: random.chance(30))
        ]
    }

    private static func change(_ account: ManagedObject, _ random: inout RandomSource) {
        if random.chance(50) { account["name"] = random.chance(20) ? nil : random.pick(names) }
        if random.chance(40) { account["level"] = random.chance(30) ? nil : random.below(3) }
        if random.chance(40) {
            account["deletedAt"] = random.chance(50) ? nil : AccountModel.moment
        }
        if random.chance(30) { account["note"] = "\(random.below(5))" }
    }

    /// Whether an object changes what its key is made of: then which conflict is met first decides.
    private static func movesKeys(_ context: ManagedObjectContext) -> Bool {
        (context.updatedObjects + context.deletedObjects).contains { object in
            object.isDeleted
                || !Set(object.changedValues().keys).isDisjoint(with: [
                    "name", "level", "deletedAt",
                ])
        }
    }

    private struct Outcome: Equatable {
        var lines: [String]
        var error: StoreError.Code?
    }

    /// Saves one after the other in a new store; what is stored after each. Ends before a save of which only the order of
    /// steps says what comes out.
    private func run(
        _ backend: Backend, _ policy: MergePolicy, seed: UInt64
    ) throws -> [Outcome] {
        var random = RandomSource(seed: seed)
        let stack = try Stack(AccountModel.model(Self.rules(&random)), backend)
        var outcomes: [Outcome] = []
        for _ in 0..<12 {
            let context = stack.context(policy)
            let changes = policy.mergeType == .error || random.chance(30)
            for object in try context.all("Account", sortedBy: "number")
            where changes && random.chance(30) {
                if random.chance(10) {
                    context.delete(object)
                } else {
                    Self.change(object, &random)
                }
            }
            for _ in 0..<random.below(4) {
                let entity = random.chance(20) ? "Special" : "Account"
                let account = context.make(entity, ["number": random.below(1 << 40)])
                Self.change(account, &random)
            }
            if policy.mergeType != .error, Self.movesKeys(context) {
                // By themselves: under the error policy every save is compared.
                if storeError({ try context.save() }) != nil { context.rollback() }
                let isWhole = try Self.isUnique(stack)
                #expect(isWhole, "CAIRN_SEED=\(seed)")
                return outcomes
            }
            let error = storeError { try context.save() }
            if error != nil { context.rollback() }
            #expect(!context.hasChanges)
            let shown = Outcome(lines: try context.accounts(), error: error?.code)
            let stored = Outcome(lines: try stack.context().accounts(), error: error?.code)
            #expect(shown == stored, "the context shows what is stored, CAIRN_SEED=\(seed)")
            outcomes.append(stored)
        }
        return outcomes
    }

    /// Whether no two objects have one key.
    private static func isUnique(_ stack: Stack) throws -> Bool {
        let schema = stack.store.schema
        let context = stack.context()
        var keys: Set<[Value]> = []
        for object in try context.all("Account") {
            let values = object.entity.columns.map { object.value(ofColumn: $0.name) }
            for constraint in schema.entities[0].constraints {
                guard let key = constraint.naiveKey(values, of: object.entity) else { continue }
                if !keys.insert(key).inserted { return false }
            }
        }
        return true
    }

    @Test(
        "Saves come to the same in the engine and in the plain store, resolved by either",
        arguments: Backend.compared, RandomSource.seeds(6, whole: 600))
    func saves(_ backend: Backend, _ seed: UInt64) throws {
        for kind in MergePolicyKind.allCases {
            let plain = try run(.dictionary, MergePolicy(merge: kind), seed: seed)
            let engine = try run(backend, MergePolicy(merge: kind), seed: seed)
            #expect(engine == plain, "CAIRN_SEED=\(seed) \(kind)")
            if kind == .error { continue }
            let objects = try run(backend, PlainSubclass(merge: kind), seed: seed)
            #expect(objects == plain, "CAIRN_SEED=\(seed) \(kind), resolved by objects")
        }
    }

    @Test(
        "Batches come to the same in both",
        arguments: Backend.compared, RandomSource.seeds(20, whole: 600))
    func batches(_ backend: Backend, _ seed: UInt64) throws {
        func run(_ backend: Backend) throws -> [Outcome] {
            var random = RandomSource(seed: seed)
            let stack = try Stack(AccountModel.model(Self.rules(&random)), backend)
            var outcomes: [Outcome] = []
            for _ in 0..<8 {
                var rows: [[String: Any]] = []
                for _ in 0..<random.below(12) {
                    var row: [String: Any] = ["note": "\(random.below(9))"]
                    if random.chance(90) { row["name"] = random.pick(Self.names) ?? "" }
                    if random.chance(60) { row["level"] = random.below(3) }
                    if random.chance(30) { row["deletedAt"] = AccountModel.moment }
                    rows.append(row)
                }
                var request = BatchInsertRequest(entityName: "Account", objects: rows)
                request.setOnly = random.chance(40)
                request.reportsOutcomes = true
                let kinds: [MergePolicyKind] = [
                    .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite,
                ]
                request.mergePolicy = random.pick(kinds)
                var said: [String] = []
                let error = storeError {
                    said = try stack.store.execute(request).outcomes.map { "\($0)" }
                }
                #expect(try Self.isUnique(stack), "CAIRN_SEED=\(seed)")
                outcomes.append(
                    Outcome(
                        lines: try stack.context().accounts() + said,
                        error: error == nil ? nil : .constraintConflict))
            }
            return outcomes
        }
        #expect(try run(backend) == run(.dictionary), "CAIRN_SEED=\(seed)")
    }
}

extension ManagedObject {
    /// The value of a column; that of a relationship is any that is not nil.
    fileprivate func value(ofColumn name: String) -> Value {
        guard let value = self[name] else { return .null }
        return switch value {
        case let text as String: .string(text)
        case let number as Int: .integer(Int64(number))
        case let number as Int64: .integer(number)
        case let number as Int16: .integer(Int64(number))
        case let date as Date: .date(date)
        default: .boolean(true)
        }
    }
}
