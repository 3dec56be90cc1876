// Which properties a class validates itself: known once for a class, so that saving objects of all the others asks
// nobody.
//
//   none        ManagedObject itself, and classes marked @Entity that declare nothing of the kind: the macro sees the
//               whole class, and what a class overrides stands in it
//   properties  classes marked @Entity with methods such as `validateName(_:)`
//   all         those that override `validateValue(_:forKey:)`, and all classes that no macro has seen, unless they say
//               themselves that they do not
//
// Threads: a value.

/// What a class of objects validates itself.
enum OwnValidation: Sendable {
    case none
    /// The properties of these numbers.
    case properties([Int])
    case all

    init(of type: ManagedObject.Type) {
        if type == ManagedObject.self {
            self = .none
        } else if let typed = type._typedEntity, typed.type == type {
            self = typed.ownValidation
        } else {
            self = type._validatesValues ? .all : .none
        }
    }

    var isNone: Bool {
        if case .none = self { true } else { false }
    }
}

extension ManagedObject {
    /// What the class of this very object validates itself.
    final func ownValidation(_ rules: EntityRules) -> OwnValidation {
        type(of: self) == scope.type ? rules.own : OwnValidation(of: type(of: self))
    }
}
