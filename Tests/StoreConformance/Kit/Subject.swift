// The store that a case is about, and short words for what cases ask it and have it do.
//
//   try backend.withSubject { subject in
//       try subject.insert("Item", ["code": "a", "price": 1.5])
//       #expect(try subject.names("Item", "price > 1") == "a")
//   }
//
// Objects are called by the first attribute of their entity, everywhere.

import CairnModel
import CairnStore
import StoreBackends
import Testing

/// The store that a case is about.
struct Subject {
    let store: any WholeStore

    var schema: Schema { store.schema }

    func entity(_ name: String) throws -> SchemaEntity { try #require(schema.entity(named: name)) }
}

extension Backend {
    /// Runs a body with a new store of the sample's model, empty or with the sample's objects.
    func withSubject<R>(
        history: Bool = false, sample: Bool = false, _ body: (Subject) throws -> R
    ) throws -> R {
        try withStore(SampleModel.schema, history: history) { store in
            let subject = Subject(store: store)
            if sample { try subject.insertSample() }
            return try body(subject)
        }
    }
}

extension SchemaEntity {
    /// What values of a row stand in columns, from what people write; nil is no value.
    func columnValues(_ values: [String: Any?]) throws -> [Int: Value] {
        var converted: [Int: Value] = [:]
        for (key, any) in values {
            guard let column = columnIndex(named: key) else { continue }
            let value: Value
            switch any {
            case nil: value = .null
            case let given as Value: value = given
            case let any?: value = try #require(Value(any: any), "\(key)")
            }
            guard case .attribute(let type) = columns[column].kind else {
                converted[column] = value
                continue
            }
            // What cannot be converted goes to the store as it is, which has to refuse it.
            converted[column] = value.converted(to: type) ?? value
        }
        return converted
    }
}

/// The error of a store that a closure throws; nil if it throws none.
func storeError(
    _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
    do {
        try body()
    } catch let error as StoreError {
        return error
    } catch {
        Issue.record("no error of a store: \(error)", sourceLocation: location)
    }
    return nil
}
