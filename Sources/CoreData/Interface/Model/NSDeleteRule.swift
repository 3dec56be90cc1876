// What happens to the other side of a relationship, with Core Data's names and numbers.

import CairnModel
import Foundation

/// What happens to the destination when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing: the destination keeps pointing.
    case noActionDeleteRule = 0
    /// The destination's reference is cleared.
    case nullifyDeleteRule = 1
    /// The destination is deleted too.
    case cascadeDeleteRule = 2
    /// The deletion is refused while there is a destination.
    case denyDeleteRule = 3

    init(_ rule: DeleteRule) {
        self =
            switch rule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
    }

    var core: DeleteRule {
        switch self {
        case .noActionDeleteRule: .noAction
        case .nullifyDeleteRule: .nullify
        case .cascadeDeleteRule: .cascade
        case .denyDeleteRule: .deny
        }
    }
}
