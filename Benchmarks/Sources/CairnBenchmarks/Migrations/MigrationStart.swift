// The stores that migrations start from.

import Cairn
import Foundation

enum MigrationStart: String {
    /// The rows, with a constraint on their key.
    case keyed
    /// The same without the constraint.
    case loose
    /// The same with some keys that two rows have.
    case doubled
    /// As keyed, of twice as many rows, half of which are deleted in all segments.
    case sparse
    /// The same, of a model with one more attribute.
    case sparseUpgraded

    /// How many keys two rows have: 10,000 of 1,000,000 rows.
    static func doubledKeys(of rows: Int) -> Int { min(10_000, rows / 100) }

    /// - Parameter others: where the other stores are.
    func make(in folder: String, rows count: Int, others: String) throws {
        switch self {
        case .keyed: try Self.load(Product.rows(count), folder, CairnPeer.model)
        case .loose: try Self.load(Product.rows(count), folder, .withoutKeys)
        case .doubled:
            var rows = Product.rows(count)
            let step = count / Self.doubledKeys(of: count)
            for index in stride(from: 0, to: step * Self.doubledKeys(of: count), by: step) {
                rows[index].serialCode = rows[(index + count / 2 + 1) % count].serialCode
            }
            try Self.load(rows, folder, .withoutKeys)
        case .sparse:
            // Compaction in the background must not get at it.
            let store = try MigrationPart.open(folder, CairnPeer.model)
            let peer = try CairnPeer(store)
            try Workload.inUnits(Product.rows(count * 2), peer.insert)
            _ = try peer.deleteFlagged()
            try peer.close()
        case .sparseUpgraded:
            let source = "\(others)/\(MigrationStart.sparse.rawValue)/store"
            try FileManager.default.copyItem(atPath: source, toPath: "\(folder)/store")
            try LogStore.migrate(at: "\(folder)/store", to: Schema(.withAttribute))
        }
    }

    private static func load(_ rows: [Product], _ folder: String, _ model: ManagedObjectModel)
        throws
    {
        let peer = try CairnPeer(MigrationPart.open(folder, model))
        try Workload.inUnits(rows, peer.insert)
        try peer.close()
    }
}

extension ManagedObjectModel {
    private static func products(_ change: (inout EntityDescription) -> Void) -> Self {
        var model = CairnPeer.model
        for index in model.entities.indices where model.entities[index].name == "Product" {
            change(&model.entities[index])
        }
        return model
    }

    /// Products without a constraint.
    static var withoutKeys: Self { products { $0.uniquenessConstraints = [] } }

    /// Products with one more attribute, which no key has.
    static var withAttribute: Self {
        products {
            $0.attributes.append(
                AttributeDescription(
                    "rating", .integer64, optional: false, default: .integer(3)))
        }
    }

    /// Products with an index on their price.
    static var withIndex: Self {
        products {
            $0.indexes.append(FetchIndexDescription("by_price", elements: [.init("price")]))
        }
    }
}
