// Whether an expression depends on an object alone, so that the object's row is sufficient to compute it.
//
// Threads: functions of values only.

import CairnModel
import CairnStore

extension ExpressionNode {
    /// Whether it consists only of attributes of an object and constants. If false, it may still depend on the object
    /// alone.
    func isAboutOne(_ entity: SchemaEntity) -> Bool {
        switch self {
        case .constant, .list: true
        case .keyPath(let key):
            entity.columnIndex(named: key).map { entity.columns[$0].relationship == nil } ?? false
        case .function(_, let arguments): arguments.allSatisfy { $0.isAboutOne(entity) }
        case .cast(let value, to: _): value.isAboutOne(entity)
        case .conditional(let condition, let one, let other):
            condition.isAboutOne(entity) && one.isAboutOne(entity) && other.isAboutOne(entity)
        default: false
        }
    }
}

extension PredicateNode {
    fileprivate func isAboutOne(_ entity: SchemaEntity) -> Bool {
        switch self {
        case .constant: true
        case .comparison(let comparison):
            comparison.left.isAboutOne(entity) && comparison.right.isAboutOne(entity)
        case .and(let parts), .or(let parts): parts.allSatisfy { $0.isAboutOne(entity) }
        case .not(let part): part.isAboutOne(entity)
        }
    }
}
