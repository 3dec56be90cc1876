// What a program has as what predicates and expressions are asked about, and what they give as what a program expects.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

extension EvaluatedValue {
    /// What a value of a program is; nil if predicates know nothing of it.
    init?(any: Any?) {
        guard let any else {
            self = .null
            return
        }
        switch any {
        case let object as ManagedObject: self = .object(object)
        case let entity as NSEntityDescription: self = .value(.string(entity.name ?? ""))
        case let token as NSPersistentHistoryToken: self = .value(token.transactionNumber)
        case let values as NSDictionary: self = .keyed(DictionaryValues(values))
        case let members as NSArray: self.init(members: members)
        case let members as NSOrderedSet: self.init(members: members)
        case let members as NSSet: self.init(members: members)
        default:
            if let value = Value(any: any) {
                self = .value(value)
            } else if let values = any as? [AnyHashable: Any] {
                self = .keyed(DictionaryValues(NSDictionary(dictionary: values)))
            } else if let members = any as? any Sequence {
                self.init(members: members)
            } else {
                let mirror = Mirror(reflecting: any)
                guard mirror.displayStyle == .optional else { return nil }
                self.init(any: mirror.children.first?.value)
            }
        }
    }

    private init?(members: some Sequence) {
        var values: [EvaluatedValue] = []
        for member in members {
            guard let value = EvaluatedValue(any: member) else { return nil }
            values.append(value)
        }
        self = .collection(values)
    }

    /// What a program gets: objects, their ids, numbers as `NSNumber`, which casts to each of Swift's types that has them, and
    /// collections as arrays.
    func any(in coordinator: NSPersistentStoreCoordinator?) -> Any? {
        switch self {
        case .value(let value): value.any(in: coordinator)
        case .object(let object): object
        case .keyed(let values): (values as? DictionaryValues)?.values
        case .collection(let members):
            members.map { $0.any(in: coordinator) ?? NSNull() }
        }
    }
}

extension Value {
    /// What a program gets.
    func any(in coordinator: NSPersistentStoreCoordinator?) -> Any? {
        switch self {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .float(let number): NSNumber(value: number)
        case .boolean(let truth): NSNumber(value: truth)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .objectID(let id): NSManagedObjectID(id, entity: nil, in: coordinator)
        case .string(let text): text
        case .date(let date): date
        case .binary(let bytes): bytes
        case .uuid(let uuid): uuid
        case .uri(let url): url
        }
    }
}

/// A dictionary, asked by its keys.
private final class DictionaryValues: KeyedValues {
    let values: NSDictionary

    init(_ values: NSDictionary) { self.values = values }

    func evaluatedValue(forKey key: String) -> EvaluatedValue {
        EvaluatedValue(any: values[key]) ?? .null
    }

    func equals(_ other: any KeyedValues) -> Bool {
        (other as? DictionaryValues)?.values.isEqual(values) ?? false
    }
}
